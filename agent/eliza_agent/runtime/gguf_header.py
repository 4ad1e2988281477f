"""Reads the few header fields that tell what a model file really is.

Never trusts a length: every count and string is limited before it is read, so a hostile file costs little and
ends in a typed error. Reads no weights. Keeps facts 9.4 (a file is what its own header says, not its name).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from eliza_catalog.errors import IntegrityError

Scalar: TypeAlias = "str | int | float | bool"

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MAX_FIELDS = 1 << 16
_MAX_TENSORS = 1 << 20
_MAX_KEY_BYTES = 1 << 12
_MAX_TEXT_BYTES = 1 << 22
_MAX_ITEMS = 1 << 23
_MAX_HEADER_BYTES = 1 << 28
_MAX_DEPTH = 3

_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
    """A header's version, number of tensors, and the scalar fields that were asked for and found."""

    version: int
    tensors: int
    fields: Mapping[str, Scalar]

    @property
    def architecture(self) -> str | None:
        """`general.architecture`, if the file states one."""
        value = self.fields.get("general.architecture")
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        """An integer field, or None."""
        value = self.fields.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None


def read_gguf_header(path: Path, wanted: frozenset[str] = frozenset({"general.architecture"})) -> GgufHeader:
    """Read the wanted scalar fields of a GGUF file; stops as soon as it has them. Blocks on the disk.

    Raises:
        IntegrityError: `integrity.missing`, or `integrity.not_gguf` with the fault in `details`.
    """
    try:
        with path.open("rb") as file:
            return _Reader(file, path).header(wanted)
    except FileNotFoundError:
        raise IntegrityError("missing", "A file of this Eliza-1 is gone.", details={"path": path.name}) from None


class _Reader:
    """Walks over a header with a budget."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file = file
        self._name = path.name
        self._left_bytes = _MAX_HEADER_BYTES

    def header(self, wanted: frozenset[str]) -> GgufHeader:
        if self._bytes(4) != _MAGIC:
            raise self._fault("no GGUF magic")
        version = self._number("<I")
        if version not in _VERSIONS:
            raise self._fault(f"version {version}")
        tensors, count = self._count(_MAX_TENSORS, "tensors"), self._count(_MAX_FIELDS, "fields")
        found: dict[str, Scalar] = {}
        for _ in range(count):
            if wanted <= found.keys():
                break
            key, kind = self._text(_MAX_KEY_BYTES), self._number("<I")
            value = self._value(int(kind), 0)
            if key in wanted and value is not None:
                found[key] = value
        return GgufHeader(version=int(version), tensors=tensors, fields=found)

    def _value(self, kind: int, depth: int) -> Scalar | None:
        if kind == _STRING:
            return self._text(_MAX_TEXT_BYTES)
        if kind == _ARRAY:
            self._skip_array(depth + 1)
            return None
        if kind not in _NUMBERS:
            raise self._fault(f"field type {kind}")
        return self._number(_NUMBERS[kind])

    def _skip_array(self, depth: int) -> None:
        kind, count = int(self._number("<I")), self._count(_MAX_ITEMS, "items")
        if depth > _MAX_DEPTH:
            raise self._fault("arrays within arrays")
        if kind in _NUMBERS:
            self._skip(count * struct.calcsize(_NUMBERS[kind]))
            return
        for _ in range(count):
            if kind == _STRING:
                self._skip(self._count(_MAX_TEXT_BYTES, "bytes of text"))
            else:
                self._value(kind, depth)

    def _text(self, limit: int) -> str:
        return self._bytes(self._count(limit, "bytes of text")).decode("utf-8", errors="replace")

    def _count(self, limit: int, what: str) -> int:
        count = int(self._number("<Q"))
        if count > limit:
            raise self._fault(f"{count} {what}")
        return count

    def _number(self, form: str) -> int | float | bool:
        (value,) = struct.unpack(form, self._bytes(struct.calcsize(form)))
        if isinstance(value, int | float):
            return value
        raise self._fault("a number that is none")

    def _bytes(self, count: int) -> bytes:
        self._spend(count)
        data = self._file.read(count)
        if len(data) != count:
            raise self._fault("the file ends within its header")
        return data

    def _skip(self, count: int) -> None:
        self._spend(count)
        self._file.seek(count, 1)

    def _spend(self, count: int) -> None:
        self._left_bytes -= count
        if self._left_bytes < 0:
            raise self._fault("the header has no end")

    def _fault(self, what: str) -> IntegrityError:
        details = {"path": self._name, "fault": what}
        return IntegrityError("not_gguf", "A file of this Eliza-1 is not a model file.", details=details)
