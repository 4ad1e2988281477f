"""Story: a default voice survives the trip through its file, and a damaged file is seen as one."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_catalog.errors import IntegrityError
from eliza_catalog.parts.preset import Phrase, VoicePreset, decode_preset, encode_preset

PHRASES = st.builds(
    Phrase,
    text=st.text(max_size=8, alphabet=st.characters(exclude_categories=["Cs"])),
    sample_rate_hz=st.just(24000),
    pcm_f32=st.lists(st.floats(width=32, allow_nan=False), max_size=4).map(
        lambda samples: struct.pack(f"<{len(samples)}f", *samples)
    ),
)
PRESETS = st.builds(
    VoicePreset,
    embedding=st.lists(st.floats(width=32, allow_nan=False), max_size=4).map(tuple),
    phrases=st.lists(PHRASES, max_size=3).map(tuple),
    metadata=st.dictionaries(st.text(max_size=4, alphabet="abc"), st.integers(), max_size=2),
)


@given(PRESETS)
def test_what_is_written_is_read(preset: VoicePreset) -> None:
    assert decode_preset(encode_preset(preset)) == preset


def test_the_header_is_the_one_native_readers_know() -> None:
    raw = encode_preset(VoicePreset(embedding=(1.0,), metadata={"voice": "x"}))
    assert raw[:8] == b"ELZ1" + struct.pack("<I", 2)
    assert struct.unpack_from("<II", raw, 8) == (64, 4)
    assert struct.unpack_from("<II", raw, 16) == (0, 0)
    assert raw[struct.unpack_from("<I", raw, 48)[0] :] == b'{"voice": "x"}'
    assert struct.unpack_from("<II", raw, 56) == (0, 0)


@given(PRESETS, st.data())
def test_a_cut_file_is_damaged_or_reads_the_same(preset: VoicePreset, data: st.DataObject) -> None:
    raw = encode_preset(preset)
    cut = raw[: data.draw(st.integers(0, len(raw) - 1))]
    with pytest.raises(IntegrityError):
        decode_preset(cut)
