"""Reads a voice preset: speaker data made once by the publisher, and sound for a few common phrases.

Takes bytes and gives values; opens no file and never computes an embedding (contract section 4, speaker preset
caching). The format is facts 6.12, versions 1 and 2; sections may not overlap each other here either.
"""

from __future__ import annotations

import json
import struct
import sys
import unicodedata
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from eliza_catalog.errors import NativeError

_MAGIC = b"ELZ1"
_HEADER_BYTES = {1: 24, 2: 64}
_SECTIONS = {
    1: ("embedding", "phrases"),
    2: ("embedding", "phrases", "ref_tokens", "ref_text", "instruct", "metadata"),
}
_CODEBOOKS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedPhrase:
    """A phrase with ready sound: mono float samples at `sample_rate_hz`."""

    text: str
    sample_rate_hz: int
    samples: array[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicePreset:
    """A preset, read. `ref_tokens` is row major, eight rows; empty where the file has none."""

    version: int
    embedding: array[float]
    phrases: Mapping[str, CachedPhrase]
    ref_tokens: array[int] = field(default_factory=lambda: array("i"))
    ref_text: str = ""
    instruct: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def cached(self, text: str) -> CachedPhrase | None:
        """The ready sound for this text, if there is any; case, spacing and punctuation do not matter."""
        return self.phrases.get(phrase_key(text))


def phrase_key(text: str) -> str:
    """The form in which two ways of writing one phrase are equal: letters, digits, single spaces, lower case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(char if char.isalnum() or char.isspace() else "" if char in "'’" else " " for char in folded)
    return " ".join(kept.split())


def read_preset(data: bytes) -> VoicePreset:
    """Read a whole preset file.

    Raises:
        NativeError: `native.bundle_invalid`; `details.fault` is one of bad-magic, bad-version, truncated-header,
            truncated-section, bad-section-bounds, bad-phrase-record, bad-embedding-length, bad-ref-tokens,
            bad-metadata, bad-utf8.
    """
    version = _version(data)
    parts = _sections(data, version)
    return VoicePreset(
        version=version,
        embedding=_floats(parts["embedding"], "bad-embedding-length"),
        phrases=_phrases(parts["phrases"]),
        ref_tokens=_ref_tokens(parts.get("ref_tokens", b"")),
        ref_text=_text(parts.get("ref_text", b"")),
        instruct=_text(parts.get("instruct", b"")),
        metadata=_metadata(parts.get("metadata", b"")),
    )


def _fault(name: str) -> NativeError:
    return NativeError("bundle_invalid", "The voice of this Eliza-1 cannot be read.", details={"fault": name})


def _version(data: bytes) -> int:
    if data[:4] != _MAGIC:
        raise _fault("bad-magic" if len(data) >= len(_MAGIC) else "truncated-header")
    if len(data) < 8:
        raise _fault("truncated-header")
    version = int.from_bytes(data[4:8], "little")
    if version not in _HEADER_BYTES:
        raise _fault("bad-version")
    if len(data) < _HEADER_BYTES[version]:
        raise _fault("truncated-header")
    return version


def _sections(data: bytes, version: int) -> dict[str, bytes]:
    header = _HEADER_BYTES[version]
    names = _SECTIONS[version]
    fields = struct.unpack_from(f"<{2 * len(names)}I", data, 8)
    if version == 2 and any(data[56:64]):
        raise _fault("bad-section-bounds")
    bounds = {name: (fields[2 * at], fields[2 * at + 1]) for at, name in enumerate(names)}
    last_end = header
    for start, length in sorted(bound for bound in bounds.values() if bound[1]):
        if start < last_end:
            raise _fault("bad-section-bounds")
        last_end = start + length
        if last_end > len(data):
            raise _fault("truncated-section")
    return {name: data[start : start + length] if length else b"" for name, (start, length) in bounds.items()}


def _floats(raw: bytes, fault: str) -> array[float]:
    if len(raw) % 4:
        raise _fault(fault)
    values = array("f", raw)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _phrases(raw: bytes) -> dict[str, CachedPhrase]:
    if not raw:
        return {}
    try:
        (count,) = struct.unpack_from("<I", raw, 0)
        at, found = 4, {}
        for _ in range(count):
            phrase, at = _phrase(raw, at)
            found[phrase_key(phrase.text)] = phrase
    except struct.error:
        raise _fault("bad-phrase-record") from None
    if at != len(raw):
        raise _fault("bad-phrase-record")
    return found


def _phrase(raw: bytes, at: int) -> tuple[CachedPhrase, int]:
    (text_bytes,) = struct.unpack_from("<H", raw, at)
    text_end = at + 2 + text_bytes
    rate_hz, pcm_bytes = struct.unpack_from("<II", raw, text_end)
    pcm_at = text_end + 8
    if pcm_at + pcm_bytes > len(raw) or not rate_hz:
        raise _fault("bad-phrase-record")
    samples = _floats(raw[pcm_at : pcm_at + pcm_bytes], "bad-phrase-record")
    text = _text(raw[at + 2 : text_end])
    return CachedPhrase(text=text, sample_rate_hz=rate_hz, samples=samples), pcm_at + pcm_bytes


def _ref_tokens(raw: bytes) -> array[int]:
    if not raw:
        return array("i")
    if len(raw) < 8:
        raise _fault("bad-ref-tokens")
    codebooks, steps = struct.unpack_from("<II", raw, 0)
    if codebooks != _CODEBOOKS or len(raw) != 8 + 4 * codebooks * steps:
        raise _fault("bad-ref-tokens")
    values = array("i", raw[8:])
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _fault("bad-utf8") from None
    if "\0" in text:
        raise _fault("bad-utf8")
    return text


def _metadata(raw: bytes) -> dict[str, Any]:
    if not raw:
        return {}
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise _fault("bad-metadata") from None
    if not isinstance(value, dict):
        raise _fault("bad-metadata")
    return value
