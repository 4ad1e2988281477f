"""What a download tells while it runs: one bar for the whole bundle.

Frozen values only; nothing here measures or prints. Bytes count what the bundle needs, so that what is
already on the disk is received from the start (contract section 7: one download for the user).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from eliza_catalog.terms import BundlePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The sizes are known and fit on the disk; bytes flow next."""

    total_bytes: int
    files: int
    present_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far the bundle is. `eta_s` is None while no rate is known; `file` is one that moves right now."""

    received_bytes: int
    total_bytes: int
    bytes_per_s: float
    eta_s: float | None
    file: BundlePath


@dataclass(frozen=True, slots=True, kw_only=True)
class FileDone:
    """One file has its promised digest and is in the store; `was_present` when nothing was fetched for it."""

    file: BundlePath
    size_bytes: int
    was_present: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """A transfer of one file failed and is tried again; `code` is the error's."""

    file: BundlePath
    code: str
    message: str


DownloadEvent: TypeAlias = Planned | Progress | FileDone | Retrying
OnEvent: TypeAlias = Callable[[DownloadEvent], None]
