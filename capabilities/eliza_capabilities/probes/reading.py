"""How probes read: small system files and short commands, with a fault of one kind.

Gives text to the parsers and interprets nothing. A missing or unreadable source is a `ProbeFault`, which
costs the asking probe its own line only (house, section 5.1).
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

_MOST_BYTES = 1 << 20
COMMAND_DEADLINE_S = 1.0


class ProbeFault(Exception):
    """A source could not be read or understood; the message is the reason, for developers."""


def read_text(path: Path) -> str:
    """Return a small file's text (at most 1 MiB of it).

    Raises:
        ProbeFault: there is no such file or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", errors="replace")
    except OSError as error:
        raise ProbeFault(f"{path.name}: {error.strerror or error}") from error


def read_text_if_there(path: Path) -> str:
    """Return a small file's text, or an empty one where it is missing or unreadable."""
    try:
        return read_text(path)
    except ProbeFault:
        return ""


def run_command(*words: str, deadline_s: float = COMMAND_DEADLINE_S) -> str:
    """Return what a command of the system printed.

    Raises:
        ProbeFault: it is not there, failed, or took longer than `deadline_s`.
    """
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=deadline_s,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError as error:
        raise ProbeFault(f"{words[0]} is not there") from error
    except subprocess.TimeoutExpired as error:
        raise ProbeFault(f"{words[0]} took longer than {deadline_s} s") from error
    except subprocess.CalledProcessError as error:
        said = next(iter((error.stderr or "").strip().splitlines()), f"exit code {error.returncode}")
        raise ProbeFault(f"{words[0]} failed: {said}") from error
    except OSError as error:
        raise ProbeFault(f"{words[0]} failed: {error.strerror}") from error
    return done.stdout


def windows_kernel() -> Any:
    """Return Windows's `kernel32`.

    Raises:
        ProbeFault: this is not Windows.
    """
    libraries: Any = getattr(ctypes, "windll", None)
    if libraries is None:
        raise ProbeFault("this Python cannot call Windows")
    return libraries.kernel32
