"""Turns the lengths of many parts into one honest bar.

Counts bytes that are on the disk, so that a restart of a file takes the bar back; the rate looks only at the
last seconds and only at bytes that came now. Sleeps never and prints nothing.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from eliza_agent.download.events import OnEvent, Progress
from eliza_catalog.terms import BundlePath, Sha256

_WINDOW_S = 5.0


class Meter:
    """The progress of one bundle of `total_bytes`, told at most `events_per_s` times a second."""

    def __init__(
        self,
        total_bytes: int,
        on_event: OnEvent,
        events_per_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total_bytes = total_bytes
        self._on_event = on_event
        self._pause_s = 1.0 / events_per_s
        self._clock = clock
        self._lengths: dict[Sha256, int] = {}
        self._fetched_bytes = 0
        self._samples: deque[tuple[float, int]] = deque([(clock(), 0)])
        self._told_at = float("-inf")

    @property
    def received_bytes(self) -> int:
        """Bytes of the bundle that are on the disk."""
        return sum(self._lengths.values())

    def credit(self, digest: Sha256, length_bytes: int) -> None:
        """Count bytes that were there before; they make no rate."""
        self._lengths[digest] = length_bytes

    def moved(self, digest: Sha256, path: BundlePath, length_bytes: int) -> None:
        """Note a file's new length and tell, if it is time to."""
        known = self._lengths.get(digest)
        if known is not None:
            self._fetched_bytes += max(0, length_bytes - known)
        self._lengths[digest] = length_bytes
        self.tell(path)

    def tell(self, path: BundlePath, *, at_once: bool = False) -> None:
        """Send a progress event unless one was sent a moment ago."""
        now = self._clock()
        if not at_once and now - self._told_at < self._pause_s:
            return
        self._told_at = now
        rate = self._rate(now)
        received = self.received_bytes
        self._on_event(
            Progress(
                received_bytes=received,
                total_bytes=self._total_bytes,
                bytes_per_s=rate,
                eta_s=(self._total_bytes - received) / rate if rate > 0 else None,
                file=path,
            )
        )

    def _rate(self, now: float) -> float:
        self._samples.append((now, self._fetched_bytes))
        while len(self._samples) > 2 and now - self._samples[1][0] > _WINDOW_S:
            self._samples.popleft()
        since, before = self._samples[0]
        return (self._fetched_bytes - before) / (now - since) if now > since else 0.0
