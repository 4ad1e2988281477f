"""The publisher's few dealings with the disk: digests, placing a file, and what the system's refusals mean.

Only `stage`, `publish` and `parts` use it; devices have their own store. Every file appears whole or not at all.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eliza_catalog.errors import StorageError
from eliza_catalog.terms import Sha256

_DENIED = {errno.EACCES, errno.EPERM, errno.EROFS}
_FULL = {errno.ENOSPC, errno.EDQUOT}


def digest_of(path: Path) -> Sha256:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as opened:
        return Sha256(hashlib.file_digest(opened, "sha256").hexdigest())


def digest_of_bytes(content: bytes) -> Sha256:
    """Return the SHA-256 of bytes in memory."""
    return Sha256(hashlib.sha256(content).hexdigest())


@contextmanager
def storage_faults(place: Path) -> Iterator[None]:
    """Turn an operating system's refusal inside the block into a `StorageError`.

    Raises:
        StorageError: `storage.full`, `storage.denied` or `storage.failed`.
    """
    try:
        yield
    except OSError as fault:
        reason = "full" if fault.errno in _FULL else "denied" if fault.errno in _DENIED else "failed"
        details = {"place": str(fault.filename or place), "errno": fault.errno, "fault": fault.strerror}
        raise StorageError(reason, "A file of the bundle could not be written or read.", details=details) from fault


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        partial.write_bytes(content)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def place_file(source: Path, target: Path, *, link: bool) -> None:
    """Put `source` at the free place `target`: as a hard link where the disk can, else as a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if link:
        try:
            target.hardlink_to(source.resolve())
        except OSError as fault:
            if fault.errno not in {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.ENOSYS}:
                raise
        else:
            return
    shutil.copyfile(source, target)


def swap_folder(new: Path, place: Path) -> None:
    """Put the folder `new` in place of `place`; whoever looks meanwhile sees one of them or none, never a mixture."""
    old = place.with_name(f".{place.name}.{os.getpid()}.old")
    if place.exists():
        place.rename(old)
    new.rename(place)
    if old.exists():
        shutil.rmtree(old)
