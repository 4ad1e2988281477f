"""One answer being written: steps of verified tokens, each with its own text.

Drives one native stream, one step per thread hop, and hands over what the verifier rejected together with the
step it belongs to, so that nobody can see them out of order. Keeps contract section 4 (accepted tokens handed on
at once); spans are half-open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from anyio.lowlevel import checkpoint

from eliza_agent.runtime.interruptible import run_interruptible
from eliza_native.callbacks import Span, VerifierEvent
from eliza_native.seam import Cancelled
from eliza_native.text import EndReason, Step, TextStream


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedToken:
    """A verified token: its index in this answer (from 0), its id, the text it completed."""

    index: int
    id: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedStep:
    """What one step brought.

    `rejected` are proposals that fell before these tokens were settled; apply them first. `drafted` and
    `accepted` count this step's proposals and those that stood.
    """

    tokens: tuple[GeneratedToken, ...]
    rejected: tuple[Span, ...]
    drafted: int
    accepted: int
    final: bool

    @property
    def text(self) -> str:
        """The text of all its tokens."""
        return "".join(token.text for token in self.tokens)


_CUT = (EndReason.MAX_TOKENS, EndReason.CONTEXT_FULL)


class Generation:
    """An async iterator of `GeneratedStep`; ends after the last token, or early when it was stopped.

    `was_stopped` tells the two apart, and `was_cut` whether the last token was only the last one allowed.
    Cancelling the task that iterates stops the library too.
    """

    def __init__(
        self, stream: TextStream, text_of: Callable[[int], str], *, max_tokens: int, end_id: int | None
    ) -> None:
        self._stream = stream
        self._text_of = text_of
        self._max_tokens = max_tokens
        self._end_id = end_id
        self._rejected: list[Span] = []
        self._count = 0
        self._ended = False
        self._stop_asked = False
        self.was_stopped = False
        self.was_cut = False

    @property
    def has_ended(self) -> bool:
        """Whether the model came to an end by itself."""
        return self._ended and not self.was_stopped

    def note(self, event: VerifierEvent) -> None:
        """Keep a verifier event for the step in progress; runs on the generating thread."""
        if event.rejected is not None:
            self._rejected.append(event.rejected)

    async def prefill(self, ids: tuple[int, ...]) -> None:
        """Feed the prompt.

        Raises:
            NativeError: `native.invalid_argument`, the context has no room for it.
        """
        await self._run(lambda: self._stream.prefill(ids))

    def stop(self) -> None:
        """From any thread: end at the next kernel boundary."""
        self._stop_asked = True
        self._stream.cancel()

    def confirm_stop(self) -> None:
        """Ask the library whether it really gave up, if it was told to between two steps. Blocks."""
        if self._stop_asked and not self._ended and not self.was_stopped:
            try:
                self._stream.next()
            except Cancelled:
                self.was_stopped = True

    def __aiter__(self) -> Generation:
        """Return itself."""
        return self

    async def __anext__(self) -> GeneratedStep:
        """Return the next step.

        Raises:
            NativeError: the library failed.
        """
        if self._ended or self.was_stopped:
            raise StopAsyncIteration
        step = await self._run(self._next)
        if step is None:
            raise StopAsyncIteration
        self._count += len(step.tokens)
        self._ended = step.final
        return step

    async def _run(self, call: Callable[[], GeneratedStep | None]) -> GeneratedStep | None:
        def noting_stop() -> GeneratedStep | None:
            try:
                return call()
            except Cancelled:
                self.was_stopped = True
                return None

        step = await run_interruptible(noting_stop, self._stream.cancel)
        if self.was_stopped:
            await checkpoint()  # a cancelled task leaves here; otherwise somebody called stop()
        return step

    def _next(self) -> GeneratedStep:
        self._rejected.clear()
        step = self._stream.next()
        ids = self._wanted(step.tokens)
        pieces = _pieces(step, self._text_of)[: len(ids)]
        tokens = tuple(
            GeneratedToken(index=self._count + at, id=token, text=text)
            for at, (token, text) in enumerate(zip(ids, pieces, strict=True))
        )
        is_whole = len(ids) < len(step.tokens) and self._end_id == step.tokens[len(ids)]
        is_full = self._count + len(ids) >= self._max_tokens
        self.was_cut = not is_whole and (step.end_reason in _CUT if step.final else is_full)
        return GeneratedStep(
            tokens=tokens,
            rejected=tuple(self._rejected),
            drafted=step.drafted,
            accepted=step.accepted,
            final=step.final or is_full or len(ids) < len(step.tokens),
        )

    def _wanted(self, ids: tuple[int, ...]) -> tuple[int, ...]:
        """The ids up to the turn's end or the limit, both left out."""
        if self._end_id in ids:
            ids = ids[: ids.index(self._end_id)]
        return ids[: self._max_tokens - self._count]


def _pieces(step: Step, text_of: Callable[[int], str]) -> list[str]:
    """Give each token of a step its text; where the parts do not add up, the last one carries all."""
    if len(step.tokens) <= 1:
        return [step.text] * len(step.tokens)
    pieces = [text_of(token) for token in step.tokens]
    if "".join(pieces) != step.text:
        pieces = [""] * (len(pieces) - 1) + [step.text]
    return pieces
