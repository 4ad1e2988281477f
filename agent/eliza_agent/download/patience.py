"""How long to go on trying: bounded, jittered, and new with every byte that arrived.

Decides only: the transport's retry loop asks it and does the waiting. Honours what a hub asks us to wait
(contract section 7; facts 5.4 Retries).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from eliza_agent.download.limits import Limits
from eliza_catalog.errors import DownloadError

_PASSING = {408, 425, 429, 500, 502, 503, 504}
_ALWAYS = {"offline", "timeout", "stalled"}


def is_worth_retrying(error: BaseException) -> bool:
    """Whether the same request may succeed a moment later."""
    if not isinstance(error, DownloadError):
        return False
    if error.reason == "http_status":
        return error.details.get("status") in _PASSING or bool(error.details.get("expired"))
    return error.reason in _ALWAYS


class Patience:
    """Counts failures in a row and says how long to wait; `progress` only ever grows."""

    def __init__(self, limits: Limits, progress: Callable[[], int]) -> None:
        self._limits = limits
        self._progress = progress
        self._best = progress()
        self._failures = 0

    def note(self) -> None:
        """Count one failure; progress since the last one makes it the first again."""
        now = self._progress()
        self._failures = 1 if now > self._best else self._failures + 1
        self._best = max(self._best, now)

    def is_exhausted(self) -> bool:
        """Whether it failed too often in a row."""
        return self._failures >= self._limits.attempts

    def wait_s(self, error: BaseException | None) -> float:
        """Return how long to wait: what the hub asked for, else a jittered, doubling back-off in seconds."""
        asked = error.details.get("retry_after_s") if isinstance(error, DownloadError) else None
        if asked is not None:
            return float(asked)
        ceiling = min(self._limits.longest_wait_s, self._limits.first_wait_s * 2.0 ** (self._failures - 1))
        return ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - spreads clients out, guards nothing
