"""Keeps what was made from fetched packages, so that a second run makes nothing.

A made file is named after the digests of everything it came from, the converting code included; when any of them
changes, it is made anew. Files appear whole or not at all.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from eliza_catalog.disk import storage_faults


def made_once(cache: Path, name: str, inputs: Sequence[str], make: Callable[[Path], None]) -> Path:
    """Return the file `name` made from `inputs`, making it if it is not kept.

    Args:
        cache: the cache folder.
        name: the file's name.
        inputs: digests or words that, together, decide its bytes.
        make: writes the file at the path it is given.

    Raises:
        StorageError: the disk refuses.
        ElizaError: whatever `make` raises.
    """
    key = hashlib.sha256("\n".join((name, code_digest(), *inputs)).encode()).hexdigest()[:16]
    kept = cache / "made" / key / name
    if kept.is_file():
        return kept
    with storage_faults(cache):
        kept.parent.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".make-", dir=kept.parent.parent) as folder:
            fresh = Path(folder) / name
            make(fresh)
            kept.parent.mkdir(exist_ok=True)
            fresh.replace(kept)
    return kept


def code_digest() -> str:
    """Return a digest of the code that makes parts: `parts` and `convert`."""
    total = hashlib.sha256()
    for room in ("parts", "convert"):
        sources = files("eliza_catalog").joinpath(room).iterdir()
        for source in sorted(sources, key=lambda each: each.name):
            if source.name.endswith(".py"):
                total.update(source.name.encode() + source.read_bytes())
    return total.hexdigest()
