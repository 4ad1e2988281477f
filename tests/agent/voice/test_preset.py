from __future__ import annotations

import contextlib
import struct
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_agent.voice.preset import phrase_key, read_preset
from eliza_catalog.errors import NativeError

HEADER = {1: 24, 2: 64}


def phrase(text: str, samples: int = 3, rate_hz: int = 24_000) -> bytes:
    raw = text.encode()
    return struct.pack("<H", len(raw)) + raw + struct.pack("<II", rate_hz, 4 * samples) + bytes(4 * samples)


def preset(*sections: bytes, version: int = 2) -> bytes:
    """Lay out sections one after the other behind the header."""
    at, table, body = HEADER[version], b"", b""
    for section in sections:
        table += struct.pack("<II", at if section else 0, len(section))
        body, at = body + section, at + len(section)
    head = b"ELZ1" + struct.pack("<I", version) + table
    return head.ljust(HEADER[version], b"\0") + body


EMBEDDING = array("f", [1.0, 2.0]).tobytes()
SEEDS = struct.pack("<I", 2) + phrase("Sure.") + phrase("one moment", 5)
TOKENS = struct.pack("<II", 8, 2) + bytes(4 * 16)


def test_all_sections_are_read() -> None:
    read = read_preset(preset(EMBEDDING, SEEDS, TOKENS, b"hi", b"slow", b'{"a": 1}'))
    assert (list(read.embedding), len(read.ref_tokens), read.ref_text) == ([1.0, 2.0], 16, "hi")
    assert (read.instruct, read.metadata) == ("slow", {"a": 1})
    cached = read.cached("  One   moment! ")
    assert cached is not None
    assert len(cached.samples) == 5
    assert read.cached("never heard") is None


def test_version_one_has_two_sections() -> None:
    assert read_preset(preset(EMBEDDING, SEEDS, version=1)).cached("sure") is not None
    assert read_preset(preset(version=1)).phrases == {}


def test_case_spaces_and_punctuation_do_not_matter() -> None:
    assert phrase_key(" Sure. ") == phrase_key("sure") == "sure"
    assert phrase_key("I can't  help, sorry!") == "i cant help sorry"


def overlapping() -> bytes:
    data = bytearray(preset(EMBEDDING, SEEDS))
    data[16:20] = struct.pack("<I", 66)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"NOPE" + bytes(60), "bad-magic"),
        (b"EL", "truncated-header"),
        (b"ELZ1" + struct.pack("<I", 9) + bytes(60), "bad-version"),
        (preset(EMBEDDING)[:40], "truncated-header"),
        (preset(EMBEDDING)[:-1], "truncated-section"),
        (overlapping(), "bad-section-bounds"),
        (preset(EMBEDDING)[:60] + b"\1" + preset(EMBEDDING)[61:], "bad-section-bounds"),
        (preset(EMBEDDING[:-1]), "bad-embedding-length"),
        (preset(b"", SEEDS[:-1]), "bad-phrase-record"),
        (preset(b"", SEEDS + b"\0"), "bad-phrase-record"),
        (preset(b"", struct.pack("<I", 1) + phrase("x", rate_hz=0)), "bad-phrase-record"),
        (preset(b"", b"", TOKENS[:-4]), "bad-ref-tokens"),
        (preset(b"", b"", struct.pack("<II", 4, 0)), "bad-ref-tokens"),
        (preset(b"", b"", b"", b"\xff"), "bad-utf8"),
        (preset(b"", b"", b"", b"a\0b"), "bad-utf8"),
        (preset(b"", b"", b"", b"", b"", b"[1]"), "bad-metadata"),
        (preset(b"", b"", b"", b"", b"", b"{"), "bad-metadata"),
    ],
)
def test_each_fault_has_its_name(data: bytes, fault: str) -> None:
    with pytest.raises(NativeError) as caught:
        read_preset(data)
    assert caught.value.details == {"fault": fault}


@given(st.binary(max_size=120), st.sampled_from([1, 2]))
def test_hostile_bytes_end_in_a_typed_error(data: bytes, version: int) -> None:
    with contextlib.suppress(NativeError):
        read_preset(b"ELZ1" + struct.pack("<I", version) + data)
