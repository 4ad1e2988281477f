"""Runs the real voice's int8 ONNX export in onnxruntime: as published, or with its integer products in float.

The export has no noise at all, and its inverse transform leaves out the window's normalisation, so that it is
louder than the official code by a constant. Developer's dependencies only: onnx and onnxruntime.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from tests.support.kokoro_package import Phrase, real_export

LOUDER = 1.5  # the overlapping squared Hann windows of 20 samples, 5 apart, add up to this
_STAGES = {
    "units": "/encoder/Clip_output_0",
    "f0": "/encoder/F0_proj/Conv_output_0",
    "n": "/encoder/N_proj/Conv_output_0",
    "decoder": "/decoder/decoder/decode.3/Div_4_output_0",
    "spectrum": "/decoder/decoder/generator/conv_post/Conv_output_0",
}


def run_export(phrase: Phrase, *, in_float: bool = False) -> dict[str, Any]:
    """Return wave, units and some stages `[time, channels]`, the wave as loud as the official code's.

    Args:
        phrase: what to say.
        in_float: compute every integer product in float, with the same weights. Only the LSTMs' stay as they are.
    """
    model = onnx.load(str(real_export()))
    if in_float:
        _Floating(model.graph).rewrite()
    for tensor in _STAGES.values():
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(tensor))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    feeds = {
        "tokens": np.array([[0, *phrase.ids, 0]], dtype=np.int64),
        "style": phrase.style[None],
        "speed": np.ones(1, dtype=np.float32),
    }
    wave, *values = session.run([session.get_outputs()[0].name, *_STAGES.values()], feeds)
    out = {name: np.asarray(value)[0].T for name, value in zip(_STAGES, values, strict=True)}
    return {**out, "units": out["units"].astype(np.int32), "wave": np.asarray(wave).reshape(-1) / LOUDER}


class _Floating:
    """Turns `quantise -> integer product -> (+ bias) -> cast -> scale` into one float product, node by node."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._arrays = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        self._maker = {name: node for node in graph.node for name in node.output}
        self._reader = {name: node for node in graph.node for name in node.input}

    def rewrite(self) -> None:
        products = [node for node in self._graph.node if node.op_type in ("ConvInteger", "MatMulInteger")]
        assert len(products) > 200, "this export has other nodes"
        for node in products:
            self._float(node)
        del self._graph.value_info[:]  # it holds the integers' types

    def _float(self, node: Any) -> None:
        following = self._reader[node.output[0]]
        inputs = [self._maker[node.input[0]].input[0], f"{node.output[0]}_float_weight"]
        if following.op_type == "Add":
            inputs.append(self._bias(following, node.output[0]))
            _pass_on(following, node.output[0])
            following = self._reader[following.output[0]]
        scaling = self._reader[following.output[0]]
        assert (following.op_type, scaling.op_type) == ("Cast", "Mul")
        weight = self._weight(node, scaling, following.output[0])
        self._graph.initializer.append(numpy_helper.from_array(weight, inputs[1]))
        node.op_type = node.op_type.removesuffix("Integer")
        del node.input[:]
        node.input.extend(inputs)
        _pass_on(following, following.input[0])
        _pass_on(scaling, following.output[0])

    def _bias(self, add: Any, product: str) -> str:
        """The float bias lies behind reshape, cast and floor of its division by the scale."""
        maker = self._maker[next(name for name in add.input if name != product)]
        while maker.op_type != "Div":
            maker = self._maker[maker.input[0]]
        return str(maker.input[0])

    def _weight(self, node: Any, scaling: Any, cast: str) -> Any:
        scales = self._maker[next(name for name in scaling.input if name != cast)]
        scale = next(self._arrays[name] for name in scales.input if name in self._arrays)
        zero = self._arrays[node.input[3]].astype(np.float32)
        weight = self._arrays[node.input[1]].astype(np.float32)
        # one number for the whole matrix or one for each output
        outputs = (-1, *(1,) * (weight.ndim - 1)) if node.op_type == "ConvInteger" else (-1,)
        return ((weight - zero.reshape(outputs)) * scale.reshape(outputs)).astype(np.float32)


def _pass_on(node: Any, name: str) -> None:
    """Make the node hand on the tensor `name` unchanged."""
    node.op_type = "Identity"
    del node.attribute[:]
    del node.input[:]
    node.input.append(name)
