"""Story: the drafter makes an answer quicker and never another one; its counts and events are true."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.text_turns import ROOM, Turn, finish, mtp_drafter, prompt_of, run

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT
from eliza_native.callbacks import VerifierEvent
from eliza_native.context import Context
from eliza_native.text import StreamConfig, TextStream

PLAIN = StreamConfig(context_size=ROOM, max_tokens=60)


def drafting(drafter: Path, window: int) -> StreamConfig:
    return replace(PLAIN, drafter=drafter, draft_max=window)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("absent.gguf", "cannot read"),
        ("mmproj.gguf", "cannot"),
        ("foreign.gguf", "is not the text model's"),
        ("words.txt", "not a readable GGUF"),
    ],
)
def test_a_drafter_that_does_not_fit_is_an_error(sure: Context, models: Path, name: str, reason: str) -> None:
    with pytest.raises(NativeError) as caught:
        TextStream(sure, drafting(models / name, 4))
    assert caught.value.code == "native.bundle_invalid"
    assert reason in caught.value.details["said"]


@pytest.mark.parametrize("window", [1, 3, 8])
def test_a_drafter_that_agrees_is_kept_and_changes_nothing(sure: Context, window: int) -> None:
    turn = run(sure, [5], drafting(mtp_drafter(sure), window))
    assert turn.text == TINY_TEXT
    assert turn.tokens == run(sure, [5], PLAIN).tokens
    assert 0 < turn.accepted <= turn.drafted
    assert len(turn.steps) < len(turn.tokens)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("window", [1, 3, 8])
def test_a_drafter_that_is_wrong_changes_nothing(noise: Context, seed: int, window: int) -> None:
    expected = run(noise, prompt_of(seed), PLAIN)
    found = run(noise, prompt_of(seed), drafting(mtp_drafter(noise), window))
    assert (found.tokens, found.text) == (expected.tokens, expected.text)
    assert expected.drafted == 0
    assert found.accepted < found.drafted


def test_an_ordinary_model_may_draft_too(noise: Context) -> None:
    """Its proposals are the model's own: all are kept but those that the turn's end cuts off."""
    itself = noise.bundle_dir / "text" / "text.gguf"
    found = run(noise, prompt_of(1), drafting(itself, 4))
    assert found.tokens == run(noise, prompt_of(1), PLAIN).tokens
    assert found.accepted > 0


@pytest.mark.parametrize("bundle", ["sure", "noise"])
def test_events_tell_the_answer_again(bundle: str, request: pytest.FixtureRequest) -> None:
    context: Context = request.getfixturevalue(bundle)
    events: list[VerifierEvent] = []
    context.on_verified(events.append)
    try:
        turn = run(context, prompt_of(2), drafting(mtp_drafter(context), 4))
    finally:
        context.on_verified(None)
    assert [event.accepted + event.corrected for event in events] == [step.tokens for step in turn.steps]
    place = 0
    for event, step in zip(events, turn.steps, strict=True):
        fallen = step.drafted - step.accepted
        if event.rejected is None:
            assert (fallen, event.corrected) == (0, ())
        else:
            assert (event.rejected.start, event.rejected.end) == (place + step.accepted, place + step.drafted)
            assert len(event.accepted) == step.accepted
        place += len(step.tokens)
    assert_counts_add_up(turn)


def assert_counts_add_up(turn: Turn) -> None:
    """Each step is its kept proposals and at most one token of the model's own."""
    for step in turn.steps:
        assert 0 <= step.accepted <= step.drafted <= 4
        assert step.accepted <= len(step.tokens) <= step.accepted + 1
    assert sum(len(step.tokens) for step in turn.steps) == len(turn.tokens)


def test_an_exception_of_the_callback_is_raised_by_next_and_only_once(sure: Context) -> None:
    class OfTheCallback(Exception):
        pass

    def fail(_event: VerifierEvent) -> None:
        raise OfTheCallback

    with TextStream(sure, PLAIN) as stream:
        stream.prefill([5])
        sure.on_verified(fail)
        try:
            with pytest.raises(OfTheCallback):
                stream.next()
            with pytest.raises(OfTheCallback):
                stream.next()
        finally:
            sure.on_verified(None)
        assert not stream.next().final
        stream.reset()
        stream.prefill([5])
        assert finish(stream).text == TINY_TEXT


def test_the_developer_may_switch_it_off_and_the_report_says_so(sure: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not sure.library.report().mtp_disabled
    monkeypatch.setenv("ELIZA_MTP_DISABLE", "1")
    assert sure.library.report().mtp_disabled
    assert run(sure, [5], drafting(mtp_drafter(sure), 4)).drafted == 0


def test_reset_and_keep_work_with_a_drafter(noise: Context) -> None:
    prompt = prompt_of(3, 40)
    config = drafting(mtp_drafter(noise), 3)
    expected = run(noise, prompt, PLAIN).tokens
    with TextStream(noise, config) as stream:
        for kept_wanted in (0, 20, 39):
            stream.prefill(prompt)
            assert finish(stream).tokens == expected
            kept = stream.reset_keep(kept_wanted)
            assert kept in (0, kept_wanted)
            stream.prefill(prompt[kept:])
            assert finish(stream).tokens == expected
            stream.reset()
