"""What a turn is asked for, and what it needs of an engine.

Holds values and the engine's protocol, so that the pipeline runs on the real engine and on a scripted one alike;
runs nothing itself. Keeps contract section 4 (speaker preset read from the bundle, never computed).
"""

from __future__ import annotations

import threading
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import anyio

from eliza_agent.runtime.generation import Generation
from eliza_agent.runtime.speaking import SAMPLE_RATE_HZ, Sink
from eliza_agent.voice.chunker import ChunkPolicy
from eliza_agent.voice.preset import VoicePreset, read_preset
from eliza_agent.voice.turn import TurnToken
from eliza_catalog.errors import IntegrityError, NativeError


class TurnEngine(Protocol):
    """What a turn needs of an engine; `runtime.engine.Engine` is one."""

    async def chat_ids(self, system: str, user: str) -> tuple[int, ...]:
        """Prompt ids."""
        ...

    def generate(self, prompt_ids: tuple[int, ...], *, max_tokens: int) -> AbstractAsyncContextManager[Generation]:
        """Open an answer."""
        ...

    def stop_generating(self) -> None:
        """End the answer, from any thread."""
        ...

    async def speak(self, text: str, sink: Sink) -> bool:
        """Make the sound of a phrase; False = stopped."""
        ...

    def stop_speaking(self) -> None:
        """End the phrase, from any thread."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What to answer and how.

    `phrases_ahead` is how many phrases may wait for their sound before the text pauses. `preset` brings ready
    sound for common phrases.
    """

    user: str
    system: str = ""
    speak: bool = True
    max_tokens: int = 256
    policy: ChunkPolicy = field(default_factory=ChunkPolicy)
    phrases_ahead: int = 4
    ring_s: float = 2.0
    preset: VoicePreset | None = None


def new_token() -> TurnToken:
    """Return a token for one turn that any thread may cancel."""
    return TurnToken(threading.Lock())


async def load_preset(path: Path) -> VoicePreset:
    """Read a preset file.

    Raises:
        IntegrityError: `integrity.missing`, it is not there or cannot be read.
        NativeError: `native.bundle_invalid`, not a preset or of another sample rate.
    """
    try:
        preset = read_preset(await anyio.Path(path).read_bytes())
    except OSError as fault:
        details = {"path": path.name, "error": str(fault)}
        raise IntegrityError("missing", "A file of this Eliza-1 is gone.", details=details) from fault
    if any(phrase.sample_rate_hz != SAMPLE_RATE_HZ for phrase in preset.phrases.values()):
        details = {"fault": "sample rate of a ready phrase"}
        raise NativeError("bundle_invalid", "The voice of this Eliza-1 cannot be read.", details=details)
    return preset
