"""The one lock: at most one process changes the state folder.

An operating system's lock, so that it ends with its owner however the owner ends; it never waits and never
judges a lock by its age. A holder may take it again, in the same task or in a thread that works for it.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from eliza_agent.store.atomic import disk_errors, prepare_folders
from eliza_agent.store.layout import PRIVATE_FILE, StateLayout
from eliza_catalog.errors import StorageError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCKED_BYTE = 1 << 30  # far behind the owner's note, which must stay readable where locks are mandatory
_NOTE_BYTES = 64


@dataclass(slots=True)
class HeldLock:
    """The proof that the caller is the one writer; `is_held` turns False when it is given back."""

    path: Path
    is_held: bool = True


_mine: ContextVar[tuple[HeldLock, ...]] = ContextVar("eliza_held_locks", default=())


@contextlib.contextmanager
def lock_state(layout: StateLayout) -> Iterator[HeldLock]:
    """Hold the state folder's lock; nested holds by the same task, or its threads, are the same hold.

    Raises:
        StorageError: `storage.locked` when another process, or an unrelated task of this one, holds it
            (`details.pid` names the process); `storage.denied` or `storage.full` from the disk.
    """
    for held in _mine.get():
        if held.path == layout.lock and held.is_held:
            yield held
            return
    prepare_folders(layout)
    descriptor = _acquire(layout.lock)
    held = HeldLock(layout.lock)
    before = _mine.get()
    _mine.set((*before, held))
    try:
        yield held
    finally:
        held.is_held = False
        _mine.set(before)
        os.close(descriptor)


@contextlib.asynccontextmanager
async def hold_lock(layout: StateLayout) -> AsyncIterator[HeldLock]:
    """Hold the state folder's lock for a stretch of async work; see `lock_state`.

    Raises:
        StorageError: as `lock_state`.
    """
    with lock_state(layout) as held:
        yield held


def _acquire(path: Path) -> int:
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        try:
            if not _try_lock(descriptor):
                raise _locked(descriptor)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _locked(descriptor: int) -> StorageError:
    os.lseek(descriptor, 0, os.SEEK_SET)
    note = os.read(descriptor, _NOTE_BYTES).decode("ascii", "replace").strip()
    pid = int(note) if note.isdecimal() else None
    who = f" (process {pid})" if pid is not None else ""
    return StorageError("locked", f"Another eliza-agent is working on this device{who}.", details={"pid": pid})
