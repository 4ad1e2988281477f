"""Runs a text stream to the end of its turn and adds up what its steps told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eliza_native.context import Context
from eliza_native.text import EndReason, Step, StreamConfig, TextStream

ROOM = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One whole turn."""

    steps: tuple[Step, ...]

    @property
    def text(self) -> str:
        return "".join(step.text for step in self.steps)

    @property
    def tokens(self) -> tuple[int, ...]:
        return tuple(token for step in self.steps for token in step.tokens)

    @property
    def drafted(self) -> int:
        return sum(step.drafted for step in self.steps)

    @property
    def accepted(self) -> int:
        return sum(step.accepted for step in self.steps)

    @property
    def end_reason(self) -> EndReason:
        return self.steps[-1].end_reason


def finish(stream: TextStream) -> Turn:
    """Step until the turn ends."""
    steps = [stream.next()]
    while not steps[-1].final:
        steps.append(stream.next())
    return Turn(steps=tuple(steps))


def run(context: Context, prompt: list[int], config: StreamConfig) -> Turn:
    """Run one turn on a stream of its own."""
    with TextStream(context, config) as stream:
        stream.prefill(prompt)
        return finish(stream)


def mtp_drafter(context: Context) -> Path:
    """Return the drafter that the bundle carries."""
    return context.bundle_dir / "mtp" / "drafter-2b.gguf"


def prompt_of(seed: int, size: int = 12) -> list[int]:
    """Return ordinary token ids that depend on `seed`."""
    return [11 + (place * 53 + seed * 29) % 250 for place in range(size)]
