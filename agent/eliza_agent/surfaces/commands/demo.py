"""`eliza-agent demo`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from anyio import to_thread

from eliza_agent.hub.serve import running_hub
from eliza_agent.settings import read_settings
from eliza_agent.setup.job import carry_out
from eliza_agent.setup.prepare import prepare
from eliza_agent.surfaces.commands.setup import setup_request
from eliza_agent.surfaces.console import SetupConsole
from eliza_agent.surfaces.status import status_document, status_text
from eliza_agent.surfaces.talk import answer_once
from eliza_agent.surfaces.verb import Answer, common_options, verb

MOST_TOKENS = 128
QUESTION = "Why is the sky blue?"


@click.command("demo")
@click.option(
    "--parts",
    type=click.Choice(["small", "tiny"]),
    default="small",
    show_default=True,
    help="small: real public models, about 270 MB once; tiny: generated, a few MB, no sense.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".demo"),
    show_default=True,
    help="Where the local hub, the models and the demo's own state are kept.",
)
@click.option("--question", default=QUESTION, show_default=True, help="What to ask.")
@common_options
@verb
async def command(**options: Any) -> Answer:
    """Show the whole journey with a stand-in from a local hub: set up for real, then one answer, written and spoken.

    The stand-in has the shape of an Eliza-1 bundle and real but small public models in it. Its state is kept apart
    from a real Eliza-1 on this device.
    """
    folder, as_json = options["folder"].absolute(), options["as_json"]
    state_dir = options["state_dir"] or folder / "state"
    await to_thread.run_sync(lambda: stage_demo(options["parts"], folder, quiet=as_json))
    with SetupConsole(quiet=as_json) as console:
        async with running_hub(folder / "hub", request_log=folder / "hub-requests.jsonl") as hub:
            settings = read_settings(state_dir=state_dir, hub=hub.url, tier="2b")
            prepared = await prepare(setup_request(settings, allow_standin=True), console)
            outcome = await carry_out(prepared, console)
    status = status_document(state_dir)
    tell = (lambda text: None) if as_json else click.echo
    tell(f"\n{status_text(status)}\n\nYou: {options['question']}")
    wav = folder / "answer.wav"
    turn = await answer_once(settings, options["question"], speak_to=wav, quiet=as_json, most_tokens=MOST_TOKENS)
    document = {"status": status, "report": outcome.report.as_json(), "turn": turn}
    return Answer(document=document, text=what_next(state_dir, wav))


def stage_demo(kind: str, folder: Path, *, quiet: bool) -> None:
    """Make and stage the demo bundle below `folder/hub`; a second time nothing is made anew.

    Raises:
        DownloadError: a public model cannot be fetched.
        SettingsError: the publisher's packages are not installed.
        StorageError: the disk refuses.
    """
    from eliza_catalog.parts.__main__ import make_demo_hub  # the publisher's side, with its larger libraries

    if not quiet:
        click.echo(f"· Making the demonstration bundle ({kind} parts)", err=True)
    make_demo_hub(kind, folder / "hub", folder / "parts")


def what_next(state_dir: Path, wav: Path) -> str:
    """Return what to type after the demo."""
    prefix = f"ELIZA_STATE_DIR={shlex.quote(str(state_dir))} eliza-agent"
    return "\n".join(
        [
            "",
            f"The same answer, spoken: {wav}",
            "",
            "Next (in this shell: `. .venv/bin/activate` first):",
            f'  {prefix} ask "Tell me about the sea." --speak sea.wav',
            f"  {prefix} status",
            f"  {prefix} verify",
            "  eliza-agent probe       # what this device offers, and which real Eliza-1 fits",
        ]
    )
