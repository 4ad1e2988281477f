"""Hearing through the binding: what is refused, what is heard, and that no text is ever cut."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_hearing import TINY_HEARD
from eliza_native import hearing as hearing_module
from eliza_native.context import Context
from eliza_native.hearing import Hearing, HearingStream
from eliza_native.library import Library

RATE = 16_000


def noise(seconds: float, seed: int = 1, rate: int = RATE) -> array[float]:
    drawn = random.Random(seed)
    return array("f", (drawn.uniform(-0.3, 0.3) for _ in range(int(seconds * rate))))


@pytest.fixture(scope="module")
def hearing(library: Library, models: Path) -> Iterator[Hearing]:
    """Always hears the same sentence."""
    with Context(library, models / "hearing") as context:
        yield Hearing(context)


@pytest.fixture(scope="module")
def muddled(library: Library, models: Path) -> Iterator[Hearing]:
    """Hears noise that depends on every sample."""
    with Context(library, models / "muddled") as context:
        yield Hearing(context)


def test_a_bundle_without_ears_is_refused(library: Library, tmp_path: Path) -> None:
    with Context(library, tmp_path) as deaf, pytest.raises(NativeError) as caught:
        Hearing(deaf).transcribe(noise(1))
    assert caught.value.code == "native.bundle_invalid"


@pytest.mark.parametrize("rate", [0, -1, 3999, 384_001])
def test_an_impossible_rate_is_refused(hearing: Hearing, rate: int) -> None:
    for ask in (hearing.transcribe, hearing.transcribe_timed, lambda _pcm, rate: hearing.open_stream(rate)):
        with pytest.raises(NativeError) as caught:
            ask(noise(0.5), rate)
        assert caught.value.code == "native.invalid_argument"


def test_a_sample_that_is_no_number_is_refused(hearing: Hearing) -> None:
    for bad in (float("nan"), float("inf")):
        with pytest.raises(NativeError) as caught:
            hearing.transcribe([0.0, bad, 0.0])
        assert caught.value.code == "native.invalid_argument"


def test_an_unknown_language_is_refused(library: Library, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELIZA_ASR_FORCE_LANGUAGE", "klingon")
    with Context(library, models / "hearing") as context, pytest.raises(NativeError) as caught:
        Hearing(context).transcribe(noise(0.5))
    assert caught.value.code == "native.invalid_argument"
    assert "klingon" in caught.value.details["said"]


def test_silence_is_no_text(hearing: Hearing) -> None:
    assert hearing.transcribe([]) == ""
    assert hearing.transcribe(array("f", bytes(4 * RATE))) == ""
    assert hearing.transcribe_timed(array("f", bytes(4 * RATE))) == ()


@pytest.mark.parametrize("rate", [8_000, RATE, 44_100])
def test_a_recording_of_any_rate_is_heard(hearing: Hearing, rate: int) -> None:
    assert hearing.transcribe(noise(0.5, rate=rate), rate) == TINY_HEARD


def test_lists_and_buffers_are_heard_alike(muddled: Hearing) -> None:
    sound = noise(1)
    heard = muddled.transcribe(sound)
    assert heard != muddled.transcribe(noise(1, seed=2))
    assert heard == muddled.transcribe(list(sound)) == muddled.transcribe(memoryview(sound))


def test_words_share_the_duration_and_touch(hearing: Hearing) -> None:
    words = hearing.transcribe_timed(noise(2))
    assert " ".join(word.text for word in words) == TINY_HEARD
    assert (words[0].start_ms, words[-1].end_ms) == (0, 2000)
    assert all(one.end_ms == other.start_ms for one, other in pairwise(words))


def test_a_text_larger_than_the_first_room_is_whole(muddled: Hearing, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = noise(1)
    heard, timed = muddled.transcribe(sound), muddled.transcribe_timed(sound)
    assert len(timed) > 2
    monkeypatch.setattr(hearing_module, "_FIRST_ROOM_BYTES", 4)
    assert muddled.transcribe(sound) == heard
    assert muddled.transcribe_timed(sound) == timed
    with muddled.open_stream() as stream:
        stream.feed(sound)
        assert stream.finish() == heard


def test_a_growing_recording_is_heard_as_a_whole_one(muddled: Hearing) -> None:
    sound = noise(2)
    with muddled.open_stream() as stream:
        assert stream.partial() == ""
        stream.feed(sound[:RATE])
        assert stream.partial() == muddled.transcribe(sound[:RATE])
        stream.feed(sound[RATE:])
        assert stream.finish() == muddled.transcribe(sound)


def test_a_closed_recording_says_so(hearing: Hearing) -> None:
    stream = hearing.open_stream()
    stream.close()
    stream.close()
    for use in (stream.partial, stream.finish, lambda: stream.feed([0.0])):
        with pytest.raises(NativeError) as caught:
            use()
        assert caught.value.code == "native.invalid_argument"


def test_a_context_closes_its_recordings(library: Library, models: Path) -> None:
    context = Context(library, models / "hearing")
    stream = HearingStream(context)
    context.close()
    with pytest.raises(NativeError, match="already closed"):
        stream.partial()
