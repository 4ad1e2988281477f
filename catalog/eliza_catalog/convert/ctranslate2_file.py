"""Reads the tensors of a CTranslate2 `model.bin`, whole or in parts, trusting no length it finds there.

The format (version 6, as its own converters write it): names with a two-byte length and a closing NUL, shapes,
a type number, a byte count, the values; then aliases. Judges no names and no shapes: that is the caller's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from eliza_catalog.errors import IntegrityError

VERSION = 6
_MAX_BYTES = 4 << 30
_MAX_RANK = 4
_DTYPES: dict[int, npt.DTypeLike] = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CTranslate2File:
    """What one file holds.

    Attributes:
        spec: the kind of model, such as `WhisperSpec`.
        tensors: read-only arrays by name.
        aliases: name to the name whose tensor it shares.
    """

    spec: str
    tensors: dict[str, Array]
    aliases: dict[str, str]


def refusal(at: str) -> IntegrityError:
    """Return the error for weights that are not what was expected; `at` says where."""
    return IntegrityError(
        "wrong_architecture",
        "The files do not hold the speech recognition weights that were expected.",
        details={"at": at},
    )


def absence(path: Path) -> IntegrityError:
    """Return the error for a source that is not there."""
    details = {"path": str(path)}
    return IntegrityError("missing", "The speech recognition weights are not there.", details=details)


def read_ctranslate2(parts: Sequence[Path]) -> CTranslate2File:
    """Return the tensors of the file whose bytes are those of `parts`, one after the other.

    Raises:
        IntegrityError: `missing` when a part is not there, `wrong_architecture` when it is no such file.
    """
    for part in parts:
        if not part.is_file():
            raise absence(part)
    if sum(part.stat().st_size for part in parts) > _MAX_BYTES:
        raise refusal("size")
    return _Reader(b"".join(part.read_bytes() for part in parts)).whole()


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def whole(self) -> CTranslate2File:
        if self._number("<I") != VERSION:
            raise refusal("version")
        spec, _revision = self._name(), self._number("<I")
        tensors = dict(self._tensor() for _ in range(self._number("<I")))
        aliases = {}
        for _ in range(self._number("<I")):
            name = self._name()
            aliases[name] = self._name()
        if self._at != len(self._content):
            raise refusal("end")
        return CTranslate2File(spec=spec, tensors=tensors, aliases=aliases)

    def _tensor(self) -> tuple[str, Array]:
        name = self._name()
        rank = self._number("<B")
        if rank > _MAX_RANK:
            raise refusal(name)
        shape = tuple(self._number("<I") for _ in range(rank))
        kind = _DTYPES.get(self._number("<B"))
        raw = self._take(self._number("<I"))
        if kind is None:
            raise refusal(name)
        try:
            return name, np.frombuffer(raw, dtype=kind).reshape(shape)
        except ValueError as error:  # the bytes are not those of the shape
            raise refusal(name) from error

    def _name(self) -> str:
        raw = bytes(self._take(self._number("<H")))
        if not raw.endswith(b"\0"):
            raise refusal("name")
        return raw[:-1].decode("utf-8", "replace")

    def _number(self, form: str) -> int:
        (number,) = struct.unpack(form, self._take(struct.calcsize(form)))
        return int(number)

    def _take(self, count: int) -> memoryview:
        if count > len(self._content) - self._at:
            raise refusal("length")
        self._at += count
        return memoryview(self._content)[self._at - count : self._at]
