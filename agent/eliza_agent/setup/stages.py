"""Which rung of the setup comes next, and the events that tell the user about it.

Pure: takes what was read from the disk and says which rung is due, so that a first setup, a resumed one and
`verify` alone are the same path. Opens nothing and waits for nothing (house rules, section 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Stage(StrEnum):
    """The rungs, in order. `READY` means that nothing is left to do."""

    PROBE = "probe"
    MANIFEST = "manifest"
    FIT = "fit"
    PLAN = "plan"
    DOWNLOAD = "download"
    PROVE_FILES = "prove-files"
    PROVE_DEVICE = "prove-device"
    ACTIVATE = "activate"
    READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFacts:
    """What the disk says about one bundle version.

    `published`: its tree lies in the store. `files_proven`: every file was hashed against the manifest.
    `device_proven`: a kept report of this very manifest and this very library passed. `active`: it answers.
    """

    published: bool
    files_proven: bool
    device_proven: bool
    active: bool


def next_stage(facts: BundleFacts) -> Stage:
    """Return the rung that is due for a bundle that was judged fit.

    A rung counts only if every rung before it does: an active pointer does not excuse a missing proof.
    """
    if not facts.published:
        return Stage.DOWNLOAD
    if not facts.files_proven:
        return Stage.PROVE_FILES
    if not facts.device_proven:
        return Stage.PROVE_DEVICE
    return Stage.READY if facts.active else Stage.ACTIVATE


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStarted:
    """A rung begins."""

    stage: Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageDone:
    """A rung is done; `facts` are JSON values that a surface may show."""

    stage: Stage
    elapsed_ms: int
    facts: dict[str, Any]
