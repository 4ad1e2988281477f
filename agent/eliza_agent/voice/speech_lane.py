"""The speech half of a turn: phrases in, samples in the ring, one after the other.

Takes a phrase's ready sound where the preset has it and asks the engine otherwise; late sound of what was taken
back is refused by the ring. Plays nothing and decides no phrase. Keeps contract section 4 (phrase cache first,
rollback, in-flight synthesis cancelled).
"""

from __future__ import annotations

import time
from array import array
from collections import deque

import anyio

from eliza_agent.voice.chunker import Phrase
from eliza_agent.voice.request import TurnEngine, TurnRequest
from eliza_agent.voice.ring import EpochPassed, Ring
from eliza_agent.voice.rollback import Rollback
from eliza_agent.voice.turn import TurnToken
from eliza_catalog.errors import VoiceError

_ROOM_WAIT_S = 0.005


class SpeechLane:
    """The queue of phrases of one turn and the task that speaks them."""

    def __init__(self, engine: TurnEngine, request: TurnRequest, ring: Ring, token: TurnToken) -> None:
        self._engine, self._request, self._ring, self._token = engine, request, ring, token
        self._queue: deque[Phrase] = deque()
        self._news = anyio.Event()
        self._no_more = False
        self.rollback = Rollback()
        self.first_audio_s: float | None = None
        self.was_stopped = False
        self.unspeakable: list[str] = []

    def dispatch(self, phrases: tuple[Phrase, ...]) -> None:
        """Queue phrases in the caller's task step; a cancelled turn's phrases are dropped."""
        if self._token.is_cancelled:
            return
        for phrase in phrases:
            self.rollback.add(phrase)
            self._queue.append(phrase)
        if phrases:
            self._tell()

    def close(self) -> None:
        """No more phrases will come."""
        self._no_more = True
        self._tell()

    async def wait_for_room(self) -> None:
        """Wait while more phrases are queued than the request allows."""
        while len(self._queue) > self._request.phrases_ahead:
            await self._news.wait()

    async def run(self) -> None:
        """Speak every phrase, then wait until the speaker has taken all of it.

        Raises:
            VoiceError: `voice.absent`.
            NativeError: the library failed.
        """
        while (phrase := await self._next_phrase()) is not None:
            await self._say(phrase)
        while len(self._ring):  # noqa: ASYNC110 - a speaker's own thread must never have to signal the loop
            await anyio.sleep(_ROOM_WAIT_S)

    async def _next_phrase(self) -> Phrase | None:
        while not self._queue:
            if self._no_more:
                return None
            await self._news.wait()
        phrase = self._queue.popleft()
        self._tell()
        return phrase

    def _tell(self) -> None:
        """Wake whoever waits for the queue to change."""
        news, self._news = self._news, anyio.Event()
        news.set()

    async def _say(self, phrase: Phrase) -> None:
        # The epoch first, then the token: a stop in between drains, and the epoch is then a passed one.
        epoch = self._ring.epoch
        if self._token.is_cancelled or not self.rollback.is_wanted(phrase.id):
            return
        if not phrase.has_words:
            self.rollback.skipped(phrase.id)
            return
        self.rollback.synthesising(phrase.id, self._ring.written)
        try:
            said = await self._sound(phrase, epoch)
        except VoiceError as fault:
            if fault.reason != "unspeakable":
                raise
            self.unspeakable.append(phrase.text.strip())
            self.rollback.skipped(phrase.id)
            return
        if said:
            self.rollback.buffered(phrase.id, self._ring.written)

    async def _sound(self, phrase: Phrase, epoch: int) -> bool:
        ready = self._request.preset.cached(phrase.text) if self._request.preset else None
        if ready is not None:
            return await self._pour(ready.samples, epoch)
        try:
            said = await self._engine.speak(phrase.text.strip(), lambda pcm: self._take(pcm, epoch))
        except anyio.get_cancelled_exc_class():
            self.was_stopped = True
            raise
        self.was_stopped = self.was_stopped or not said
        return said

    async def _pour(self, samples: array[float], epoch: int) -> bool:
        rest = memoryview(samples)
        while len(rest):
            taken = self._take(rest, epoch)
            if taken is None:
                return False
            rest = rest[taken:]
            if len(rest):
                await anyio.sleep(_ROOM_WAIT_S)
        return True

    def _take(self, samples: memoryview, epoch: int) -> int | None:
        """Put samples into the ring; runs on the speaking thread."""
        try:
            taken = self._ring.write(samples, epoch)
        except EpochPassed:
            return None
        if taken and self.first_audio_s is None:
            self.first_audio_s = time.monotonic()
        return taken
