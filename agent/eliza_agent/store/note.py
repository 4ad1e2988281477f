"""Reading the small JSON notes that the store keeps of itself, whatever a disk or a person made of them."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from eliza_catalog.errors import ManifestError, StorageError

NOTE_FAULTS = (ValueError, KeyError, TypeError, AttributeError, OverflowError, ManifestError, StorageError)
"""What decoding a damaged note may raise; `RecursionError` of nested JSON becomes a ValueError here."""

_LARGEST_SIZE_BYTES = 1 << 62


def parse_note(data: bytes) -> Any:
    """Return the JSON value of a note.

    Raises:
        ValueError: it is none, or is nested beyond sense.
    """
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def moment_of(value: Any) -> datetime:
    """Return a note's moment, which always says its zone.

    Raises:
        ValueError, TypeError: it is no such text.
    """
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise ValueError(f"{value!r} names no time zone")
    return moment


def size_of(value: Any) -> int:
    """Return a note's number of bytes.

    Raises:
        TypeError: it is none that a disk could hold.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST_SIZE_BYTES:
        raise TypeError("not a size in bytes")
    return value
