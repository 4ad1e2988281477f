"""Story: a prompt goes in, words come out step by step, and the turn ends for a reason that is told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.text_turns import ROOM, finish, mtp_drafter, prompt_of, run

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.seam import Cancelled
from eliza_native.text import EndReason, StreamConfig, TextStream
from eliza_native.tokens import tokenize

PLAIN = StreamConfig(context_size=ROOM)
ENDLESS = "root ::= [A-Z] root"


@pytest.fixture
def stream(sure: Context) -> Iterator[TextStream]:
    with TextStream(sure, PLAIN) as opened:
        yield opened


def test_a_step_before_a_prompt_is_refused(stream: TextStream) -> None:
    with pytest.raises(NativeError) as caught:
        stream.next()
    assert caught.value.code == "native.invalid_argument"
    assert "prefill" in caught.value.details["said"]


@pytest.mark.parametrize("ids", [[-1], [1 << 30], [1 << 40], [5] * (ROOM + 1)])
def test_a_refused_prompt_leaves_the_stream_as_it_was(stream: TextStream, ids: list[int]) -> None:
    with pytest.raises(NativeError) as caught:
        stream.prefill(ids)
    assert caught.value.code == "native.invalid_argument"
    stream.prefill([5])
    assert finish(stream).text == TINY_TEXT


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": float("nan")},
        {"top_p": float("nan")},
        {"top_k": 1 << 40},
        {"repeat_penalty": float("inf")},
        {"context_size": 3},
        {"context_size": 1 << 30},
        {"grammar": "root ::= ("},
        {"grammar": 'other ::= "a"'},
        {"grammar": 'root ::= "a"\0'},
        {"cache_type_v": "q9_9"},
        {"drafter": Path("absent.gguf")},
        {"drafter": Path("absent.gguf"), "draft_max": 3, "draft_min": 400},
        {"drafter": Path("nul\0.gguf"), "draft_max": 3},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(sure: Context, change: dict[str, object]) -> None:
    with pytest.raises(NativeError) as caught:
        TextStream(sure, replace(PLAIN, **change))  # type: ignore[arg-type]
    assert caught.value.code == "native.invalid_argument"
    assert caught.value.details["status"] == -2


def test_an_unknown_cache_type_names_the_accepted(sure: Context, library: Library) -> None:
    with pytest.raises(NativeError) as caught:
        TextStream(sure, replace(PLAIN, cache_type_k="nonsense"))
    said = caught.value.details["said"]
    assert "'nonsense'" in said
    assert ", ".join(library.report().kv_types) in said


def test_every_accepted_cache_type_opens(sure: Context, library: Library) -> None:
    # 16-wide heads are no whole block of a quantised type: these say so instead of answering wrongly
    accepted = library.report().kv_types
    assert {"f16", "q8_0"} <= set(accepted)
    for name in accepted:
        config = replace(PLAIN, cache_type_k=name)
        if name in ("f16", "f32", "bf16"):
            assert run(sure, [5], config).text == TINY_TEXT
        else:
            with pytest.raises(NativeError):
                run(sure, [5], config)


def test_the_tiny_model_says_its_text(sure: Context, stream: TextStream) -> None:
    stream.prefill(tokenize(sure, "<|turn>user\nWho are you?<turn|>\n<|turn>model\n"))
    turn = finish(stream)
    assert turn.text == TINY_TEXT
    assert turn.end_reason is EndReason.END_OF_TEXT
    assert all(step.end_reason is EndReason.NONE for step in turn.steps[:-1])
    after = stream.next()
    assert (after.final, after.tokens, after.text) == (True, (), "")


@pytest.mark.parametrize("most", [1, 2, 7])
def test_max_tokens_ends_the_turn(sure: Context, most: int) -> None:
    with TextStream(sure, replace(PLAIN, max_tokens=most)) as stream:
        for _ in range(2):
            stream.prefill([5])
            turn = finish(stream)
            assert len(turn.tokens) == most
            assert turn.end_reason is EndReason.MAX_TOKENS


def test_a_full_context_ends_the_turn(noise: Context) -> None:
    with TextStream(noise, replace(PLAIN, context_size=16, grammar=ENDLESS)) as stream:
        stream.prefill(prompt_of(0, 13))
        turn = finish(stream)
        assert turn.end_reason is EndReason.CONTEXT_FULL
        assert len(turn.tokens) == 4  # three fit, and the last needs no room to be handed out
        with pytest.raises(NativeError, match="refused"):
            stream.prefill([5])


def test_reset_starts_over(stream: TextStream) -> None:
    stream.prefill([5])
    stream.next()
    stream.reset()
    with pytest.raises(NativeError):
        stream.next()
    stream.prefill([5])
    assert finish(stream).text == TINY_TEXT


def test_kept_tokens_count_as_if_they_were_prefilled(noise: Context) -> None:
    config = replace(PLAIN, max_tokens=24)
    prompt = prompt_of(1, 60)
    expected = run(noise, prompt, config).tokens
    with TextStream(noise, config) as stream:
        stream.prefill(prompt[:50] + prompt_of(2, 6))
        finish(stream)
        kept = stream.reset_keep(50)
        assert kept in (0, 50)
        stream.prefill(prompt[kept:])
        assert finish(stream).tokens == expected
        assert stream.reset_keep(-1) == 0


def test_a_grammar_rules_the_answer(noise: Context) -> None:
    for temperature in (0.0, 1.0):
        config = replace(PLAIN, temperature=temperature, grammar='root ::= "yes" | "no"')
        assert run(noise, prompt_of(3), config).text in ("yes", "no")


def test_cancel_from_another_thread_ends_next_within_a_step(noise: Context) -> None:
    """The answer would run to the context's end; each step hands the turn over, so the count of steps is exact."""
    go, done = threading.Event(), threading.Event()
    with TextStream(noise, replace(PLAIN, context_size=0)) as stream:
        stream.prefill(prompt_of(4))

        def interrupt() -> None:
            go.wait(10)
            stream.cancel()
            done.set()

        thread = threading.Thread(target=interrupt)
        thread.start()
        for _ in range(3):
            assert not stream.next().final
        go.set()
        assert done.wait(10)
        with pytest.raises(Cancelled):
            stream.next()
        thread.join()
        with pytest.raises(Cancelled):
            stream.prefill([5])
        stream.reset()
        stream.prefill([5])
        assert not stream.next().final


@pytest.mark.parametrize("with_drafter", [False, True])
def test_cancel_ends_a_turn_that_runs(noise: Context, with_drafter: bool) -> None:
    config = replace(PLAIN, context_size=4096, grammar=ENDLESS)
    if with_drafter:
        config = replace(config, drafter=mtp_drafter(noise), draft_max=4)
    begun = threading.Event()
    with TextStream(noise, config) as stream, ThreadPoolExecutor(1) as pool:
        stream.prefill(prompt_of(5))

        def generate() -> None:
            while not stream.next().final:
                begun.set()

        running = pool.submit(generate)
        assert begun.wait(10)
        stream.cancel()
        with pytest.raises(Cancelled):
            running.result(10)


def test_cancel_ends_a_prefill_that_runs(noise: Context) -> None:
    with TextStream(noise, replace(PLAIN, context_size=4096)) as stream, ThreadPoolExecutor(1) as pool:
        running = pool.submit(stream.prefill, prompt_of(6, 4000))
        while not (running.running() or running.done()):
            threading.Event().wait(0.001)
        stream.cancel()  # before or while it decodes: both end it
        with pytest.raises(Cancelled):
            running.result(10)


def test_close_ends_a_turn_that_runs_and_may_be_repeated(noise: Context) -> None:
    begun = threading.Event()
    stream = TextStream(noise, replace(PLAIN, context_size=4096, grammar=ENDLESS))
    with ThreadPoolExecutor(1) as pool:
        stream.prefill(prompt_of(7))

        def generate() -> None:
            while not stream.next().final:
                begun.set()

        running = pool.submit(generate)
        assert begun.wait(10)
        stream.close()
        stream.close()
        with pytest.raises((Cancelled, NativeError)):
            running.result(10)
        with pytest.raises(NativeError, match="closed"):
            stream.reset()
        stream.cancel()


def test_two_streams_share_one_model_and_no_memory(sure: Context) -> None:
    with TextStream(sure, PLAIN) as one, TextStream(sure, PLAIN) as two:
        one.prefill([5])
        two.prefill([6, 7])
        said = ["", ""]
        for _ in range(60):
            said[0] += one.next().text
            said[1] += two.next().text
        assert said == [TINY_TEXT, TINY_TEXT]
