"""Turns published Kokoro-82M weights into the bundle's `tts/kokoro/*.gguf` and voice tables.

Reads the official PyTorch checkpoint or the int8 ONNX export; both give the same tensors. Never downloads
and never runs on a device. Keeps the artifact names of contract section "file names" and what
`native/src/kokoro/model.cpp` checks.

Types: `--dtype` sets the type of every matrix (convolutions, linear layers, LSTMs) whose rows are whole
blocks; vectors, embeddings and anything narrower than 32 stay f32, and so nothing small loses precision.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Literal, get_args

import gguf
import numpy as np

from .kokoro_layout import F32, KokoroShape, Tensors, arrange
from .kokoro_onnx import read_onnx
from .kokoro_torch import from_state, read_checkpoint
from .kokoro_vocabulary import VOCABULARY

ARCHITECTURE = "kokoro"
SAMPLE_RATE_HZ = 24_000
STYLE_ROWS = 510

Dtype = Literal["q8_0", "f16", "f32"]
_TYPES = {"q8_0": gguf.GGMLQuantizationType.Q8_0, "f16": gguf.GGMLQuantizationType.F16}
_FLOAT_ONLY = ("bert.tokens", "bert.positions", "text.tokens", "decoder.F0.weight", "decoder.N.weight")


def convert_onnx(source: Path, out: Path, dtype: Dtype = "q8_0") -> None:
    """Write the GGUF `out` from the int8 ONNX export.

    Raises:
        KeyError: the export lacks a layer.
        ValueError: it has layers that this architecture does not know.
        ImportError: `onnx` is not installed.
    """
    write_kokoro(KokoroShape(vocabulary=VOCABULARY), read_onnx(source), out, dtype)


def convert_torch(source: Path, out: Path, dtype: Dtype = "q8_0") -> None:
    """Write the GGUF `out` from the official `.pth` checkpoint.

    Raises:
        KeyError, ValueError: as `convert_onnx`.
        ImportError: torch is not installed.
    """
    write_kokoro(KokoroShape(vocabulary=VOCABULARY), read_checkpoint(source), out, dtype)


def convert_state(state: dict[str, object], shape: KokoroShape, out: Path, dtype: Dtype = "f32") -> None:
    """The same from a state dict of arrays or tensors (tests, other trainings)."""
    write_kokoro(shape, from_state(state), out, dtype)


def write_kokoro(shape: KokoroShape, canonical: Tensors, out: Path, dtype: Dtype) -> None:
    """Arrange canonical weights and write the file; `out` appears whole or not at all."""
    tensors = arrange(shape, canonical)
    partial = out.with_name(f".{out.name}.part")
    try:
        _write(shape, tensors, partial, dtype)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


def write_voice(table: F32, out: Path) -> None:
    """Write a style table `[rows, 2 * style]` as raw little-endian float32.

    Raises:
        ValueError: the table is not two-dimensional or holds something that is not a number.
    """
    flat = np.asarray(table, dtype="<f4").squeeze()
    if flat.ndim != 2 or not np.isfinite(flat).all():
        raise ValueError(f"a style table has two axes of numbers, not {flat.shape}")
    out.write_bytes(flat.tobytes())


def _write(shape: KokoroShape, tensors: Tensors, path: Path, dtype: Dtype) -> None:
    writer = gguf.GGUFWriter(path, ARCHITECTURE)
    writer.add_name("Eliza-1 voice")
    writer.add_license("Apache-2.0")
    writer.add_uint32(f"{ARCHITECTURE}.sample_rate", SAMPLE_RATE_HZ)
    for key, value in shape.metadata().items():
        if isinstance(value, list):
            writer.add_array(f"{ARCHITECTURE}.{key}", [int(one) for one in value])
        else:
            writer.add_uint32(f"{ARCHITECTURE}.{key}", value)
    writer.add_array(f"{ARCHITECTURE}.phonemes", shape.phonemes())
    for name, values in tensors.items():
        _add(writer, name, values, dtype)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add(writer: gguf.GGUFWriter, name: str, values: F32, dtype: Dtype) -> None:
    matrix = values.ndim == 2 and values.shape[1] % 32 == 0 and not name.endswith("pool.weight")
    if dtype == "f32" or not matrix or name in _FLOAT_ONLY:
        writer.add_tensor(name, np.ascontiguousarray(values, np.float32))
    else:
        writer.add_tensor(name, gguf.quantize(values, _TYPES[dtype]), raw_dtype=_TYPES[dtype])


def main() -> None:
    """Convert from the command line: `python -m eliza_catalog.convert.kokoro SRC OUT`."""
    parser = argparse.ArgumentParser(description="Make the voice model's GGUF out of published weights.")
    parser.add_argument("source", type=Path, help="kokoro-v1_0.pth, or the int8 .onnx export")
    parser.add_argument("out", type=Path, help="the GGUF file to write")
    parser.add_argument("--dtype", choices=get_args(Dtype), default="q8_0", help="type of the matrices")
    arguments = parser.parse_args()
    convert = convert_onnx if arguments.source.suffix == ".onnx" else convert_torch
    convert(arguments.source, arguments.out, arguments.dtype)


if __name__ == "__main__":
    main()
