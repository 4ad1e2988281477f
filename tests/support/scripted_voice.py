"""A voice under the test's control, in the place of the native one: it makes the sounds that a test wants judged.

The real voice cannot be asked to be silent, broken or slow; everything around it stays the real thing.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.pcm import RATE_HZ, babble

from eliza_agent.runtime import speaking
from eliza_native.seam import Cancelled

CHUNK_SAMPLES = RATE_HZ // 20


def speech_like(phonemes: str) -> array[float]:
    """Return babble of a speaker's pace."""
    return babble(max(0.4, len(phonemes) * 0.06))


class ScriptedVoice:
    """Makes `sound(phonemes)` in chunks of 50 ms; each chunk takes `chunk_s` to make.

    `ignores_cancel` makes it deaf to the library's cancel, as a broken engine would be.
    """

    def __init__(
        self,
        sound: Callable[[str], array[float]] = speech_like,
        *,
        chunk_s: float = 0.002,
        ignores_cancel: bool = False,
    ) -> None:
        self.sound, self.chunk_s, self.ignores_cancel = sound, chunk_s, ignores_cancel
        self.said: list[str] = []
        self.running = threading.Event()
        self._cancelled = threading.Event()

    def install(self, patch: pytest.MonkeyPatch) -> ScriptedVoice:
        """Put it in the place of the native voice."""
        patch.setattr(speaking, "Speech", lambda _context: self)
        return self

    def load(self, gguf: Path, voice: Path, style_dim: int) -> None:
        """Check that the real files were named."""
        assert gguf.is_file()
        assert voice.stat().st_size % (4 * style_dim) == 0

    @property
    def sample_rate(self) -> int:
        return RATE_HZ

    def stream_ipa(self, ipa: str, on_chunk: Callable[[memoryview, bool], Any], _speed: float) -> None:
        """Speak as the native voice does."""
        self._cancelled.clear()
        self.running.set()
        try:
            self.said.append(ipa)
            samples = memoryview(self.sound(ipa))
            for start in range(0, len(samples), CHUNK_SAMPLES):
                time.sleep(self.chunk_s)
                gone = on_chunk(samples[start : start + CHUNK_SAMPLES], False) or self._cancelled.is_set()
                if gone and not self.ignores_cancel:
                    raise Cancelled("scripted")
            on_chunk(samples[:0], True)
        finally:
            self.running.clear()

    def cancel(self) -> None:
        """Stop after the chunk in work."""
        self._cancelled.set()
