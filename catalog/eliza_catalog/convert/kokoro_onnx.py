"""Reads the int8 ONNX export of Kokoro-82M back into float weights under their PyTorch names.

The nodes carry the module path in their names, so every quantised matrix finds its layer; values are
dequantised as (q - zero point) * scale, which is exact. Writes nothing; a publisher's dependency (`onnx`)
is imported only when a file is read, and never at run time on a device.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from .kokoro_layout import F32, Tensors

# ONNX orders an LSTM's gates i, o, f, c; torch i, f, g, o.
_GATES = (0, 2, 3, 1)
_WEIGHT_NODES = ("MatMulInteger", "ConvInteger", "ConvTranspose", "Conv")


def read_onnx(path: Path) -> Tensors:
    """Canonical weights of the export at `path`.

    Raises:
        ImportError: the `onnx` package is not installed.
        KeyError: a node names a tensor that the file lacks.
    """
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(str(path)).graph
    arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    found: Tensors = {}
    for node in graph.node:
        if node.op_type in _WEIGHT_NODES and node.input[1] in arrays and "/istft/" not in node.name:
            found[f"{_module(node.name)}.weight"] = _weight(node, arrays)
        elif node.op_type == "DynamicQuantizeLSTM":
            found.update(_lstm(_module(node.name), node, arrays))
        elif node.op_type == "DequantizeLinear":
            found.update(_embedding(node, arrays))
        elif node.op_type == "MatMul" and node.input[1] in arrays:
            found[f"{_module(node.name)}.weight"] = np.asarray(arrays[node.input[1]], np.float32).T
    found.update(_named(arrays))
    return found


def _module(node: str) -> str:
    """'/decoder/decoder/encode/conv1/Conv_quant' -> 'decoder.encode.conv1'."""
    parts = node.strip("/").split("/")[1:-1]
    if parts[0] == "decoder":
        return "decoder." + ".".join(_without_echo(parts[1:]))
    if re.match(r"(F0|N)(\.|_proj)|shared$", parts[0]):
        parts = ["predictor", *parts]
    return ".".join(_without_echo(parts))


def _without_echo(parts: list[str]) -> list[str]:
    """Drops 'cnn.0' before 'cnn.0.0': a sequential's child repeats its parent's name."""
    following = [*parts[1:], ""]
    kept = [one for one, after in zip(parts, following, strict=True) if not after.startswith(one + ".")]
    # a repeated call of the shared ALBERT layer is numbered: query_1 is query
    return [re.sub(r"^(query|key|value|dense|ffn|ffn_output|attention)_\d+$", r"\1", one) for one in kept]


def _dequantise(arrays: dict[str, Any], name: str, zero_name: str) -> F32:
    """The zero point's name comes from the node: equal ones are shared under the first tensor's name."""
    scale = np.asarray(arrays[f"{name.removesuffix('_quantized')}_scale"], np.float32)
    zero = np.asarray(arrays[zero_name]).astype(np.float32)
    return np.asarray((arrays[name].astype(np.float32) - zero) * scale, np.float32)


def _weight(node: Any, arrays: dict[str, Any]) -> F32:
    name = node.input[1]
    if not name.endswith("_quantized"):
        return np.asarray(arrays[name], np.float32)
    weight = _dequantise(arrays, name, node.input[3])
    return weight.T if node.op_type == "MatMulInteger" else weight


def _torch_gates(rows: F32) -> F32:
    return np.concatenate([np.split(rows, 4)[gate] for gate in _GATES])


def _lstm(module: str, node: Any, arrays: dict[str, Any]) -> Tensors:
    found: Tensors = {}
    for part, at in (("ih", 1), ("hh", 2)):
        name = node.input[at]
        scale, zero = (np.asarray(arrays[node.input[2 * at + 6 + k]], np.float32) for k in (0, 1))
        both = (arrays[name].astype(np.float32) - zero[:, None, None]) * scale[:, None, None]
        for end, one in zip(("", "_reverse"), both, strict=True):
            found[f"{module}.weight_{part}_l0{end}"] = _torch_gates(one.T)
    for end, bias in zip(("", "_reverse"), np.asarray(arrays[node.input[3]], np.float32), strict=True):
        for part, half in zip(("ih", "hh"), np.split(bias, 2), strict=True):
            found[f"{module}.bias_{part}_l0{end}"] = _torch_gates(half)
    return found


def _embedding(node: Any, arrays: dict[str, Any]) -> Tensors:
    """A table that is looked up first and dequantised after."""
    stem = node.input[1].removesuffix("_scale")
    return {_strip(stem): _dequantise(arrays, f"{stem}_quantized", node.input[2])}


def _named(arrays: dict[str, Any]) -> Tensors:
    """Vectors that the export left in float under their own names."""
    ends = (".bias", ".gamma", ".beta", "orm.weight")
    return {
        _strip(name): np.asarray(value, np.float32)
        for name, value in arrays.items()
        if name.startswith(("encoder.", "decoder."))
        and (name.endswith(ends) or re.search(r"\.alpha\d\.\d$", name))
        and "reshape" not in name
    }


def _strip(name: str) -> str:
    return name.split(".", 1)[1]
