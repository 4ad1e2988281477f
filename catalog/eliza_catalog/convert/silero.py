"""Turns the published 16 kHz Silero VAD weights (ONNX) into the bundle's `vad/silero-vad-v5.gguf`.

Only renames: every tensor keeps its values, shape and f32 type, so nothing is lost on the way; never downloads.
The source is `silero_vad_16k_op15.onnx` of the `silero-vad` package (MIT). Its safetensors file is no source:
in 6.2.3 it holds another training, whose probabilities differ from every model the package itself runs.
Keeps the file name of the contract's bundle layout and what `native/src/vad/model.cpp` checks.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt

from eliza_catalog.errors import IntegrityError

ARCHITECTURE = "silero-vad"
SAMPLE_RATE_HZ = 16_000
WINDOW_SAMPLES = 512
CONTEXT_SAMPLES = 64

_MAX_SOURCE_BYTES = 16 << 20

# published name -> (our name, shape)
_TENSORS: dict[str, tuple[str, tuple[int, ...]]] = {
    "model.stft.forward_basis_buffer": ("stft.weight", (258, 1, 256)),
    "model.encoder.0.reparam_conv.weight": ("encoder.0.weight", (128, 129, 3)),
    "model.encoder.0.reparam_conv.bias": ("encoder.0.bias", (128,)),
    "model.encoder.1.reparam_conv.weight": ("encoder.1.weight", (64, 128, 3)),
    "model.encoder.1.reparam_conv.bias": ("encoder.1.bias", (64,)),
    "model.encoder.2.reparam_conv.weight": ("encoder.2.weight", (64, 64, 3)),
    "model.encoder.2.reparam_conv.bias": ("encoder.2.bias", (64,)),
    "model.encoder.3.reparam_conv.weight": ("encoder.3.weight", (128, 64, 3)),
    "model.encoder.3.reparam_conv.bias": ("encoder.3.bias", (128,)),
    "model.decoder.rnn.weight_ih": ("lstm.input.weight", (512, 128)),
    "model.decoder.rnn.bias_ih": ("lstm.input.bias", (512,)),
    "model.decoder.rnn.weight_hh": ("lstm.hidden.weight", (512, 128)),
    "model.decoder.rnn.bias_hh": ("lstm.hidden.bias", (512,)),
    "model.decoder.decoder.2.weight": ("head.weight", (1, 128, 1)),
    "model.decoder.decoder.2.bias": ("head.bias", (1,)),
}

Tensors = dict[str, npt.NDArray[np.float32]]


def convert_silero(source: Path, out: Path) -> None:
    """Write the GGUF `out` from the ONNX file `source`; `out` appears whole or not at all.

    Raises:
        IntegrityError: `missing` when there is no source, `wrong_architecture` when it holds other weights.
    """
    tensors = read_weights(source)
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(out.name + ".part")
    try:
        _write(tensors, partial)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


def read_weights(source: Path) -> Tensors:
    """Return the published tensors under our names, each checked for shape and type.

    Raises:
        IntegrityError: as `convert_silero`.
    """
    import onnx  # slow to import, and only the publisher's side has it
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from onnx import numpy_helper

    if not source.is_file():
        raise IntegrityError("missing", "The voice activity weights are not there.", details={"path": str(source)})
    if source.stat().st_size > _MAX_SOURCE_BYTES:
        raise _refusal("size", source)
    try:
        graph = onnx.load(source, load_external_data=False).graph
    except DecodeError as error:
        raise _refusal("format", source) from error
    held = {tensor.name: tensor for tensor in graph.initializer}
    found: Tensors = {}
    for published, (ours, shape) in _TENSORS.items():
        tensor = held.get(published)
        if tensor is None or tensor.data_type != onnx.TensorProto.FLOAT or tuple(tensor.dims) != shape:
            raise _refusal(published, source)
        if tensor.data_location == onnx.TensorProto.EXTERNAL:  # nothing beside `source` is opened
            raise _refusal(published, source)
        try:
            found[ours] = numpy_helper.to_array(tensor)
        except ValueError as error:  # too few or too many bytes
            raise _refusal(published, source) from error
    return found


def _refusal(what: str, source: Path) -> IntegrityError:
    return IntegrityError(
        "wrong_architecture",
        "The file does not hold the voice activity weights that were expected.",
        details={"path": str(source), "at": what},
    )


def _write(tensors: Tensors, path: Path) -> None:
    writer = gguf.GGUFWriter(path, ARCHITECTURE)
    writer.add_name("Eliza-1 voice activity")
    writer.add_license("MIT")
    writer.add_uint32(f"{ARCHITECTURE}.sample_rate", SAMPLE_RATE_HZ)
    writer.add_uint32(f"{ARCHITECTURE}.window_samples", WINDOW_SAMPLES)
    writer.add_uint32(f"{ARCHITECTURE}.context_samples", CONTEXT_SAMPLES)
    for name, values in tensors.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    """Convert from the command line: `python -m eliza_catalog.convert.silero SRC OUT`."""
    parser = argparse.ArgumentParser(description="Make the voice activity GGUF out of its published weights.")
    parser.add_argument("source", type=Path, help="silero_vad_16k_op15.onnx")
    parser.add_argument("out", type=Path, help="the GGUF file to write")
    arguments = parser.parse_args()
    convert_silero(arguments.source, arguments.out)


if __name__ == "__main__":
    main()
