"""From nothing to a plan: ask the library, look at the host, read the manifest, judge it, plan.

Fetches the manifest and not one weight byte; whatever does not fit ends here with every reason. Keeps contract
section 7, rules 1 and 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from anyio import to_thread

from eliza_agent.download.events import DownloadEvent
from eliza_agent.download.plan import DownloadPlan, make_plan
from eliza_agent.download.source import HubSource
from eliza_agent.download.transport import Transport
from eliza_agent.setup.library_facts import library_facts
from eliza_agent.setup.stages import Stage, StageDone, StageStarted
from eliza_agent.store.layout import StateLayout
from eliza_agent.verify.report import StepReport
from eliza_capabilities.fit import AcceptedFit, Refusal, judge_fit
from eliza_capabilities.probe import probe_host
from eliza_capabilities.report import HostReport
from eliza_catalog.contract import judge_manifest
from eliza_catalog.decode import decode_manifest
from eliza_catalog.terms import Tier
from eliza_catalog.tiers import bundle_folder
from eliza_native.library import Library, open_library

SetupEvent: TypeAlias = StageStarted | StageDone | DownloadEvent | StepReport
OnSetupEvent: TypeAlias = Callable[[SetupEvent], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupRequest:
    """What is to be set up, from where, and into which state folder."""

    layout: StateLayout
    source: HubSource
    tier: Tier
    allow_standin: bool
    headroom_mib: int
    library_path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan that may be carried out, and what it stands on."""

    request: SetupRequest
    library: Library
    host: HostReport
    fit: AcceptedFit
    plan: DownloadPlan


@dataclass(slots=True)
class RungFacts:
    """What a rung found out, filled while it runs."""

    values: dict[str, Any] = field(default_factory=dict)


@contextmanager
def rung(stage: Stage, on_event: OnSetupEvent) -> Iterator[RungFacts]:
    """Tell that a rung begins and, unless it fails, that it is done."""
    on_event(StageStarted(stage=stage))
    began = time.monotonic()
    facts = RungFacts()
    yield facts
    elapsed_ms = round((time.monotonic() - began) * 1000)
    on_event(StageDone(stage=stage, elapsed_ms=elapsed_ms, facts=facts.values))


async def look_at_host(library_path: Path | None, state_dir: Path) -> tuple[Library, HostReport]:
    """Open the library, ask it, and probe the host.

    Raises:
        NativeError: the library is absent or of another ABI.
        FitError: `fit.host_unreadable`.
    """
    library = await to_thread.run_sync(open_library, library_path)
    report = await to_thread.run_sync(library.report)
    return library, await probe_host(library_facts(report), state_dir)


async def prepare(request: SetupRequest, on_event: OnSetupEvent) -> Prepared:
    """Climb from probe to plan.

    Raises:
        NativeError, FitError: the host or its library cannot be used.
        DownloadError, ManifestError: the manifest cannot be had or read.
        ContractError: it breaks the contract, or is a stand-in that was not asked for.
        FitError: `fit.refused` with every reason in `details.reasons`.
    """
    with rung(Stage.PROBE, on_event) as facts:
        library, host = await look_at_host(request.library_path, request.layout.root)
        facts.values = {"probeMs": host.probe_ms, "library": host.library}
    with rung(Stage.MANIFEST, on_event) as facts:
        async with Transport(request.source) as transport:
            fetched = await transport.fetch_manifest(bundle_folder(request.tier))
        servable = judge_manifest(decode_manifest(fetched.data), allow_standin=request.allow_standin)
        facts.values = {"version": servable.manifest.version, "revision": fetched.source.revision}
    with rung(Stage.FIT, on_event) as facts:
        fit = judge_fit(host, servable, headroom_mib=request.headroom_mib)
        if isinstance(fit, Refusal):
            raise fit.error()
        facts.values = {"level": fit.level.value, "contextTokens": fit.context_tokens, "notes": list(fit.notes)}
    with rung(Stage.PLAN, on_event) as facts:
        plan = make_plan(fit, fetched)
        facts.values = {"files": len(plan.files)}
    return Prepared(request=request, library=library, host=host, fit=fit, plan=plan)
