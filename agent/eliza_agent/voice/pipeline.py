"""The one graph of a turn: prompt, verified tokens, phrases, sound, ring, speaker.

Plumbing only: what a phrase is, what may be withdrawn and what the turn's state is are decided in the pure
rooms beside it. A silent answer and an answer into a file run the very same nodes. Keeps contract section 4
(same-tick handoff, rollback, barge-in order: ring, chunker, speech, text).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import anyio

from eliza_agent.runtime.generation import GeneratedStep
from eliza_agent.voice.chunker import Chunker, Phrase, Token
from eliza_agent.voice.request import TurnEngine, TurnRequest
from eliza_agent.voice.ring import Ring
from eliza_agent.voice.speaker import Speaker
from eliza_agent.voice.speech_lane import SpeechLane
from eliza_agent.voice.turn import (
    CancelReason,
    TurnEvent,
    TurnOutcome,
    TurnState,
    TurnTimings,
    TurnToken,
    advance,
)

_TICK_S = 0.010


async def run_turn(
    engine: TurnEngine,
    request: TurnRequest,
    speaker: Speaker,
    on_text: Callable[[str], object],
    token: TurnToken,
) -> TurnOutcome:
    """Answer once, in text and speech, until the end or until the token is cancelled.

    Args:
        engine: the opened bundle.
        request: what to answer.
        speaker: where the sound goes.
        on_text: gets verified text as it comes; runs in the turn's task and must not block.
        token: the only way to stop the turn; listeners run on the cancelling thread.

    Raises:
        NativeError: the library failed.
        VoiceError: `voice.absent`, speech is wanted and the bundle has none.
    """
    turn = _Turn(engine, request, speaker, on_text, token)
    try:
        await turn.run()
    except BaseExceptionGroup as group:
        raise _first_leaf(group) from None
    return turn.outcome()


def _first_leaf(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return _first_leaf(first) if isinstance(first, BaseExceptionGroup) else first


class _Turn:
    """The tasks and figures of one turn; everything but the sink and the stop runs on the event loop."""

    def __init__(
        self,
        engine: TurnEngine,
        request: TurnRequest,
        speaker: Speaker,
        on_text: Callable[[str], object],
        token: TurnToken,
    ) -> None:
        self._engine, self._request, self._speaker = engine, request, speaker
        self._on_text, self._token = on_text, token
        self._chunker = Chunker(request.policy)
        self._ring = Ring(int(request.ring_s * speaker.sample_rate_hz), threading.Lock())
        self._lane = SpeechLane(engine, request, self._ring, token)
        self._is_over = False
        self._scope = anyio.CancelScope()
        self._loop_thread = threading.get_ident()
        self._state = TurnState.WAITING
        self._begun_s = time.monotonic()
        self._first_token_s: float | None = None
        self._stopped_s: float | None = None
        self._silent_s: float | None = None
        self._texts: list[str] = []
        self._count = self._drafted = self._accepted = self._rejected = 0
        self._text_stopped = False
        self._was_cut = False

    async def run(self) -> None:
        """Run all tasks of the turn to their end."""
        self._state = advance(self._state, TurnEvent.STARTED)
        self._token.on_cancel(self._stop)
        try:
            # The speaker stays open until every call has unwound: what came late would be heard, and noticed.
            async with self._speaker.playing(self._ring):
                with self._scope:
                    await self._run_tasks()
        finally:
            self._ring.drain()
            self._is_over = True
        self._state = advance(self._noted_state(), self._last_event())

    async def _run_tasks(self) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._tick)
            if self._request.speak:
                group.start_soon(self._write_and_close)
                await self._lane.run()
            else:
                await self._write_and_close()
            group.cancel_scope.cancel()

    def outcome(self) -> TurnOutcome:
        """Sum up the turn after `run`."""
        now_s = time.monotonic()
        self._lane.rollback.played_to(self._ring.played)
        self._lane.rollback.withdraw_all()
        spoken, spoken_to = self._lane.rollback.spoken(self._count)
        return TurnOutcome(
            state=self._state,
            text="".join(self._texts),
            tokens=self._count,
            drafted=self._drafted,
            accepted=self._accepted,
            spoken=spoken,
            spoken_to=spoken_to,
            reason=self._token.reason if self._stopped_s is not None else None,
            synthesis_cancelled=self._lane.was_stopped,
            generation_cancelled=self._text_stopped,
            timings=self._timings(now_s),
            unspeakable=tuple(self._lane.unspeakable),
            rejected_tokens=self._rejected,
            was_cut=self._was_cut,
            withdrawn_phrases=self._lane.rollback.withdrawn,
        )

    # --- text ---------------------------------------------------------------------------------------------

    async def _write_and_close(self) -> None:
        try:
            await self._write()
        finally:
            self._lane.close()

    async def _write(self) -> None:
        ids = await self._engine.chat_ids(self._request.system, self._request.user)
        async with self._engine.generate(ids, max_tokens=self._request.max_tokens) as answer:
            try:
                async for step in answer:
                    if self._token.is_cancelled:
                        break
                    self._take(step)
                    await self._lane.wait_for_room()
            finally:
                self._text_stopped = not answer.has_ended
                self._was_cut = answer.was_cut
        self._dispatch(self._chunker.finish())

    def _take(self, step: GeneratedStep) -> None:
        """Hand a step's tokens to the chunker in this very task step; what fell before them goes first."""
        for span in step.rejected:
            self._rejected += span.end - span.start
            self._withdraw(span.start)
        self._drafted += step.drafted
        self._accepted += step.accepted
        for token in step.tokens:
            self._texts.append(token.text)
            self._count = token.index + 1
            accepted = Token(index=token.index, id=token.id, text=token.text)
            self._dispatch(self._chunker.push(accepted, time.monotonic()))
        if step.text:
            if self._first_token_s is None:
                self._first_token_s = time.monotonic()
            self._on_text(step.text)

    def _dispatch(self, phrases: tuple[Phrase, ...]) -> None:
        if self._request.speak:
            self._lane.dispatch(phrases)

    def _withdraw(self, index: int) -> None:
        taken = self._lane.rollback.reject_from(index)
        if taken.ring_from is not None:
            self._ring.withdraw(taken.ring_from)
        if taken.cancel_synthesis:
            self._engine.stop_speaking()
        del self._texts[index:]
        self._count = min(self._count, index)
        self._chunker.drop_from(index)
        self._chunker.take_back(taken.again, time.monotonic())

    # --- time and stop ------------------------------------------------------------------------------------

    async def _tick(self) -> None:
        """Follow the playback, speak what waits too long, and notice a stop from another thread."""
        while True:
            await anyio.sleep(_TICK_S)
            self._lane.rollback.played_to(self._ring.played)
            if self._token.is_cancelled:
                self._scope.cancel()
            else:
                self._dispatch(self._chunker.poll(time.monotonic()))

    def _stop(self, _reason: CancelReason) -> None:
        """Silence everything, in the contract's order; on whatever thread cancels, so it never waits."""
        if self._is_over:
            return
        self._stopped_s = time.monotonic()
        self._ring.drain()
        self._silent_s = time.monotonic()
        on_loop = threading.get_ident() == self._loop_thread
        if on_loop:
            self._chunker.flush()  # from elsewhere the next tick ends it; nothing leaves a cancelled turn's chunker
        self._engine.stop_speaking()
        self._engine.stop_generating()
        if on_loop:
            self._scope.cancel()

    def _noted_state(self) -> TurnState:
        state = self._state
        if self._first_token_s is not None:
            state = advance(state, TurnEvent.FIRST_TOKEN)
        return advance(state, TurnEvent.FIRST_AUDIO) if self._lane.first_audio_s is not None else state

    def _last_event(self) -> TurnEvent:
        return TurnEvent.ENDED if self._stopped_s is None else TurnEvent.CANCELLED

    def _timings(self, now_s: float) -> TurnTimings:
        def since(moment_s: float | None, start_s: float | None) -> float | None:
            return None if moment_s is None or start_s is None else (moment_s - start_s) * 1000

        return TurnTimings(
            first_token_ms=since(self._first_token_s, self._begun_s),
            first_audio_ms=since(self._lane.first_audio_s, self._begun_s),
            total_ms=(now_s - self._begun_s) * 1000,
            audio_ms=self._ring.played / self._speaker.sample_rate_hz * 1000,
            silence_ms=since(self._silent_s, self._stopped_s),
            unwind_ms=since(now_s, self._silent_s),
        )
