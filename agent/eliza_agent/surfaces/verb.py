"""What every verb shares: its common options, its one document on stdout, its errors and exit codes.

A verb is a coroutine that returns an `Answer`; this room runs it, shows the answer as text or as one JSON
document, and shows whatever failed as `{code, message, remedy, details}` on stderr.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import anyio
import click

from eliza_agent.log import log_level, open_log
from eliza_agent.surfaces.interruption import until_interrupted
from eliza_agent.surfaces.leaving import (
    as_product_error,
    innermost,
    leave_interrupted,
    leave_unheard,
    leave_with,
    say,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a verb has to say: one JSON document and the same for people."""

    document: Mapping[str, Any]
    text: str
    exit_code: int = 0


def common_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--json` and `--state-dir`."""
    function = click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document.")(function)
    return click.option(
        "--state-dir",
        type=click.Path(file_okay=False, path_type=Path),
        help="Folder that holds everything Eliza-1 keeps (environment: ELIZA_STATE_DIR).",
    )(function)


def verb(function: Callable[..., Awaitable[Answer]] | Callable[..., Answer]) -> Callable[..., None]:
    """Turn a function or coroutine that returns an `Answer` into a click callback; it receives `as_json` too."""

    @functools.wraps(function)
    def run(**options: Any) -> None:
        as_json = bool(options.get("as_json"))
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on there is something to unwind
            open_log(log_level(os.environ))
            answer = _answered(functools.partial(function, **options))
            if as_json or answer.text:
                say(json.dumps(answer.document, ensure_ascii=False, indent=2) if as_json else answer.text)
        except BaseException as error:  # noqa: BLE001 - the one place where every failure becomes a document
            _leave(innermost(error), as_json)
        sys.exit(answer.exit_code)

    return run


def _answered(call: Callable[[], Answer] | Callable[[], Awaitable[Answer]]) -> Answer:
    if inspect.iscoroutinefunction(call):
        spoken: Answer = anyio.run(until_interrupted, call)
        return spoken
    answer = call()
    assert isinstance(answer, Answer)
    return answer


def _leave(error: BaseException, as_json: bool) -> NoReturn:
    if isinstance(error, KeyboardInterrupt):
        leave_interrupted(as_json)
    if isinstance(error, BrokenPipeError):
        leave_unheard()
    if isinstance(error, (SystemExit, click.Abort, click.ClickException, click.exceptions.Exit)):
        raise error
    leave_with(as_product_error(error), as_json)


__all__ = ["Answer", "common_options", "verb"]
