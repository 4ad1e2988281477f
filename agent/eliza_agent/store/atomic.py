"""Writes that are whole or absent, and the translation of the disk's refusals.

Writes beside the target, flushes to the device, renames, then flushes the folder; the only place that turns
an OSError into a StorageError. Decides nothing about content and holds no lock (house rules, section 7).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eliza_agent.store.layout import PRIVATE_FILE, PRIVATE_FOLDER, StateLayout
from eliza_catalog.errors import StorageError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}
_MESSAGES = {
    "full": "The disk is full.",
    "denied": "The state folder cannot be written.",
    "failed": "The disk reported an error.",
}


def storage_error(error: OSError, path: Path) -> StorageError:
    """Return the StorageError (`full`, `denied` or `failed`) that says what the disk refused."""
    reason = "full" if error.errno in _FULL else "denied" if error.errno in _DENIED else "failed"
    facts = {"path": str(path), "errno": error.errno, "error": error.strerror or str(error)}
    return StorageError(reason, _MESSAGES[reason], details=facts)


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn any OSError inside into the StorageError of `path`."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def prepare_folders(layout: StateLayout) -> None:
    """Make the state folder and its parts, each readable by the user only.

    Raises:
        StorageError: `storage.full`, `storage.denied` or `storage.failed`.
    """
    for folder in layout.folders:
        make_folder(folder)


def make_folder(folder: Path) -> None:
    """Make one private folder (and its parents) unless it is there.

    Raises:
        StorageError: see `storage_error`.
    """
    with disk_errors(folder):
        folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)


def write_bytes(path: Path, data: bytes, *, flush: bool = True) -> None:
    """Replace `path` by `data`: after a crash at any point it holds the old bytes or the new ones.

    Without `flush` that holds for a crash of the process only; after a power cut the file may be anything.

    Raises:
        StorageError: see `storage_error`; the old file is untouched then.
    """
    with disk_errors(path):
        # made by hand: `tempfile` drags in a tenth of what a quick look at the status may take
        fresh = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                if flush:
                    file.flush()
                    os.fsync(file.fileno())
            fresh.replace(path)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        if flush:
            flush_folder(path.parent)


def write_json(path: Path, document: Any) -> None:
    """Replace `path` by `document` as indented JSON, as `write_bytes` does.

    Raises:
        StorageError: see `storage_error`.
    """
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    write_bytes(path, f"{text}\n".encode())


def read_bytes_if_there(path: Path) -> bytes | None:
    """Return the file's bytes, or None when there is no such file.

    Raises:
        StorageError: see `storage_error`; an unreadable file is never taken for an absent one.
    """
    with disk_errors(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def flush_folder(folder: Path) -> None:
    """Flush a folder's entries to the device, where the system can open a folder.

    Raises:
        OSError: the device refused; callers translate.
    """
    if sys.platform == "win32":  # no handle on a folder there; NTFS journals the rename itself
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_into_place(source: Path, target: Path) -> None:
    """Rename a file or folder over `target` and flush the folder it is now in.

    Raises:
        StorageError: see `storage_error`.
    """
    with disk_errors(target):
        source.replace(target)
        flush_folder(target.parent)
