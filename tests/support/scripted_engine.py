"""An engine whose answer is written by the test, proposals and rejections included, for the pure side of a turn."""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio import to_thread
from tests.support.pcm import tone

from eliza_agent.runtime.generation import GeneratedStep, GeneratedToken
from eliza_agent.runtime.speaking import Sink
from eliza_catalog.errors import VoiceError
from eliza_native.callbacks import Span

SAMPLES_PER_CHAR = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One step: from which index on tokens are rejected, the texts that follow, and the pause before it."""

    texts: tuple[str, ...] = ()
    rejected_from: int | None = None
    wait_s: float = 0.0


class ScriptedAnswer:
    """What `ScriptedEngine.generate` yields; indices go back where a line rejects."""

    def __init__(self, lines: tuple[Line, ...]) -> None:
        self._lines, self._next = list(lines), 0
        self.has_ended = self.was_stopped = self.was_cut = False

    def __aiter__(self) -> ScriptedAnswer:
        return self

    async def __anext__(self) -> GeneratedStep:
        if not self._lines:
            self.has_ended = True
            raise StopAsyncIteration
        line = self._lines.pop(0)
        await anyio.sleep(line.wait_s)
        rejected: tuple[Span, ...] = ()
        if line.rejected_from is not None:
            rejected = (Span(start=line.rejected_from, end=self._next),)
            self._next = line.rejected_from
        tokens = tuple(GeneratedToken(index=self._next + at, id=at, text=text) for at, text in enumerate(line.texts))
        self._next += len(tokens)
        return GeneratedStep(tokens=tokens, rejected=rejected, drafted=1, accepted=0, final=False)


class ScriptedEngine:
    """Speaks each character as `SAMPLES_PER_CHAR` samples of its code point, a character at a time."""

    def __init__(self, *lines: Line, char_s: float = 0.0, unspeakable: str = "☺") -> None:
        self.lines, self.char_s, self.unspeakable = lines, char_s, unspeakable
        self.spoken: list[str] = []
        self.calls: list[str] = []
        self._stop = threading.Event()

    async def chat_ids(self, _system: str, _user: str) -> tuple[int, ...]:
        return (1,)

    @asynccontextmanager
    async def generate(self, _ids: tuple[int, ...], *, max_tokens: int) -> AsyncIterator[ScriptedAnswer]:
        del max_tokens
        yield ScriptedAnswer(self.lines)

    def stop_generating(self) -> None:
        self.calls.append("stop_generating")

    def stop_speaking(self) -> None:
        self.calls.append("stop_speaking")
        self._stop.set()

    async def speak(self, text: str, sink: Sink) -> bool:
        if self.unspeakable in text:
            raise VoiceError("unspeakable", "no sound for this")
        self._stop.clear()
        self.spoken.append(text)
        return await to_thread.run_sync(self._speak, text, sink)

    def _speak(self, text: str, sink: Callable[[memoryview], int | None]) -> bool:
        for char in text:
            time.sleep(self.char_s)
            rest = memoryview(tone(float(ord(char)), SAMPLES_PER_CHAR))
            while len(rest):
                taken = sink(rest)
                if taken is None or self._stop.is_set():
                    return False
                rest = rest[taken:]
                if len(rest):
                    time.sleep(0.001)
        return True


def heard_text(samples: array[float]) -> str:
    """Return the characters that were heard at least in part, in order."""
    return "".join(chr(int(samples[at])) for at in range(0, len(samples), SAMPLES_PER_CHAR))
