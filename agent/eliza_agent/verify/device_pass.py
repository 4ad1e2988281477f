"""Proves a bundle on this very device, through the same pipeline that will answer later.

Loads it, has it write a token that has text, speak a phrase that is judged, be interrupted in mid-speech, and tell
silence from sound, and use every sense that the manifest ships; each step against a deadline. Knows no store and
keeps nothing: the report is the caller's,
complete also when a step failed. Keeps contract section 7 (verified on device) and beats facts 5.6.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import anyio

from eliza_agent.phonemes import phonemise
from eliza_agent.runtime.bundle_files import BundleFiles, bundle_files
from eliza_agent.runtime.engine import Engine, EngineSettings, Library, open_engine
from eliza_agent.verify.device_steps import PassLimits, barge_in, first_phrase, first_token, load, vad
from eliza_agent.verify.perception_steps import hearing, meaning, sight
from eliza_agent.verify.report import ProvenBundle, StepReport, VerifyReport
from eliza_catalog.errors import ElizaError, VerifyError

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassSettings:
    """How a device pass runs."""

    limits: PassLimits = field(default_factory=PassLimits)
    engine: EngineSettings = field(default_factory=EngineSettings)
    phonemise: Callable[[str], str] = phonemise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    name: str
    reason: str
    deadline_s: float
    run: Callable[[Facts], Awaitable[None]]


async def prove_on_device(
    library: Library,
    proven: ProvenBundle,
    *,
    on_step: Callable[[StepReport], object] | None = None,
    settings: PassSettings | None = None,
) -> VerifyReport:
    """Run the device pass and return its report, passed or not; `require_passed` turns it into an error.

    Args:
        library: the opened native library.
        proven: the bundle, whose files were proven.
        on_step: told on the event loop after each step that ran.
        settings: deadlines and how the engine runs.

    Raises:
        ContractError: `contract.violated`, the manifest lacks a group that the pass needs.
    """
    chosen = settings or PassSettings()
    files = bundle_files(proven.manifest, proven.root)
    started_at = datetime.now(UTC)
    async with AsyncExitStack() as stack:
        engine = None

        async def opened() -> Engine:
            nonlocal engine
            if engine is None:
                opening = open_engine(library, files, settings=chosen.engine, phonemise=chosen.phonemise)
                engine = await stack.enter_async_context(opening)
            return engine

        steps = await _run_all(_plan(opened, files, chosen.limits), on_step)
    return VerifyReport(
        bundle_key=proven.key,
        manifest_sha256=proven.manifest.digest.hex,
        library_version=library.report().version,
        started_at=started_at,
        steps=tuple(steps),
    )


def _plan(opened: Callable[[], Awaitable[Engine]], files: BundleFiles, limits: PassLimits) -> list[_Step]:
    heard: Facts = {}

    def step(name: str, deadline_s: float, run: Callable[[Engine, Facts], Awaitable[None]]) -> _Step:
        async def bound(facts: Facts) -> None:
            await run(await opened(), facts)

        return _Step(name=name, reason=name, deadline_s=deadline_s, run=bound)

    steps = [
        step("load", limits.load_s, load),
        step("first_token", limits.first_token_s, first_token),
        step("first_phrase", limits.first_phrase_s, lambda engine, facts: first_phrase(engine, facts, heard)),
        step("barge_in", limits.barge_in_s, lambda engine, facts: barge_in(engine, facts, limits)),
    ]
    if files.vad is not None:
        steps.append(step("vad", limits.vad_s, lambda engine, facts: vad(engine, facts, heard)))
    if files.asr is not None:
        steps.append(step("hearing", limits.hearing_s, lambda engine, facts: hearing(engine, facts, heard)))
    if files.vision is not None:
        steps.append(step("sight", limits.sight_s, sight))
    if files.embedding is not None:
        steps.append(step("meaning", limits.meaning_s, meaning))
    return steps


async def _run_all(plan: list[_Step], on_step: Callable[[StepReport], object] | None) -> list[StepReport]:
    reports: list[StepReport] = []
    for at, step in enumerate(plan):
        report = await _run(step)
        reports.append(report)
        if on_step is not None:
            on_step(report)
        if not report.passed:
            reports.extend(_not_run(later) for later in plan[at + 1 :])
            break
    return reports


async def _run(step: _Step) -> StepReport:
    facts: Facts = {}
    error: ElizaError | None = None
    begun_s = time.monotonic()
    try:
        with anyio.fail_after(step.deadline_s):
            await step.run(facts)
    except TimeoutError:
        error = VerifyError("deadline", "This device was too slow in a check of Eliza-1.", details={"step": step.name})
    except VerifyError as fault:
        error = fault
    except ElizaError as fault:
        cause = fault.as_json()
        error = VerifyError(step.reason, fault.message, remedy=fault.remedy, details={"cause": cause})
    elapsed_ms = (time.monotonic() - begun_s) * 1000
    return StepReport(
        name=step.name,
        passed=error is None,
        elapsed_ms=elapsed_ms,
        deadline_ms=step.deadline_s * 1000,
        facts=facts,
        error=None if error is None else error.as_json(),
    )


def _not_run(step: _Step) -> StepReport:
    facts = {"notRun": "an earlier step failed"}
    return StepReport(name=step.name, passed=False, elapsed_ms=0.0, deadline_ms=step.deadline_s * 1000, facts=facts)
