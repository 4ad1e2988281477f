"""Which bytes a request wants: Range and If-Range against a file's size and ETag.

Pure. A range that cannot be read is ignored, as HTTP demands (RFC 9110, 14.2); several ranges at once are
answered with the whole file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes `first` to `last`, both counted in; `last` is `first - 1` for an empty file."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """How many bytes that is."""
        return self.last - self.first + 1


class Unsatisfiable(Exception):
    """The range begins behind the file's end."""


def wanted_span(range_header: str | None, if_range: str | None, etag: str, size_bytes: int) -> Span | None:
    """Return the one range to send, or None for the whole file.

    Raises:
        Unsatisfiable: there is no such range.
    """
    if range_header is None or (if_range is not None and if_range != etag):
        return None
    found = _ONE_RANGE.fullmatch(range_header.strip())
    if found is None or found[0] == "bytes=-":
        return None
    if not found[1]:
        return _suffix(int(found[2]), size_bytes)
    first = int(found[1])
    last = min(int(found[2]), size_bytes - 1) if found[2] else size_bytes - 1
    if found[2] and int(found[2]) < first:
        return None
    if first >= size_bytes:
        raise Unsatisfiable
    return Span(first, last)


def _suffix(length: int, size_bytes: int) -> Span:
    if length == 0 or size_bytes == 0:
        raise Unsatisfiable
    return Span(max(0, size_bytes - length), size_bytes - 1)
