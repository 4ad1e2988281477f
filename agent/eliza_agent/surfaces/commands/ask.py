"""`eliza-agent ask`."""

from __future__ import annotations

from pathlib import Path

import click

from eliza_agent.settings import read_settings
from eliza_agent.surfaces.talk import MOST_TOKENS, answer_once
from eliza_agent.surfaces.verb import Answer, common_options, verb


@click.command("ask")
@click.argument("question")
@click.option(
    "--max-tokens",
    type=click.IntRange(1, MOST_TOKENS),
    default=MOST_TOKENS,
    show_default=True,
    help="Cut a longer answer here; a token is about three quarters of a word.",
)
@click.option("--speak", type=click.Path(dir_okay=False, path_type=Path), help="Write the answer as speech (WAV).")
@common_options
@verb
async def command(question: str, max_tokens: int, speak: Path | None, state_dir: Path | None, as_json: bool) -> Answer:
    """Ask the active Eliza-1 one question; the answer streams to the terminal."""
    if not question.strip() or not is_text(question):
        raise click.BadParameter("must be a question in words.", param_hint="QUESTION")
    settings = read_settings(state_dir=state_dir)
    turn = await answer_once(settings, question, speak_to=speak, quiet=as_json, most_tokens=max_tokens)
    return Answer(document=turn, text=f"Spoken: {speak}" if speak else "")


def is_text(words: str) -> bool:
    """Whether the terminal gave whole characters, not bytes that no text is made of."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True
