"""`eliza-agent rollback`."""

from __future__ import annotations

from pathlib import Path

import click
from anyio import to_thread

from eliza_agent.settings import read_settings
from eliza_agent.setup.activate import roll_back
from eliza_agent.store.layout import StateLayout
from eliza_agent.surfaces.status import status_document, status_text
from eliza_agent.surfaces.verb import Answer, common_options, verb


@click.command("rollback")
@common_options
@verb
async def command(state_dir: Path | None, as_json: bool) -> Answer:
    """Go back to the Eliza-1 that was active before; a second rollback undoes the first."""
    settings = read_settings(state_dir=state_dir)
    await to_thread.run_sync(roll_back, StateLayout(settings.state_dir))
    document = status_document(settings.state_dir)
    return Answer(document=document, text=status_text(document))
