"""Bytes to a JSON value, strictly: one spelling of every document, or a typed error.

Refuses what parsers disagree about (repeated keys, NaN, infinite numbers, lone surrogates, byte-order marks,
nesting that exhausts a stack) and names the place of each fault by RFC 6901 pointer. Knows nothing of manifests;
keeps downloader rule 1 of contract section 7 safe against hostile bytes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from eliza_catalog.errors import ManifestError

MAX_DEPTH = 64
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Repeating(dict[str, Any]):
    """An object some of whose keys were given more than once."""

    repeated: tuple[str, ...] = ()


def parse_json(raw: bytes) -> Any:
    """Return the JSON value in `raw` (UTF-8).

    Raises:
        ManifestError: `manifest.unreadable`, `details.fault` says why.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as fault:
        raise _unreadable(f"not UTF-8 at byte {fault.start}") from fault
    if _depth(text) > MAX_DEPTH:
        raise _unreadable(f"nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite, parse_int=_bounded
        )
    except (ValueError, RecursionError) as fault:
        raise _unreadable(f"not JSON: {fault}") from fault


def text_faults(value: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Yield `(pointer, fault)` for repeated keys and for strings that are not Unicode text."""
    if isinstance(value, str) and _SURROGATE.search(value):
        yield pointer, "holds half a character (lone surrogate)"
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from text_faults(item, below(pointer, index))
    elif isinstance(value, dict):
        for key in getattr(value, "repeated", ()):
            yield below(pointer, key), "is given more than once"
        for key, item in value.items():
            if _SURROGATE.search(key):
                yield below(pointer, key), "its name holds half a character (lone surrogate)"
            yield from text_faults(item, below(pointer, key))


def below(pointer: str, key: str | int) -> str:
    """Return the RFC 6901 pointer of `key` below `pointer`; always printable text."""
    escaped = str(key).replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{escaped}".encode("utf-8", "backslashreplace").decode("utf-8")


def _unreadable(fault: str) -> ManifestError:
    return ManifestError("unreadable", "The manifest of this Eliza-1 is not readable.", details={"fault": fault})


def _depth(text: str) -> int:
    deepest = level = 0
    for mark in _STRING.sub("", text):
        level += (mark in "[{") - (mark in "]}")
        deepest = max(deepest, level)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    kept = dict(pairs)
    if len(kept) == len(pairs):
        return kept
    marked = _Repeating(kept)
    marked.repeated = tuple(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
    return marked


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number


def _bounded(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError("a number is too large")
    return int(digits)
