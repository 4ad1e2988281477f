"""How the command line speaks its last word: the answer, an error, or that it was interrupted.

Knows no command-line parser, so that the verb which programs poll can use it too.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from eliza_agent.store.atomic import storage_error
from eliza_catalog.errors import ElizaError, ExitCode, InternalError

INTERRUPTED = 130


def say(text: str) -> None:
    """Write the answer to stdout, whole or not at all.

    Raises:
        BrokenPipeError: nobody listens any more.
        StorageError: stdout is a file and the disk refuses.
    """
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _close_stdout()
        raise storage_error(error, Path("stdout")) from error


def leave_with(error: ElizaError, as_json: bool) -> NoReturn:
    """Show `error` on stderr and leave with its exit code."""
    if as_json:
        _say_aside(json.dumps(error.as_json(), ensure_ascii=False, indent=2, default=str))
    else:
        _say_aside(f"{error.message}\n{_reasons(error)}{error.remedy}  [{error.code}]")
    sys.exit(int(error.exit_code))


def leave_interrupted(as_json: bool) -> NoReturn:
    """Say that nothing was lost and leave as an interrupted program does."""
    words = "Interrupted. Nothing is lost: run the same command again to continue."
    document = {"code": "internal.interrupted", "message": words, "remedy": "", "details": {}}
    _say_aside(json.dumps(document, indent=2) if as_json else words)
    sys.exit(INTERRUPTED)


def leave_unheard() -> NoReturn:
    """Leave without a word: whoever read the answer has gone (`| head`)."""
    _close_stdout()
    sys.exit(int(ExitCode.OTHER))


def innermost(error: BaseException) -> BaseException:
    """Return what the user needs of `error`: task groups wrap what they catch; the product's own errors come first."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = list(_leaves(error))
    ours = (leaf for leaf in leaves if isinstance(leaf, ElizaError) and not isinstance(leaf, InternalError))
    return next(ours, leaves[0])


def as_product_error(error: BaseException) -> ElizaError:
    """Return `error` if it is the product's, else `internal.broken_promise`; with ELIZA_LOG=debug it is raised."""
    if isinstance(error, ElizaError):
        return error
    if os.environ.get("ELIZA_LOG") == "debug":
        raise error
    fault = f"{type(error).__name__}: {error}"
    return InternalError("broken_promise", "Something inside eliza-agent went wrong.", details={"fault": fault})


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    for part in group.exceptions:
        if isinstance(part, BaseExceptionGroup):
            yield from _leaves(part)
        else:
            yield part


def _say_aside(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _close_stdout() -> None:
    """Keep the interpreter from flushing into what refused already, which it would tell on stderr."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reasons(error: ElizaError) -> str:
    """Every single reason on its own line, where the error carries several."""
    listed = error.details.get("reasons") or error.details.get("violations") or error.details.get("faults") or []
    rows = [row for row in listed if isinstance(row, Mapping)]
    return "".join(f"  - {row.get('message') or row.get('fault')}{_where(row)}\n" for row in rows)


def _where(row: Mapping[str, Any]) -> str:
    return f" ({row['pointer']})" if row.get("pointer") else ""
