"""The patience and the appetite of a download, as one value.

Numbers only; settings or tests may pass others, and no other module of this folder holds a figure of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long to wait, how often to try, how much to do at once.

    `attempts` counts failures in a row that brought no new byte. `stall_s` is how long a running transfer may
    stay silent, `reply_s` how long a hub may think before it answers. `longest_retry_after_s` caps what a hub
    may ask us to wait; `reserve_bytes` stay free on the disk.
    """

    connect_s: float = 15.0
    reply_s: float = 30.0
    stall_s: float = 30.0
    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
    longest_retry_after_s: float = 120.0
    redirects: int = 6
    parallel_files: int = 3
    parallel_heads: int = 8
    reserve_bytes: int = 512 * MIB
    events_per_s: float = 10.0
    odd_replies: int = 2
