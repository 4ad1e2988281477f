"""Story: memory regions load ahead of use and free what nobody uses; what is in use stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.text_turns import ROOM, finish, mtp_drafter, run

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.text import StreamConfig, TextStream
from eliza_native.tokens import tokenize

PLAIN = StreamConfig(context_size=ROOM)


@pytest.fixture
def context(library: Library, models: Path) -> Iterator[Context]:
    with Context(library, models / "sure") as opened:
        yield opened


@pytest.mark.parametrize("region", ["", "TEXT", "weights", "text\0"])
def test_an_unknown_region_is_refused(context: Context, region: str) -> None:
    for use in (context.acquire, context.evict):
        with pytest.raises(NativeError) as caught:
            use(region)
        assert caught.value.code == "native.invalid_argument"


@pytest.mark.parametrize("region", ["wakeword"])
def test_a_region_that_this_build_lacks_says_so(context: Context, region: str) -> None:
    with pytest.raises(NativeError) as caught:
        context.acquire(region)
    assert caught.value.code == "native.not_implemented"


@pytest.mark.parametrize("region", ["vad", "tts", "asr"])
def test_a_region_without_its_file_is_an_invalid_bundle(context: Context, region: str) -> None:
    with pytest.raises(NativeError) as caught:
        context.acquire(region)
    assert caught.value.code == "native.bundle_invalid"


@pytest.mark.parametrize("region", ["text", "vision", "mtp", "dflash"])
def test_acquiring_twice_is_acquiring_once(context: Context, region: str) -> None:
    context.acquire(region)
    context.acquire(region)
    context.evict(region)
    context.evict(region)


def test_an_evicted_text_model_is_not_loaded_behind_the_back(context: Context) -> None:
    context.evict("text")
    for use in (lambda: TextStream(context, PLAIN), lambda: tokenize(context, "a")):
        with pytest.raises(NativeError) as caught:
            use()
        assert "evicted" in str(caught.value.details["said"])
    context.acquire("text")
    assert run(context, [5], PLAIN).text == TINY_TEXT


def test_an_evicted_drafter_is_not_loaded_behind_the_back(context: Context) -> None:
    config = StreamConfig(context_size=ROOM, drafter=mtp_drafter(context), draft_max=3)
    context.evict("mtp")
    with pytest.raises(NativeError, match="refused"):
        TextStream(context, config)
    assert run(context, [5], PLAIN).text == TINY_TEXT
    context.acquire("mtp")
    assert run(context, [5], config).accepted > 0


def test_what_is_in_use_stays(context: Context) -> None:
    config = StreamConfig(context_size=ROOM, drafter=mtp_drafter(context), draft_max=3)
    with TextStream(context, config) as stream:
        stream.prefill([5])
        context.evict("text")
        context.evict("mtp")
        assert finish(stream).text == TINY_TEXT
