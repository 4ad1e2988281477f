"""`eliza-agent probe`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from eliza_agent.settings import read_settings
from eliza_agent.setup.prepare import look_at_host
from eliza_agent.surfaces.status import size_text
from eliza_agent.surfaces.verb import Answer, common_options, verb
from eliza_capabilities.recommend import Recommendation, first_run_tier, recommend_tiers
from eliza_capabilities.report import Absent, HostReport
from eliza_catalog.tiers import TIERS
from eliza_catalog.words import display_name


@click.command("probe")
@common_options
@verb
async def command(state_dir: Path | None, as_json: bool) -> Answer:
    """Show what this device offers and which Eliza-1 sizes fit, each with its reasons if not."""
    settings = read_settings(state_dir=state_dir)
    library, host = await look_at_host(settings.library, settings.state_dir)
    tiers = recommend_tiers(host, TIERS.values(), headroom_mib=settings.headroom_mib)
    first = first_run_tier(tiers)
    document: dict[str, Any] = {
        **host.as_json(),
        "libraryPath": str(library.path),
        "tiers": [_tier_document(tier) for tier in tiers],
        "recommended": first.value if first else None,
    }
    return Answer(document=document, text="\n".join([*_host_lines(host), "", *map(_tier_line, tiers)]))


def _tier_document(tier: Recommendation) -> dict[str, Any]:
    reasons = [reason.as_json() for reason in tier.reasons]
    return {"tier": tier.tier.value, "offered": tier.is_offered, "level": tier.level.value, "reasons": reasons}


def _host_lines(host: HostReport) -> list[str]:
    machine, memory, storage = host.machine, host.memory, host.storage
    cores = f"{_shown(machine.physical_cores)} cores, {_shown(machine.logical_cores)} threads"
    lines = [
        f"processor  {_shown(machine.cpu_model)} ({machine.arch}, {cores})",
        f"memory     {memory.total_mib} MiB, {memory.available_mib} MiB free (limit: {memory.limit_source})",
        f"disk       {size_text(storage.free_bytes)} free of {size_text(storage.total_bytes)}",
        f"library    {host.library}",
    ]
    for backend in host.backends:
        names = ", ".join(device.description or device.name for device in backend.devices) or "no device"
        lines.append(
            f"computes   {backend.backend.value}: {names}" + ("" if backend.usable else f" ({backend.reason})")
        )
    battery, metered = host.conditions.on_battery, host.conditions.metered
    lines.append(f"conditions on battery: {_shown(battery)}, metered network: {_shown(metered)}")
    return [*lines, f"looked at in {host.probe_ms} ms"]


def _shown(value: object) -> str:
    if isinstance(value, Absent):
        return f"unknown ({value.reason})"
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _tier_line(tier: Recommendation) -> str:
    name = display_name(tier.tier)
    if tier.is_offered:
        return f"{name}: {'fits' if tier.level.value == 'fits' else 'fits tightly'}"
    return "\n".join([f"{name}: not here", *(f"    {reason.message}" for reason in tier.reasons)])
