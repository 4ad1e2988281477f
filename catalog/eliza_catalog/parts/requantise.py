"""Makes a drafter out of a text model: the same vocabulary and shape, its matrices in a coarser type.

A stand-in for a trained drafter, which small public models do not have: it is nearly as large as its target and so
saves little or no time, but it drafts truly. Uses gguf's own numpy quantisers; measures nothing.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

_COARSE = gguf.GGMLQuantizationType.Q4_0
_KEPT_KEYS_ELSEWHERE = {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count", "general.architecture"}
_FILE_TYPE_KEY = gguf.Keys.General.FILE_TYPE


def requantise(source: Path, out: Path) -> None:
    """Write `source` again with every Q4_1 matrix as Q4_0; all else is copied bit by bit.

    Raises:
        ValueError: the source has no matrix to make coarser.
        OSError: a file cannot be read or written.
    """
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(out, str(reader.fields["general.architecture"].contents()))
    try:
        _copy_header(reader, writer)
        if not sum([_copy_tensor(tensor, writer) for tensor in reader.tensors]):
            raise ValueError(f"{source.name} has no matrix to make coarser")
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _copy_header(reader: gguf.GGUFReader, writer: gguf.GGUFWriter) -> None:
    for name, field in reader.fields.items():
        if name in _KEPT_KEYS_ELSEWHERE:
            continue
        if name == _FILE_TYPE_KEY:
            writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
            continue
        item_type = field.types[-1] if field.types[0] is gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), field.types[0], sub_type=item_type)


def _copy_tensor(tensor: gguf.ReaderTensor, writer: gguf.GGUFWriter) -> bool:
    """Copy one tensor; return whether it was made coarser."""
    if tensor.tensor_type is not gguf.GGMLQuantizationType.Q4_1:
        writer.add_tensor(tensor.name, np.asarray(tensor.data), raw_dtype=tensor.tensor_type)
        return False
    plain = gguf.dequantize(tensor.data, tensor.tensor_type)
    writer.add_tensor(tensor.name, gguf.quantize(plain, _COARSE), raw_dtype=_COARSE)
    return True
