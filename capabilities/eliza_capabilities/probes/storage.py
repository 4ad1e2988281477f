"""What the disk under the state folder offers: free space, hard links, sparse files.

The folder need not exist: its nearest existing parent is asked, and what is tried there is removed again.
Reserves and creates nothing that stays (contract section 7; house, amendment 2: one blob, many names).
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from eliza_capabilities.probes.reading import ProbeFault
from eliza_capabilities.report import StorageReport

_SPARSE_BYTES = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Abilities:
    hardlinks: bool = False
    sparse_files: bool = False
    writable: bool = False


def nearest_existing(path: Path) -> Path:
    """Return the path itself if it is there, else its nearest parent that is.

    Raises:
        ProbeFault: the path, or what is there of it, is not a folder.
    """
    absolute = path.absolute()
    try:
        found = next(place for place in (absolute, *absolute.parents) if place.exists())
    except (OSError, StopIteration) as error:
        raise ProbeFault(f"the state folder cannot be reached: {error}") from error
    if not found.is_dir():
        raise ProbeFault("the state folder's place is taken by a file")
    return found


def look_at_storage(state_dir: Path) -> StorageReport:
    """Return the report of the disk under `state_dir`.

    Raises:
        ProbeFault: the folder's place cannot be reached or is a file.
    """
    place = nearest_existing(state_dir)
    try:
        usage = shutil.disk_usage(place)
    except OSError as error:
        raise ProbeFault(f"the disk does not say its size: {error.strerror or error}") from error
    abilities = _try_abilities(place)
    return StorageReport(
        path=str(state_dir.absolute()),
        free_bytes=usage.free,
        total_bytes=usage.total,
        hardlinks=abilities.hardlinks,
        sparse_files=abilities.sparse_files,
        writable=abilities.writable,
    )


def _try_abilities(place: Path) -> _Abilities:
    try:
        with tempfile.TemporaryDirectory(prefix=".eliza-probe-", dir=place) as folder:
            trial = Path(folder, "trial")
            return _Abilities(writable=True, sparse_files=_is_sparse(trial), hardlinks=_links(trial))
    except OSError:
        # a place that may not be written is a finding, not a failure: setup refuses it with its own error
        return _Abilities()


def _is_sparse(trial: Path) -> bool:
    with trial.open("wb") as file:
        file.truncate(_SPARSE_BYTES)
    blocks: int | None = getattr(trial.stat(), "st_blocks", None)
    return blocks is not None and blocks * 512 < _SPARSE_BYTES


def _links(trial: Path) -> bool:
    try:
        trial.with_name("link").hardlink_to(trial)
    except OSError:
        return False
    return True
