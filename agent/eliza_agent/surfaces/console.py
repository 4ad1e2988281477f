"""Setup's events as lines and one bar on a terminal, or as nothing when a program listens.

Everything here goes to stderr, so that stdout keeps the one answer. Decides nothing and waits for nothing.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from eliza_agent.download.events import FileDone, Planned, Retrying
from eliza_agent.download.events import Progress as BytesMoved
from eliza_agent.setup.prepare import SetupEvent
from eliza_agent.setup.stages import Stage, StageDone, StageStarted
from eliza_agent.surfaces.status import size_text
from eliza_agent.verify.report import StepReport

_DOING = {
    Stage.PROBE: "Looking at this device",
    Stage.MANIFEST: "Reading what the hub offers",
    Stage.FIT: "Checking that it fits",
    Stage.PLAN: "Planning the download",
    Stage.DOWNLOAD: "Downloading",
    Stage.PROVE_FILES: "Checking every file",
    Stage.PROVE_DEVICE: "Trying it on this device",
    Stage.ACTIVATE: "Activating",
}
_STEPS = {
    "load": "loads",
    "first_token": "thinks: first word",
    "first_phrase": "speaks: first phrase",
    "barge_in": "stops when interrupted",
    "vad": "hears when someone speaks",
    "hearing": "understands what is said",
    "sight": "sees pictures",
    "meaning": "tells texts apart",
}


class SetupConsole:
    """Shows setup events; a context manager. `quiet` shows nothing (for `--json`)."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._console = Console(file=sys.stderr, highlight=False, soft_wrap=True)
        self._bar: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close_bar()

    def __call__(self, event: SetupEvent) -> None:
        """Show one event."""
        if self._quiet:
            return
        match event:
            case Planned():
                self._open_bar(event)
            case BytesMoved():
                self._move_bar(event)
            case Retrying():
                self._line(f"  trying again: {event.message}")
            case StepReport():
                self._line(_step_line(event))
            case StageDone():
                self._done(event)
            case StageStarted(stage=Stage.PROVE_DEVICE):
                self._line(f"· {_DOING[Stage.PROVE_DEVICE]}")
            case StageStarted() | FileDone():
                pass

    def _done(self, event: StageDone) -> None:
        if event.stage is Stage.DOWNLOAD:
            self._close_bar()
        if event.stage is not Stage.PROVE_DEVICE:
            self._line(f"✓ {_DOING[event.stage]}: {_said(event)}{event.elapsed_ms / 1000:.1f} s")

    def _open_bar(self, planned: Planned) -> None:
        total, present = size_text(planned.total_bytes), size_text(planned.present_bytes)
        self._line(f"· {planned.files} files, {total}" + (f", {present} already here" if planned.present_bytes else ""))
        if self._console.is_terminal and planned.present_bytes < planned.total_bytes:
            columns = (TextColumn("  "), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task("bundle", total=planned.total_bytes, completed=planned.present_bytes)
            self._bar.start()

    def _move_bar(self, moved: BytesMoved) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=moved.received_bytes)

    def _close_bar(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _line(self, text: str) -> None:
        self._console.print(text, markup=False)


def _said(event: StageDone) -> str:
    facts = event.facts
    match event.stage:
        case Stage.MANIFEST:
            return f"version {facts['version']}, "
        case Stage.FIT:
            notes = "".join(f"{note} " for note in facts["notes"])
            return f"{'fits' if facts['level'] == 'fits' else 'fits tightly'}, {notes}"
        case Stage.DOWNLOAD:
            return f"{size_text(facts['sizeBytes'])} here and verified, "
        case Stage.PROVE_FILES:
            return f"{facts['files']} files are what they should be, "
        case _:
            return ""


def _step_line(step: StepReport) -> str:
    words = _STEPS.get(step.name, step.name.replace("_", " "))
    mark = "✓" if step.passed else "✗"
    return f"  {mark} {words} ({step.elapsed_ms:.0f} ms)"
