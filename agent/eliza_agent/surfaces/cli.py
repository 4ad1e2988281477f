"""`eliza-agent`: the command line.

A table of verbs, each loaded only when it is asked for, so that `status` answers at once. Knows nothing of
bundles; turns errors into `{code, message, remedy, details}` and exit codes (house rules, section 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from eliza_agent.surfaces.leaving import leave_interrupted, leave_with
from eliza_catalog.errors import ExitCode, SettingsError

VERBS: dict[str, tuple[str, str]] = {
    "setup": ("setup", "Put Eliza-1 on this device: check, download, prove, activate."),
    "status": ("status", "Show which Eliza-1 is active and whether it is proven."),
    "ask": ("ask", "Ask Eliza-1 one question; --speak writes the answer as speech."),
    "probe": ("probe", "Show what this device offers and which Eliza-1 sizes fit."),
    "verify": ("verify", "Prove an installed Eliza-1 again: files, one token, one phrase, barge-in."),
    "list": ("list_bundles", "List the installed Eliza-1 versions."),
    "activate": ("activate", "Make an installed, proven Eliza-1 the one that answers."),
    "rollback": ("rollback", "Go back to the Eliza-1 that was active before."),
    "remove": ("remove", "Delete an installed Eliza-1 and free its disk space."),
    "demo": ("demo", "Show the whole journey with a stand-in from a local hub."),
    "hub": ("hub", "Serve a folder of bundles to other devices (mirror, offline room)."),
}

EPILOG = (
    "Exit codes: 0 ok, 1 other, 2 usage, 3 refused or incompatible, 4 network, 5 integrity, "
    "6 disk or permission, 7 verification failed, 8 busy, 9 not set up, 130 interrupted."
)


class LazyVerbs(click.Group):
    """A group whose commands live in `surfaces.commands` and load on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the verbs in the order of the user's journey."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one verb."""
        if cmd_name not in VERBS:
            return None
        command = import_module(f"eliza_agent.surfaces.commands.{VERBS[cmd_name][0]}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of verbs without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(verb, text) for verb, (_, text) in VERBS.items()])


@click.group(cls=LazyVerbs, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="eliza-agent", prog_name="eliza-agent")
def cli() -> None:
    """Eliza-1 on your own device: one download, and it hears, thinks, speaks and sees.

    Start with `eliza-agent setup`, then `eliza-agent ask "Hello"`.
    """


def run_words(words: Sequence[str], *, as_json: bool) -> int:
    """Run one command line and return the exit code; what the parser refuses is told as `--json` asks."""
    try:
        code: Any = cli.main(
            args=list(words), prog_name="eliza-agent", standalone_mode=False, windows_expand_args=False
        )
    except click.ClickException as refusal:
        if not as_json:
            refusal.show()
            return refusal.exit_code
        remedy = "Run the command with --help to see what it accepts."
        leave_with(SettingsError("bad_value", refusal.format_message(), remedy=remedy), as_json)
    except click.Abort as stop:
        if isinstance(stop.__cause__, KeyboardInterrupt):
            leave_interrupted(as_json)
        click.echo("Stopped; nothing was changed.", err=True)
        return int(ExitCode.OTHER)
    return code if isinstance(code, int) else 0
