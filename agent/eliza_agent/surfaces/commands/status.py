"""`eliza-agent status`."""

from __future__ import annotations

from pathlib import Path

import click

from eliza_agent.settings import read_settings
from eliza_agent.surfaces.status import status_document, status_exit_code, status_text
from eliza_agent.surfaces.verb import Answer, common_options, verb


@click.command("status")
@common_options
@verb
async def command(state_dir: Path | None, as_json: bool) -> Answer:
    """Show which Eliza-1 is active and whether it is proven.

    Leaves with 0 when Eliza-1 answers here, 9 when it is not set up, 7 when it is not proven or its files are gone.
    """
    document = status_document(read_settings(state_dir=state_dir).state_dir)
    return Answer(document=document, text=status_text(document), exit_code=status_exit_code(document))
