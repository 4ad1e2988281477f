"""One turn: its states, the token that alone can stop it, and what became of it.

Decides which state may follow which, and makes the first cancel reason win; starts, stops and times nothing
itself. Keeps contract section 4 (one idempotent cancellation token per turn, listeners fire at once) and
facts 6.10.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from enum import StrEnum

from eliza_catalog.errors import InternalError


class TurnState(StrEnum):
    """Where a turn stands."""

    WAITING = "waiting"
    THINKING = "thinking"
    ANSWERING = "answering"
    SPEAKING = "speaking"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class TurnEvent(StrEnum):
    """What can happen to a turn."""

    STARTED = "started"
    FIRST_TOKEN = "first-token"  # noqa: S105 - a model's token, no secret
    FIRST_AUDIO = "first-audio"
    ENDED = "ended"
    CANCELLED = "cancelled"


class CancelReason(StrEnum):
    """Why a turn was stopped; the values are the field's."""

    BARGE_IN = "barge-in"
    EOT_REVOKED = "eot-revoked"
    USER_CANCEL = "user-cancel"
    TIMEOUT = "timeout"
    EXTERNAL = "external"


_NEXT: dict[TurnState, dict[TurnEvent, TurnState]] = {
    TurnState.WAITING: {TurnEvent.STARTED: TurnState.THINKING, TurnEvent.CANCELLED: TurnState.CANCELLED},
    TurnState.THINKING: {
        TurnEvent.FIRST_TOKEN: TurnState.ANSWERING,
        TurnEvent.ENDED: TurnState.FINISHED,
        TurnEvent.CANCELLED: TurnState.CANCELLED,
    },
    TurnState.ANSWERING: {
        TurnEvent.FIRST_AUDIO: TurnState.SPEAKING,
        TurnEvent.ENDED: TurnState.FINISHED,
        TurnEvent.CANCELLED: TurnState.CANCELLED,
    },
    TurnState.SPEAKING: {TurnEvent.ENDED: TurnState.FINISHED, TurnEvent.CANCELLED: TurnState.CANCELLED},
    TurnState.FINISHED: {},
    TurnState.CANCELLED: {},
}


def advance(state: TurnState, event: TurnEvent) -> TurnState:
    """Return the state that follows.

    Raises:
        InternalError: `internal.broken_promise`, the event cannot happen in this state.
    """
    try:
        return _NEXT[state][event]
    except KeyError:
        details = {"state": state.value, "event": event.value}
        raise InternalError("broken_promise", "A turn took an impossible step.", details=details) from None


Listener = Callable[[CancelReason], None]


class TurnToken:
    """The only way to stop anything in a turn: first reason wins, a second call is silent.

    Listeners run on the thread that cancels, in the order they were added; one added too late runs at once.

    Args:
        guard: held while the reason is decided and listeners are listed; hand in a lock when other threads
            may cancel. Never held while a listener runs.
    """

    def __init__(self, guard: AbstractContextManager[object] | None = None) -> None:
        self._guard = guard if guard is not None else nullcontext()
        self._reason: CancelReason | None = None
        self._listeners: list[Listener] = []

    @property
    def reason(self) -> CancelReason | None:
        """The first reason given, or None while the turn lives."""
        return self._reason

    @property
    def is_cancelled(self) -> bool:
        """Whether the turn was stopped."""
        return self._reason is not None

    def cancel(self, reason: CancelReason) -> bool:
        """Stop the turn; return whether this call was the first.

        Raises:
            ExceptionGroup: listeners failed; every other listener ran all the same.
        """
        with self._guard:
            if self._reason is not None:
                return False
            self._reason = reason
            listeners, self._listeners = self._listeners, []
        _tell(listeners, reason)
        return True

    def on_cancel(self, listener: Listener) -> None:
        """Run `listener` when the turn is stopped, or now if it is already."""
        with self._guard:
            reason = self._reason
            if reason is None:
                self._listeners.append(listener)
        if reason is not None:
            listener(reason)


def _tell(listeners: list[Listener], reason: CancelReason) -> None:
    faults: list[Exception] = []
    for listener in listeners:
        try:
            listener(reason)
        except Exception as fault:  # noqa: BLE001 - one deaf listener must not keep the others talking
            faults.append(fault)
    if faults:
        raise ExceptionGroup("listeners of a cancelled turn failed", faults)


class Spoken(StrEnum):
    """How much of the answer was heard."""

    WHOLLY = "wholly"
    PARTLY = "partly"
    NOT_AT_ALL = "not-at-all"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnTimings:
    """Milliseconds from the turn's start; None = did not happen.

    `audio_ms` is the length of the sound that was heard. `silence_ms` counts from the cancel to the empty ring,
    `unwind_ms` from there to the end of every call into the library.
    """

    first_token_ms: float | None = None
    first_audio_ms: float | None = None
    total_ms: float = 0.0
    audio_ms: float = 0.0
    silence_ms: float | None = None
    unwind_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """What became of a turn.

    `spoken_to` is half-open: the tokens [0, spoken_to) were heard. `unspeakable` holds phrases that have no
    sounds in the voice's language (an emoji, say): shown, counted here, and not part of `spoken`. `was_cut`
    tells that the answer met the limit of its tokens before its own end.
    """

    state: TurnState
    text: str
    tokens: int
    drafted: int
    accepted: int
    spoken: Spoken
    spoken_to: int
    reason: CancelReason | None
    synthesis_cancelled: bool
    generation_cancelled: bool
    timings: TurnTimings
    unspeakable: tuple[str, ...] = ()
    rejected_tokens: int = 0
    was_cut: bool = False
    withdrawn_phrases: int = 0
