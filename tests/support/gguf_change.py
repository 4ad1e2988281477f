"""Changes single facts of a GGUF file in place, as a clumsy or hostile converter might have written them."""

from __future__ import annotations

import struct
from pathlib import Path

_UINT32, _FLOAT32 = 4, 6


def change_number(path: Path, key: str, value: float, *, to: str | None = None) -> None:
    """Overwrite a number (an int as uint32, a float as float32); `to` renames the key, same length, so it is gone."""
    data = bytearray(path.read_bytes())
    at = _after(data, key)
    kind, packed = (
        (_FLOAT32, struct.pack("<f", value)) if isinstance(value, float) else (_UINT32, value.to_bytes(4, "little"))
    )
    assert int.from_bytes(data[at : at + 4], "little") == kind, f"{key} is of another type"
    data[at + 4 : at + 8] = packed
    if to is not None:
        assert len(to) == len(key)
        data[at - len(key) : at] = to.encode()
    path.write_bytes(data)


def change_type(path: Path, tensor: str, kind: int) -> None:
    """Say that a tensor has another type (ggml's number of it); its bytes stay."""
    data = bytearray(path.read_bytes())
    at = _after(data, tensor)
    dimensions = int.from_bytes(data[at : at + 4], "little")
    data[at + 4 + 8 * dimensions : at + 8 + 8 * dimensions] = kind.to_bytes(4, "little")
    path.write_bytes(data)


def _after(data: bytearray, name: str) -> int:
    """Return where the name ends that is stored with its length before it."""
    stored = len(name).to_bytes(8, "little") + name.encode()
    assert data.count(stored) == 1, f"{name} is not there, or more than once"
    return data.index(stored) + len(stored)
