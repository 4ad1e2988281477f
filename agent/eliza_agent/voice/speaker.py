"""Where sound goes: the loudspeaker's protocol, a speaker in memory, and WAV files.

A speaker pulls blocks from a source at its own pace while it is open, and never asks where they come from. Real
devices come with the voice loop. Keeps contract section 4's last node (ring, then audio out).
"""

from __future__ import annotations

import errno
import sys
import time
import wave
from array import array
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import anyio

from eliza_catalog.errors import StorageError

SAMPLE_RATE_HZ = 24_000
_BLOCK_S = 0.010
_FULL_SCALE = 32_767


class PcmSource(Protocol):
    """What a speaker pulls from; `voice.ring.Ring` is one."""

    def read_into(self, out: array[float]) -> int:
        """Fill the head of `out` and return how many samples there were."""
        ...


class Speaker(Protocol):
    """A loudspeaker for mono float samples at `sample_rate_hz`."""

    @property
    def sample_rate_hz(self) -> int:
        """Samples per second."""
        ...

    def playing(self, source: PcmSource) -> AbstractAsyncContextManager[None]:
        """Pull from `source` while the context is open."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedBlock:
    """Samples that a speaker took at one moment of the monotonic clock."""

    at_s: float
    samples: array[float]


class MemorySpeaker:
    """Plays into memory, in real time or faster, and remembers what it played when.

    Args:
        speed: how many seconds of sound pass in one second.
    """

    def __init__(self, *, speed: float = 1.0, sample_rate_hz: int = SAMPLE_RATE_HZ) -> None:
        self._speed = speed
        self._sample_rate_hz = sample_rate_hz
        self.blocks: list[PlayedBlock] = []
        self.starved_blocks = 0

    @property
    def sample_rate_hz(self) -> int:
        """Samples per second of sound."""
        return self._sample_rate_hz

    @asynccontextmanager
    async def playing(self, source: PcmSource) -> AsyncIterator[None]:
        """Pull a block every 10 ms while the context is open."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._pull, source)
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    def samples(self) -> array[float]:
        """Everything played, joined."""
        joined = array("f")
        for block in self.blocks:
            joined.extend(block.samples)
        return joined

    def samples_after(self, moment_s: float) -> int:
        """How many samples were taken after a moment of the monotonic clock."""
        return sum(len(block.samples) for block in self.blocks if block.at_s > moment_s)

    async def _pull(self, source: PcmSource) -> None:
        # More speed means larger blocks, not more of them: waking up has its price.
        block_samples = max(1, int(self._sample_rate_hz * _BLOCK_S * self._speed))
        due_s = time.monotonic()
        while True:
            self._take(source, block_samples)
            due_s += _BLOCK_S
            # A speaker keeps its own beat: a late wake-up is caught up with, never stretched.
            await anyio.sleep(max(0.0, due_s - time.monotonic()))

    def _take(self, source: PcmSource, block_samples: int) -> None:
        block = array("f", bytes(4 * block_samples))
        count = source.read_into(block)
        if count:
            self.blocks.append(PlayedBlock(at_s=time.monotonic(), samples=block[:count]))
        elif self.blocks:
            self.starved_blocks += 1


class WavSpeaker(MemorySpeaker):
    """A memory speaker whose sound is written to a 16-bit mono WAV file when it closes.

    Args:
        path: the file; written at close, also after a cancelled turn, with what was heard.
        speed: seconds of sound per second; a file needs no patience.

    Raises:
        StorageError: `storage.denied` or `storage.failed`, from the closing context.
    """

    def __init__(self, path: Path, *, speed: float = 100.0, sample_rate_hz: int = SAMPLE_RATE_HZ) -> None:
        super().__init__(speed=speed, sample_rate_hz=sample_rate_hz)
        self.path = path

    @asynccontextmanager
    async def playing(self, source: PcmSource) -> AsyncIterator[None]:
        """Pull while open; write the file at the end."""
        try:
            async with super().playing(source):
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(write_wav, self.path, self.samples(), self._sample_rate_hz)


def write_wav(path: Path, samples: array[float], sample_rate_hz: int = SAMPLE_RATE_HZ) -> None:
    """Write mono float samples in [-1, 1] as 16-bit PCM; louder ones are limited. Blocks on the disk.

    Raises:
        StorageError: `storage.denied`, `storage.full` or `storage.failed`.
    """
    pcm = array("h", (round(max(-1.0, min(1.0, sample)) * _FULL_SCALE) for sample in samples))
    if sys.byteorder == "big":
        pcm.byteswap()
    try:
        with path.open("wb") as opened, wave.open(opened, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(sample_rate_hz)
            file.writeframes(pcm.tobytes())
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def require_writable(path: Path) -> None:
    """Look whether a sound file could be written to `path`, before there is sound; leaves nothing behind.

    Raises:
        StorageError: `storage.denied`, `storage.full` or `storage.failed`.
    """
    was_there = path.exists()
    try:
        with path.open("ab"):
            pass
        if not was_there:
            path.unlink()
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def _unwritable(path: Path, fault: OSError) -> StorageError:
    reasons = {errno.EACCES: "denied", errno.EPERM: "denied", errno.EROFS: "denied", errno.ENOSPC: "full"}
    reason = reasons.get(fault.errno or 0, "failed")
    details = {"path": str(path), "error": str(fault)}
    return StorageError(reason, "The sound file could not be written.", details=details)


def read_wav(path: Path) -> tuple[array[float], int]:
    """Read a 16-bit mono WAV file as float samples in [-1, 1] and its sample rate. Blocks on the disk."""
    with path.open("rb") as opened, wave.open(opened, "rb") as file:
        pcm = array("h", file.readframes(file.getnframes()))
        rate_hz = file.getframerate()
    if sys.byteorder == "big":
        pcm.byteswap()
    return array("f", (value / _FULL_SCALE for value in pcm)), rate_hz
