"""`eliza-agent remove`."""

from __future__ import annotations

from pathlib import Path

import click
from anyio import to_thread

from eliza_agent.settings import read_settings
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.removal import remove_bundle
from eliza_agent.surfaces.status import size_text
from eliza_agent.surfaces.verb import Answer, common_options, verb


@click.command("remove")
@click.argument("key")
@common_options
@verb
async def command(key: str, state_dir: Path | None, as_json: bool) -> Answer:
    """Delete an installed Eliza-1 and free its disk space; KEY is as `eliza-agent list` shows it.

    The active one is never removed: activate another first, or roll back.
    """
    layout = StateLayout(read_settings(state_dir=state_dir).state_dir)
    freed = await to_thread.run_sync(remove_bundle, layout, key)
    return Answer(document={"removed": key, "freedBytes": freed}, text=f"Removed {key}; {size_text(freed)} freed.")
