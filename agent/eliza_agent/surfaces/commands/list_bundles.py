"""`eliza-agent list`."""

from __future__ import annotations

from pathlib import Path

import click

from eliza_agent.settings import read_settings
from eliza_agent.store.active import ActiveFile
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.registry import Registry
from eliza_agent.surfaces.status import ago, size_text
from eliza_agent.surfaces.verb import Answer, common_options, verb
from eliza_catalog.words import display_name


@click.command("list")
@common_options
@verb
async def command(state_dir: Path | None, as_json: bool) -> Answer:
    """List the installed Eliza-1 versions, oldest first; `*` marks the active one."""
    layout = StateLayout(read_settings(state_dir=state_dir).state_dir)
    active = ActiveFile(layout).read().active
    rows, lines = [], []
    for bundle in Registry(layout).list():
        name = display_name(bundle.tier, standin=bundle.is_standin)
        proven = bundle.proven_at.isoformat() if bundle.proven_at else None
        rows.append(
            {
                "key": bundle.key,
                "name": name,
                "version": bundle.version,
                "sizeBytes": bundle.size_bytes,
                "provenAt": proven,
                "standin": bundle.is_standin,
                "active": bundle.key == active,
            }
        )
        mark = "*" if bundle.key == active else " "
        proof = f"proven {ago(proven)}" if proven else "not proven"
        lines.append(f"{mark} {bundle.key}\n    {name}, {size_text(bundle.size_bytes)}, {proof}")
    text = "\n".join(lines) or "No Eliza-1 is installed.\nRun `eliza-agent setup` to begin."
    return Answer(document={"bundles": rows}, text=text)
