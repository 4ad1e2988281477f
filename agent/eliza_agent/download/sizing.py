"""Sizes before bytes: asks the hub how large everything is, and the disk whether it fits.

Sends HEAD requests only and writes nothing; what is already on the disk counts. Keeps rule 2.1 of the
downloader: nothing large begins that cannot end (facts 5.3 step 2; contract section 7).
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio

from eliza_agent.download.plan import PlannedFile
from eliza_agent.download.transport import RemoteFile, Transport
from eliza_agent.store.atomic import disk_errors
from eliza_agent.store.layout import StateLayout
from eliza_catalog.errors import DownloadError, ElizaError, IntegrityError, StorageError
from eliza_catalog.terms import Sha256

_HEX_DIGEST = re.compile(r"[0-9a-f]{64}")


async def size_plan(files: Sequence[PlannedFile], transport: Transport) -> dict[Sha256, RemoteFile]:
    """Return what the hub says of each file, asked concurrently; each file must have a digest of its own.

    Raises:
        DownloadError: as `Transport.measure`; `source_changed` when the hub answers from another commit.
        IntegrityError: `integrity.digest` when the hub itself says that the file has another digest.
    """
    sizes: dict[Sha256, RemoteFile] = {}
    failures: list[ElizaError] = []
    limiter = anyio.CapacityLimiter(transport.limits.parallel_heads)
    async with anyio.create_task_group() as group:

        async def measure(file: PlannedFile) -> None:
            async with limiter:
                try:
                    sizes[file.sha256] = _checked(file, await transport.measure(file.url), transport)
                except ElizaError as error:
                    failures.append(error)
                    group.cancel_scope.cancel()

        for file in files:
            group.start_soon(measure, file)
    if failures:
        raise failures[0]
    return sizes


def require_space(
    layout: StateLayout, files: Sequence[PlannedFile], sizes: Mapping[Sha256, RemoteFile], reserve_bytes: int
) -> None:
    """Check that the state folder's disk can take what is still missing of `files` and keep its reserve.

    Raises:
        StorageError: `storage.full` with `needed_bytes`, `free_bytes` and `reserve_bytes`.
    """
    missing = sum(max(0, sizes[file.sha256].size_bytes - _kept_bytes(layout.part(file.sha256))) for file in files)
    with disk_errors(layout.root):
        free = shutil.disk_usage(layout.root).free
    if missing and free < missing + reserve_bytes:
        raise StorageError(
            "full",
            f"Eliza-1 needs {_gib(missing)} more on the disk, and {_gib(reserve_bytes)} must stay free;"
            f" there are {_gib(free)}.",
            details={"needed_bytes": missing, "free_bytes": free, "reserve_bytes": reserve_bytes},
        )


def _checked(file: PlannedFile, remote: RemoteFile, transport: Transport) -> RemoteFile:
    revision = transport.source.revision
    if remote.commit is not None and remote.commit != revision:
        raise DownloadError(
            "source_changed",
            "The hub published something new meanwhile.",
            details={"path": file.path.text, "expected": revision, "actual": remote.commit},
        )
    if remote.linked_etag and _HEX_DIGEST.fullmatch(remote.linked_etag) and remote.linked_etag != file.sha256.hex:
        raise IntegrityError(
            "digest",
            "The hub has another file than the one this Eliza-1 was made with.",
            details={"path": file.path.text, "expected": file.sha256.hex, "actual": remote.linked_etag},
        )
    return remote


def _kept_bytes(part: Path) -> int:
    try:
        return part.stat().st_size
    except FileNotFoundError:
        return 0


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / (1 << 30):.1f} GiB"
