"""What every verb shares: its common options, its one document on stdout, its errors and exit codes.

A verb is a coroutine that returns an `Answer`; this room runs it, shows the answer as text or as one JSON
document, and shows whatever failed as `{code, message, remedy, details}` on stderr.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import anyio
import click

from eliza_agent.log import open_log
from eliza_catalog.errors import ElizaError, ExitCode, InternalError

INTERRUPTED = 130


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
        open_log(os.environ.get("ELIZA_LOG", "warning"))
        try:
            answer = _answered(functools.partial(function, **options))
        except KeyboardInterrupt:
            leave_interrupted(as_json)
        except BaseException as error:  # noqa: BLE001 - the one place where every failure becomes a document
            leave_with(sole_failure(error), as_json)
        click.echo(json.dumps(answer.document, ensure_ascii=False, indent=2) if as_json else answer.text)
        sys.exit(answer.exit_code)

    return run


def _answered(call: Callable[[], Answer] | Callable[[], Awaitable[Answer]]) -> Answer:
    if inspect.iscoroutinefunction(call):
        spoken: Answer = anyio.run(call)
        return spoken
    answer = call()
    assert isinstance(answer, Answer)
    return answer


def sole_failure(error: BaseException) -> ElizaError:
    """Return the product error inside `error`; anything unexpected becomes `internal.broken_promise`.

    Task groups wrap what they catch; the first product error found inside is what the user needs.
    """
    if isinstance(error, ElizaError):
        return error
    if isinstance(error, BaseExceptionGroup):
        inner = [sole_failure(part) for part in error.exceptions]
        return next((part for part in inner if not isinstance(part, InternalError)), inner[0])
    if isinstance(error, (SystemExit, click.Abort, click.ClickException, click.exceptions.Exit)):
        raise error
    if os.environ.get("ELIZA_LOG") == "debug":
        raise error
    fault = f"{type(error).__name__}: {error}"
    return InternalError("broken_promise", "Something inside eliza-agent went wrong.", details={"fault": fault})


def leave_with(error: ElizaError, as_json: bool) -> NoReturn:
    """Show `error` on stderr and leave with its exit code."""
    if as_json:
        click.echo(json.dumps(error.as_json(), ensure_ascii=False, indent=2, default=str), err=True)
    else:
        click.echo(f"{error.message}\n{_reasons(error)}{error.remedy}  [{error.code}]", err=True)
    sys.exit(int(error.exit_code))


def _reasons(error: ElizaError) -> str:
    """Every single reason on its own line, where the error carries several."""
    listed = error.details.get("reasons") or error.details.get("violations") or error.details.get("faults") or []
    rows = [row for row in listed if isinstance(row, Mapping)]
    return "".join(f"  - {row.get('message') or row.get('fault')}{_where(row)}\n" for row in rows)


def _where(row: Mapping[str, Any]) -> str:
    return f" ({row['pointer']})" if row.get("pointer") else ""


def leave_interrupted(as_json: bool) -> NoReturn:
    """Say that nothing was lost and leave as an interrupted program does."""
    words = "Interrupted. Nothing is lost: run the same command again to continue."
    if as_json:
        document = {"code": "internal.interrupted", "message": words, "remedy": "", "details": {}}
        click.echo(json.dumps(document, indent=2), err=True)
    else:
        click.echo(words, err=True)
    sys.exit(INTERRUPTED)


__all__ = ["Answer", "ExitCode", "common_options", "leave_with", "sole_failure", "verb"]
