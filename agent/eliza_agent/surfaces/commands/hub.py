"""`eliza-agent hub`."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import click

from eliza_agent.hub.serve import LOOPBACK, serve_hub
from eliza_agent.surfaces.leaving import say
from eliza_agent.surfaces.verb import common_options, verb


@click.command("hub")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--host", default=LOOPBACK, show_default=True, help="Address to listen on; 0.0.0.0 serves the network.")
@click.option("--port", default=8787, show_default=True, type=click.IntRange(0, 65535), help="Port; 0 picks one.")
@click.option(
    "--request-log", type=click.Path(dir_okay=False, path_type=Path), help="Write each request as a JSON line."
)
@common_options
@verb
def command(
    folder: Path, host: str, port: int, request_log: Path | None, state_dir: Path | None, as_json: bool
) -> NoReturn:
    """Serve a folder of bundles to other devices, with resumable downloads; Ctrl-C ends it.

    FOLDER holds `<owner>/<repository>/bundles/<size>/…`, or the bundles folder's parent itself. On the other device:
    `eliza-agent setup --hub http://THIS-MACHINE:8787`.
    """

    def ready(address: str) -> None:
        say(json.dumps({"hub": address}) if as_json else f"Serving {folder} at {address} (Ctrl-C ends it)")

    with suppress(KeyboardInterrupt):
        serve_hub(folder, host=host, port=port, request_log=request_log, on_ready=ready)
    sys.exit(0)  # the one document was said when the hub began
