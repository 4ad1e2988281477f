"""`eliza-agent setup`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from eliza_agent.download.source import HubSource
from eliza_agent.settings import Settings, read_settings
from eliza_agent.setup.job import SetupOutcome, carry_out
from eliza_agent.setup.prepare import Prepared, SetupRequest, prepare
from eliza_agent.store.layout import StateLayout
from eliza_agent.surfaces.console import SetupConsole
from eliza_agent.surfaces.interruption import plain_ctrl_c
from eliza_agent.surfaces.status import status_document, status_text
from eliza_agent.surfaces.verb import Answer, common_options, verb
from eliza_catalog.errors import SettingsError
from eliza_catalog.terms import Tier
from eliza_catalog.tiers import tier_from_name
from eliza_catalog.words import display_name_of


@click.command("setup")
@click.option("--hub", help="Address of the hub (environment: ELIZA_HF_BASE_URL).")
@click.option("--tier", help="Eliza-1 size: 2b, 4b, 9b, 27b or 27b-256k (environment: ELIZA_TIER; default 2b).")
@click.option("--allow-standin", is_flag=True, help="Accept a stand-in for demonstrations.")
@click.option("--yes", is_flag=True, help="Do not ask before the download.")
@common_options
@verb
async def command(**options: Any) -> Answer:
    """Put Eliza-1 on this device: check, download, prove, activate.

    Reads the manifest before anything large, and refuses with every reason what does not fit. Ctrl-C loses nothing:
    run the same command again and it continues.
    """
    settings = read_settings(state_dir=options["state_dir"], hub=options["hub"], tier=options["tier"])
    request = setup_request(settings, allow_standin=options["allow_standin"])
    ask = not (options["yes"] or options["as_json"])
    with SetupConsole(quiet=options["as_json"]) as console:
        prepared = await prepare(request, console)
        if ask:
            ask_once(prepared)
        outcome = await carry_out(prepared, console)
    return setup_answer(settings.state_dir, outcome)


def setup_request(settings: Settings, *, allow_standin: bool) -> SetupRequest:
    """Return what the settings ask for.

    Raises:
        SettingsError: `settings.bad_value` for a size or hub that is none.
    """
    return SetupRequest(
        layout=StateLayout(settings.state_dir),
        source=HubSource(base_url=settings.hub, token=settings.hub_token, allow_plain_http=settings.hub_was_named),
        tier=known_tier(settings.tier),
        allow_standin=allow_standin,
        headroom_mib=settings.headroom_mib,
        library_path=settings.library,
    )


def known_tier(name: str) -> Tier:
    """Return the size that `name` means.

    Raises:
        SettingsError: `settings.bad_value`.
    """
    tier = tier_from_name(name)
    if tier is None:
        sizes = ", ".join(Tier)
        raise SettingsError("bad_value", f"'{name}' is no Eliza-1 size.", remedy=f"Use one of: {sizes}.")
    return tier


def ask_once(prepared: Prepared) -> None:
    """Ask before the download, where a person can answer; without a terminal the command itself was the answer.

    Raises:
        click.Abort: the person said no.
    """
    if sys.stdin.isatty():
        name = display_name_of(prepared.plan.manifest)
        with plain_ctrl_c():
            click.confirm(
                f"Set up {name} {prepared.plan.manifest.version} on this device?", default=True, abort=True, err=True
            )


def setup_answer(state_dir: Path, outcome: SetupOutcome) -> Answer:
    """Return what setup came to: the status, and the proof's report."""
    status = status_document(state_dir)
    text = f'{status_text(status)}\n\nNext: eliza-agent ask "What can you do?" --speak answer.wav'
    return Answer(document={"status": status, "report": outcome.report.as_json()}, text=text)
