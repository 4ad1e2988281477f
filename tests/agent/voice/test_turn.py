from __future__ import annotations

import threading

import pytest

from eliza_agent.voice.turn import CancelReason, TurnEvent, TurnState, TurnToken, advance
from eliza_catalog.errors import InternalError


def test_a_turn_walks_from_thought_to_speech() -> None:
    state = TurnState.WAITING
    for event in (TurnEvent.STARTED, TurnEvent.FIRST_TOKEN, TurnEvent.FIRST_AUDIO, TurnEvent.ENDED):
        state = advance(state, event)
    assert state is TurnState.FINISHED


@pytest.mark.parametrize("state", [state for state in TurnState if state.value not in {"finished", "cancelled"}])
def test_every_living_turn_can_be_stopped(state: TurnState) -> None:
    assert advance(state, TurnEvent.CANCELLED) is TurnState.CANCELLED


@pytest.mark.parametrize("state", [TurnState.FINISHED, TurnState.CANCELLED])
@pytest.mark.parametrize("event", list(TurnEvent))
def test_nothing_happens_after_the_end(state: TurnState, event: TurnEvent) -> None:
    with pytest.raises(InternalError):
        advance(state, event)


def test_the_first_reason_wins_and_each_listener_hears_it_once() -> None:
    token, heard = TurnToken(), list[str]()
    token.on_cancel(lambda reason: heard.append(f"a {reason}"))
    token.on_cancel(lambda reason: heard.append(f"b {reason}"))
    assert token.cancel(CancelReason.BARGE_IN)
    assert not token.cancel(CancelReason.TIMEOUT)
    token.on_cancel(lambda reason: heard.append(f"late {reason}"))
    assert heard == ["a barge-in", "b barge-in", "late barge-in"]
    assert token.reason is CancelReason.BARGE_IN


def test_a_failing_listener_does_not_silence_the_others() -> None:
    token, heard = TurnToken(), list[str]()

    def fails(reason: CancelReason) -> None:
        raise OSError(reason)

    token.on_cancel(fails)
    token.on_cancel(heard.append)
    with pytest.raises(ExceptionGroup):
        token.cancel(CancelReason.EXTERNAL)
    assert heard == [CancelReason.EXTERNAL]


def test_a_listener_may_cancel_again() -> None:
    token = TurnToken(threading.Lock())

    def again(_reason: CancelReason) -> None:
        assert not token.cancel(CancelReason.TIMEOUT)

    token.on_cancel(again)
    assert token.cancel(CancelReason.USER_CANCEL)
    assert token.reason is CancelReason.USER_CANCEL


def test_one_of_many_threads_wins() -> None:
    token, start, wins = TurnToken(threading.Lock()), threading.Barrier(8), list[CancelReason]()
    heard: list[CancelReason] = []
    token.on_cancel(heard.append)

    def cancel(reason: CancelReason) -> None:
        start.wait()
        if token.cancel(reason):
            wins.append(reason)

    reasons = [*CancelReason, CancelReason.BARGE_IN, CancelReason.TIMEOUT, CancelReason.EXTERNAL]
    threads = [threading.Thread(target=cancel, args=(reason,)) for reason in reasons]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wins == heard == [token.reason]
