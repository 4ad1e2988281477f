"""The voice of an opened bundle: a phrase in, samples out while they are made, silence on demand.

Loads the voice when it is first needed and never plays anything. One phrase at a time; stopping works from any
thread, also before the library has begun. Keeps contract section 4 (synthesis cancelled at the next kernel
boundary; the preset is read, never computed).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint

from eliza_agent.runtime.bundle_files import VoiceFiles
from eliza_agent.runtime.gguf_header import read_gguf_header
from eliza_agent.runtime.interruptible import run_interruptible
from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.seam import Cancelled
from eliza_native.speech import Speech

SAMPLE_RATE_HZ = 24_000
_STYLE_KEY = "kokoro.style"

Sink = Callable[[memoryview], int | None]
"""Takes float32 samples on the speaking thread and returns how many, which may be 0 while it has no room; None
ends the speech. Keeps nothing of the view, which lives only during the call."""

_ROOM_WAIT_S = 0.004


class Speaking:
    """Speech of one context; see the module's text."""

    def __init__(self, context: Context, files: VoiceFiles, phonemise: Callable[[str], str], speed: float) -> None:
        self._speech = Speech(context)
        self._files = files
        self._phonemise = phonemise
        self._speed = speed
        self._one = anyio.Lock()
        self._stop = threading.Event()
        self._inside = False
        self._loaded = False
        self.cancelled_count = 0

    @property
    def is_computing(self) -> bool:
        """Whether the library is making sound at this moment, or waits for room for it."""
        return self._inside

    async def load(self) -> None:
        """Load model and voice, once.

        Raises:
            NativeError: `native.bundle_invalid`, `native.out_of_memory`, `native.not_implemented`.
            IntegrityError: `integrity.not_gguf` or `integrity.missing`.
        """
        async with self._one:
            if not self._loaded:
                await to_thread.run_sync(self._load)
                self._loaded = True

    async def say(self, text: str, sink: Sink) -> bool:
        """Make the sound of `text` and return True, or False when it was stopped midway.

        Raises:
            VoiceError: `voice.unspeakable`, there is no sound for this text.
            NativeError: the library failed.
        """
        await self.load()
        async with self._one:
            self._stop.clear()
            try:
                said = await run_interruptible(lambda: self._say(text, sink), self.stop)
            except Cancelled:
                said = False
            await checkpoint()
            return said

    def stop(self) -> None:
        """From any thread: end the running synthesis at its next kernel boundary."""
        self._stop.set()
        if self._inside:  # set before the flag is looked at there, so no stop falls between the two
            self._speech.cancel()

    def _load(self) -> None:
        style = read_gguf_header(self._files.model, frozenset({_STYLE_KEY})).number(_STYLE_KEY)
        if style is None:
            raise _broken(self._files.model, "its header does not tell the width of a style")
        # A row of the table holds two styles: one shapes the sound, one the rhythm.
        self._speech.load(self._files.model, self._files.table, 2 * style)
        if self._speech.sample_rate != SAMPLE_RATE_HZ:
            raise _broken(self._files.model, f"sample rate {self._speech.sample_rate}")

    def _say(self, text: str, sink: Sink) -> bool:
        ipa = self._phonemise(text)
        self._inside = True
        try:
            if self._stop.is_set():
                raise Cancelled("speech")
            self._speech.stream_ipa(ipa, lambda pcm, _final: not self._pour(pcm, sink), self._speed)
        except Cancelled:
            self.cancelled_count += 1
            raise
        finally:
            self._inside = False
        return True

    def _pour(self, pcm: memoryview, sink: Sink) -> bool:
        """Hand all samples over, waiting for room; return False when stopped."""
        while not self._stop.is_set():
            taken = sink(pcm) if len(pcm) else 0
            if taken is None:
                return False
            pcm = pcm[taken:]
            if not len(pcm):
                return True
            if not taken:
                self._stop.wait(_ROOM_WAIT_S)
        return False


def _broken(model: Path, fault: str) -> NativeError:
    details = {"path": model.name, "fault": fault}
    return NativeError("bundle_invalid", "The voice of this Eliza-1 cannot be used.", details=details)
