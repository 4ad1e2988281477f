"""Writes and reads `cache/voice-preset-default.bin`, the ELZ1 container of a default voice (version 2).

Sections: a speaker embedding (float32), precomputed phrases (text and PCM) and a metadata object; each may be
empty, and readers of version 1 accept the same magic. Makes no speech itself (facts 6.12; contract section 4,
speaker preset caching).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eliza_catalog.errors import IntegrityError

MAGIC = b"ELZ1"
_VERSION = 2
_HEADER_BYTES = 64
_SECTIONS = ("embedding", "phrases", "reference tokens", "reference text", "instruction", "metadata")


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """One phrase that was spoken beforehand: float32 little-endian PCM of one channel."""

    text: str
    sample_rate_hz: int
    pcm_f32: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class VoicePreset:
    """The default voice: what it sounds like, and what it has already said."""

    embedding: tuple[float, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)


def encode_preset(preset: VoicePreset) -> bytes:
    """Return the preset as an ELZ1 version 2 file; absent sections have length 0."""
    bodies: dict[str, bytes] = {
        "embedding": struct.pack(f"<{len(preset.embedding)}f", *preset.embedding),
        "phrases": _encode_phrases(preset.phrases),
        "metadata": json.dumps(dict(preset.metadata), sort_keys=True).encode() if preset.metadata else b"",
    }
    table, body, offset = b"", b"", _HEADER_BYTES
    for name in _SECTIONS:
        content = bodies.get(name, b"")
        table += struct.pack("<II", offset if content else 0, len(content))
        body += content
        offset += len(content)
    return MAGIC + struct.pack("<I", _VERSION) + table + struct.pack("<II", 0, 0) + body


def decode_preset(raw: bytes) -> VoicePreset:
    """Read an ELZ1 version 2 file that `encode_preset` could have written.

    Raises:
        IntegrityError: `integrity.wrong_architecture`, the bytes are not such a file.
    """
    if len(raw) < _HEADER_BYTES or raw[:4] != MAGIC or struct.unpack_from("<I", raw, 4)[0] != _VERSION:
        raise _not_a_preset("bad magic, version or header")
    sections = {}
    for index, name in enumerate(_SECTIONS):
        offset, length = struct.unpack_from("<II", raw, 8 + 8 * index)
        if length and (offset < _HEADER_BYTES or offset + length > len(raw)):
            raise _not_a_preset(f"section {name} is out of bounds")
        sections[name] = raw[offset : offset + length] if length else b""
    if len(sections["embedding"]) % 4:
        raise _not_a_preset("the embedding is not whole floats")
    count = len(sections["embedding"]) // 4
    return VoicePreset(
        embedding=struct.unpack(f"<{count}f", sections["embedding"]),
        phrases=_decode_phrases(sections["phrases"]),
        metadata=json.loads(sections["metadata"] or b"{}"),
    )


def _encode_phrases(phrases: Sequence[Phrase]) -> bytes:
    if not phrases:
        return b""
    records = [struct.pack("<I", len(phrases))]
    for phrase in phrases:
        text = phrase.text.encode()
        records.append(struct.pack("<H", len(text)) + text)
        records.append(struct.pack("<II", phrase.sample_rate_hz, len(phrase.pcm_f32)) + phrase.pcm_f32)
    return b"".join(records)


def _decode_phrases(raw: bytes) -> tuple[Phrase, ...]:
    if not raw:
        return ()
    try:
        (count,), place, found = struct.unpack_from("<I", raw), 4, []
        for _ in range(count):
            (text_bytes,) = struct.unpack_from("<H", raw, place)
            text = raw[place + 2 : place + 2 + text_bytes].decode("utf-8")
            rate, pcm_bytes = struct.unpack_from("<II", raw, place + 2 + text_bytes)
            place += 10 + text_bytes
            found.append(Phrase(text=text, sample_rate_hz=rate, pcm_f32=raw[place : place + pcm_bytes]))
            place += pcm_bytes
    except (struct.error, UnicodeDecodeError) as fault:
        raise _not_a_preset(f"bad phrase record: {fault}") from fault
    if place > len(raw):
        raise _not_a_preset("the last phrase is cut off")
    return tuple(found)


def _not_a_preset(fault: str) -> IntegrityError:
    return IntegrityError("wrong_architecture", "The default voice file is damaged.", details={"fault": fault})
