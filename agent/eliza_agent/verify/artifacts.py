"""Proves a bundle's files: every byte hashed against the manifest, every model file's header read for truth.

Reads and changes nothing; looks at the files only, not at the device. One fault or many, all are told at once.
Keeps contract sections 2 (the manifest is the source of truth) and 7 (checksums before ready).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio import from_thread, to_thread

from eliza_agent.runtime.gguf_header import read_gguf_header
from eliza_agent.verify.report import ProvenBundle, ProvenFile
from eliza_catalog.architectures import is_standin_only
from eliza_catalog.errors import IntegrityError, StorageError
from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.terms import FileGroup

_BLOCK_BYTES = 1 << 20
_WORKERS = 2
_STRICT_ARCHITECTURES = {FileGroup.TEXT: "gemma4", FileGroup.MTP: "gemma4-assistant"}
"""What a bundle that may be a default has to be made of (contract section 1); stand-ins are free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofProgress:
    """How far the hashing is; `path` is the file that moved on."""

    path: str
    bytes_done: int
    bytes_total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    reason: str
    path: str
    what: str

    def as_json(self) -> dict[str, Any]:
        return {"code": f"integrity.{self.reason}", "path": self.path, "fault": self.what}


async def prove_files(
    key: str,
    root: Path,
    manifest: Manifest,
    *,
    on_progress: Callable[[ProofProgress], object] | None = None,
) -> ProvenBundle:
    """Hash and inspect every file of the bundle at `root`.

    Args:
        key: the bundle's name in the store, for the report.
        root: the folder its paths are relative to.
        manifest: the bundle's manifest.
        on_progress: told on the event loop after each block.

    Raises:
        IntegrityError: `integrity.digest`, `missing`, `not_gguf` or `wrong_architecture`: the first fault,
            with all of them in `details.faults`.
        StorageError: `storage.denied` or `storage.failed`, the disk refused to be read.
    """
    wanted = _once_per_path(manifest)
    faults: list[_Fault] = []
    sizes = await to_thread.run_sync(_sizes, root, wanted, faults)
    meter = _Meter(sum(sizes.values()), on_progress)
    limiter = anyio.CapacityLimiter(_WORKERS)
    proven: dict[str, ProvenFile] = {}

    async def prove(path: str, group: FileGroup, artifact: Artifact) -> None:
        found = await to_thread.run_sync(
            partial(_prove, root, group, artifact, meter, manifest.default_eligible), limiter=limiter
        )
        if isinstance(found, _Fault):
            faults.append(found)
        else:
            proven[path] = found

    async with anyio.create_task_group() as tasks:
        for path in sizes:
            tasks.start_soon(prove, path, *wanted[path])
    if faults:
        raise _error(faults)
    return ProvenBundle(key=key, root=root, manifest=manifest, files=tuple(proven[path] for path in wanted))


class _Meter:
    """Counts hashed bytes; the counting and telling happen on the event loop."""

    def __init__(self, total_bytes: int, tell: Callable[[ProofProgress], object] | None) -> None:
        self._done_bytes = 0
        self._total_bytes = total_bytes
        self._tell = tell

    def add(self, path: str, count: int) -> None:
        """Count a block; also where a cancelled proof leaves its thread."""
        from_thread.check_cancelled()
        if self._tell is not None:
            from_thread.run_sync(self._add, path, count)

    def _add(self, path: str, count: int) -> None:
        self._done_bytes += count
        if self._tell is not None:
            self._tell(ProofProgress(path=path, bytes_done=self._done_bytes, bytes_total=self._total_bytes))


def _once_per_path(manifest: Manifest) -> dict[str, tuple[FileGroup, Artifact]]:
    wanted: dict[str, tuple[FileGroup, Artifact]] = {}
    for group, artifact in manifest.artifacts():
        wanted.setdefault(str(artifact.path), (group, artifact))
    return wanted


def _sizes(root: Path, wanted: dict[str, tuple[FileGroup, Artifact]], faults: list[_Fault]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for path, (_, artifact) in wanted.items():
        file = artifact.path.below(root)
        if file.is_file():
            sizes[path] = file.stat().st_size
        else:
            faults.append(_Fault(reason="missing", path=path, what="no such file"))
    return sizes


def _prove(root: Path, group: FileGroup, artifact: Artifact, meter: _Meter, strict: bool) -> ProvenFile | _Fault:
    path, file = str(artifact.path), artifact.path.below(root)
    try:
        digest, size_bytes = _hash(file, path, meter)
        if digest != artifact.sha256.hex:
            return _Fault(reason="digest", path=path, what=f"the file has {digest}")
        architecture = read_gguf_header(file).architecture if file.suffix == ".gguf" else None
    except IntegrityError as fault:
        return _Fault(reason=fault.reason, path=path, what=str(fault.details.get("fault", fault.message)))
    except OSError as fault:
        reason = "denied" if isinstance(fault, PermissionError) else "failed"
        details = {"path": path, "error": str(fault)}
        raise StorageError(reason, "A file of this Eliza-1 cannot be read.", details=details) from fault
    wrong = _wrong_architecture(group, artifact, architecture, strict)
    if wrong:
        return _Fault(reason="wrong_architecture", path=path, what=wrong)
    return ProvenFile(path=artifact.path, sha256=artifact.sha256, size_bytes=size_bytes, architecture=architecture)


def _hash(file: Path, path: str, meter: _Meter) -> tuple[str, int]:
    digest, size_bytes = hashlib.sha256(), 0
    with file.open("rb", buffering=0) as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
            size_bytes += len(block)
            meter.add(path, len(block))
    return digest.hexdigest(), size_bytes


def _wrong_architecture(group: FileGroup, artifact: Artifact, found: str | None, strict: bool) -> str | None:
    """What is wrong with the header's own word about the file, or None."""
    if artifact.path.text.endswith(".gguf") and not found:
        return "the header names no architecture"
    wanted = _STRICT_ARCHITECTURES.get(group)
    if strict and is_standin_only(group, found):
        return f"the header says {found}, which only stand-ins may be made of"
    if strict and wanted and found is not None and found != wanted:
        return f"the header says {found}, a default needs {wanted}"
    return None


def _error(faults: list[_Fault]) -> IntegrityError:
    ordered = sorted(faults, key=lambda fault: fault.path)
    count = len(ordered)
    message = "A file of this Eliza-1 is not what it should be."
    if count > 1:
        message = f"{count} files of this Eliza-1 are not what they should be."
    details = {"path": ordered[0].path, "faults": [fault.as_json() for fault in ordered]}
    return IntegrityError(ordered[0].reason, message, details=details)
