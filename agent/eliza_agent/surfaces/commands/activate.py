"""`eliza-agent activate`."""

from __future__ import annotations

from pathlib import Path

import click
from anyio import to_thread

from eliza_agent.settings import read_settings
from eliza_agent.setup.activate import activate_bundle
from eliza_agent.store.layout import StateLayout
from eliza_agent.surfaces.status import status_document, status_text
from eliza_agent.surfaces.verb import Answer, common_options, verb


@click.command("activate")
@click.argument("key")
@common_options
@verb
async def command(key: str, state_dir: Path | None, as_json: bool) -> Answer:
    """Make an installed, proven Eliza-1 the one that answers; KEY is as `eliza-agent list` shows it."""
    settings = read_settings(state_dir=state_dir)
    await to_thread.run_sync(activate_bundle, StateLayout(settings.state_dir), key)
    document = status_document(settings.state_dir)
    return Answer(document=document, text=status_text(document))
