"""`eliza-agent verify`."""

from __future__ import annotations

from pathlib import Path

import click
from anyio import to_thread

from eliza_agent.settings import read_settings
from eliza_agent.setup.job import verify_installed
from eliza_agent.store.active import ActiveFile
from eliza_agent.store.layout import StateLayout
from eliza_agent.surfaces.console import SetupConsole
from eliza_agent.surfaces.verb import Answer, common_options, verb
from eliza_catalog.errors import ActivationError
from eliza_native.library import open_library


@click.command("verify")
@click.argument("key", required=False)
@common_options
@verb
async def command(key: str | None, state_dir: Path | None, as_json: bool) -> Answer:
    """Prove an installed Eliza-1 again: every file, one word, one spoken phrase, one interruption.

    KEY is as `eliza-agent list` shows it; without it, the active one. The report is kept and shown.
    """
    settings = read_settings(state_dir=state_dir)
    layout = StateLayout(settings.state_dir)
    chosen = key or ActiveFile(layout).read().active
    if chosen is None:
        raise ActivationError("nothing_active", "No Eliza-1 is active on this device.")
    library = await to_thread.run_sync(open_library, settings.library)
    with SetupConsole(quiet=as_json) as console:
        report = await verify_installed(layout, library, chosen, console)
    text = f"{chosen} is proven on this device ({report.elapsed_ms / 1000:.1f} s).\nReport: {layout.report(chosen)}"
    return Answer(document=report.as_json(), text=text)
