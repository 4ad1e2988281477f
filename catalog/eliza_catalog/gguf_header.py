"""Reads one string from the head of a GGUF file: what architecture it says it holds.

Ground truth for the publisher's gate (facts 2.8: a default bundle's text file must itself say so); reads a few
kilobytes, no tensor, and trusts no length it finds there.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

from eliza_catalog.errors import IntegrityError

_KEY = b"general.architecture"
_MAX_KEYS = 4096
_MAX_STRING_BYTES = 1 << 16
_STRING = 8
_SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def read_architecture(path: Path) -> str:
    """Return `general.architecture` of a GGUF file (version 2 or 3).

    Raises:
        IntegrityError: `integrity.not_gguf`, the file is something else or its head says no architecture.
        OSError: the file cannot be read.
    """
    with path.open("rb") as opened:
        if opened.read(4) != b"GGUF" or _number(opened, "<I") not in (2, 3):
            raise _not_gguf(path)
        _number(opened, "<Q")  # tensors
        for _ in range(min(_number(opened, "<Q"), _MAX_KEYS)):
            key, kind = _bytes(opened), _number(opened, "<I")
            if key == _KEY and kind == _STRING:
                return _bytes(opened).decode("utf-8", "replace")
            if kind not in _SCALAR_BYTES and kind != _STRING:
                break  # writers put the architecture first; an array before it is not worth reading through
            _skip(opened, kind)
    raise _not_gguf(path)


def _skip(opened: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _bytes(opened)
    else:
        opened.read(_SCALAR_BYTES[kind])


def _number(opened: BinaryIO, form: str) -> int:
    raw = opened.read(struct.calcsize(form))
    if len(raw) < struct.calcsize(form):
        raise _not_gguf(Path(opened.name))
    number: int = struct.unpack(form, raw)[0]
    return number


def _bytes(opened: BinaryIO) -> bytes:
    length = _number(opened, "<Q")
    if length > _MAX_STRING_BYTES:
        raise _not_gguf(Path(opened.name))
    return opened.read(length)


def _not_gguf(path: Path) -> IntegrityError:
    return IntegrityError("not_gguf", "A file of the bundle is not a model file.", details={"file": path.name})
