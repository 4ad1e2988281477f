"""Turns the published 16 kHz Silero VAD weights (safetensors) into the bundle's `vad/silero-vad-v5.gguf`.

Only renames: every tensor keeps its values, shape and f32 type, so nothing is lost on the way.
Never downloads; the source is the `silero_vad_16k.safetensors` file of the `silero-vad` package (MIT).
Keeps the artifact names of contract section "file names" and what `native/src/vad/model.cpp` checks.
"""

from __future__ import annotations

import argparse
import json
import os
import struct
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from eliza_catalog.errors import IntegrityError

ARCHITECTURE = "silero-vad"
SAMPLE_RATE_HZ = 16_000
WINDOW_SAMPLES = 512
CONTEXT_SAMPLES = 64

_MAX_HEADER_BYTES = 1 << 20

# published name -> (our name, shape)
_TENSORS: dict[str, tuple[str, tuple[int, ...]]] = {
    "stft_conv.weight": ("stft.weight", (258, 1, 256)),
    "conv1.weight": ("encoder.0.weight", (128, 129, 3)),
    "conv1.bias": ("encoder.0.bias", (128,)),
    "conv2.weight": ("encoder.1.weight", (64, 128, 3)),
    "conv2.bias": ("encoder.1.bias", (64,)),
    "conv3.weight": ("encoder.2.weight", (64, 64, 3)),
    "conv3.bias": ("encoder.2.bias", (64,)),
    "conv4.weight": ("encoder.3.weight", (128, 64, 3)),
    "conv4.bias": ("encoder.3.bias", (128,)),
    "lstm_cell.weight_ih": ("lstm.input.weight", (512, 128)),
    "lstm_cell.bias_ih": ("lstm.input.bias", (512,)),
    "lstm_cell.weight_hh": ("lstm.hidden.weight", (512, 128)),
    "lstm_cell.bias_hh": ("lstm.hidden.bias", (512,)),
    "final_conv.weight": ("head.weight", (1, 128, 1)),
    "final_conv.bias": ("head.bias", (1,)),
}

Tensors = dict[str, npt.NDArray[np.float32]]


def convert_silero(source: Path, out: Path) -> None:
    """Write the GGUF `out` from the safetensors file `source`; `out` appears whole or not at all.

    Raises:
        IntegrityError: `missing` when there is no source, `wrong_architecture` when it holds other weights.
    """
    tensors = read_weights(source)
    partial = out.with_name(out.name + ".part")
    out.parent.mkdir(parents=True, exist_ok=True)
    _write(tensors, partial)
    os.replace(partial, out)


def read_weights(source: Path) -> Tensors:
    """Return the published tensors by their published names, each checked for shape and type.

    Raises:
        IntegrityError: as `convert_silero`.
    """
    if not source.is_file():
        raise IntegrityError("missing", "The voice activity weights are not there.", details={"path": str(source)})
    raw = source.read_bytes()
    header, data = _split(raw, source)
    return {name: _tensor(header, data, name, shape, source) for name, (_, shape) in _TENSORS.items()}


def _split(raw: bytes, source: Path) -> tuple[dict[str, Any], bytes]:
    """Return header and data of a safetensors file: length (u64), JSON, then the tensors' bytes."""
    size = struct.unpack_from("<Q", raw)[0] if len(raw) >= 8 else 0
    if not 0 < size <= min(_MAX_HEADER_BYTES, len(raw) - 8):
        raise _refusal("header", source)
    try:
        header = json.loads(raw[8 : 8 + size])
    except ValueError as error:
        raise _refusal("header", source) from error
    if not isinstance(header, dict):
        raise _refusal("header", source)
    return header, raw[8 + size :]


def _tensor(
    header: dict[str, Any], data: bytes, name: str, shape: tuple[int, ...], source: Path
) -> npt.NDArray[np.float32]:
    entry = header.get(name)
    if not isinstance(entry, dict) or entry.get("dtype") != "F32" or entry.get("shape") != list(shape):
        raise _refusal(name, source)
    size = int(np.prod(shape)) * 4
    begin = entry.get("data_offsets", [None])[0]
    if not isinstance(begin, int) or begin < 0 or begin + size > len(data):
        raise _refusal(name, source)
    return np.frombuffer(data, dtype="<f4", count=size // 4, offset=begin).reshape(shape)


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
    for published, (ours, _) in _TENSORS.items():
        writer.add_tensor(ours, tensors[published])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    """Convert from the command line: `python -m eliza_catalog.convert.silero SRC OUT`."""
    parser = argparse.ArgumentParser(description="Make the voice activity GGUF out of its published weights.")
    parser.add_argument("source", type=Path, help="silero_vad_16k.safetensors")
    parser.add_argument("out", type=Path, help="the GGUF file to write")
    arguments = parser.parse_args()
    convert_silero(arguments.source, arguments.out)


if __name__ == "__main__":
    main()
