"""The publisher's last gate: says of a staged folder whether it may be uploaded, with every reason against it.

It uploads nothing and changes nothing; every file is read and hashed again. Keeps contract section 7 (a publish
refuses when a required eval fails or a required kernel is unverified) and section 2 (layout, licences).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eliza_catalog.architectures import is_standin_only
from eliza_catalog.contract import violations_of
from eliza_catalog.decode import decode_manifest
from eliza_catalog.disk import digest_of, storage_faults
from eliza_catalog.errors import ElizaError, ExitCode, IntegrityError
from eliza_catalog.gguf_header import read_architecture
from eliza_catalog.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES, Manifest
from eliza_catalog.rules_evals import failed_evals
from eliza_catalog.stage import EVIDENCE_NAME, SUMS_NAME
from eliza_catalog.terms import Backend, FileGroup, RuntimeClass, Sha256, VerifiedStatus
from eliza_catalog.tiers import TIERS

_BESIDE_THE_MANIFEST = (MANIFEST_NAME, EVIDENCE_NAME, SUMS_NAME)
_FREE_FOLDERS = ("licenses", "evidence", "evals", "quantization")
_LICENSE_OF = {
    FileGroup.TEXT: "LICENSE.text",
    FileGroup.VOICE: "LICENSE.voice",
    FileGroup.ASR: "LICENSE.asr",
    FileGroup.VAD: "LICENSE.vad",
    FileGroup.MTP: "LICENSE.mtp",
    FileGroup.VISION: "LICENSE.vision",
}
_OWN_LICENSE = "LICENSE.eliza-1"
_TEXT_ARCHITECTURES = {"gemma4"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishReason:
    """One reason against publishing: a stable code, what is wrong, and where."""

    code: str
    message: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishVerdict:
    """What the gate says of a folder; `manifest_digest` is None when there is no readable manifest."""

    folder: Path
    manifest_digest: Sha256 | None
    reasons: tuple[PublishReason, ...]

    @property
    def is_publishable(self) -> bool:
        """Whether nothing speaks against publishing."""
        return not self.reasons


def check_publishable(folder: Path) -> PublishVerdict:
    """Judge a staged bundle folder, re-hashing every file.

    Raises:
        StorageError: the folder cannot be read.
    """
    with storage_faults(folder):
        try:
            manifest = _read_manifest(folder)
        except ElizaError as error:
            return PublishVerdict(folder=folder, manifest_digest=None, reasons=(_of_error(error),))
        reasons = (
            *_contract_reasons(manifest),
            *_release_reasons(manifest),
            *_file_reasons(folder, manifest),
            *_layout_reasons(folder, manifest),
            *_sums_reasons(folder),
            *_architecture_reasons(folder, manifest),
        )
    return PublishVerdict(folder=folder, manifest_digest=manifest.digest, reasons=reasons)


def _read_manifest(folder: Path) -> Manifest:
    file = folder / MANIFEST_NAME
    if not file.is_file():
        raise IntegrityError("missing", "There is no manifest in this folder.", details={"folder": str(folder)})
    with file.open("rb") as opened:
        return decode_manifest(opened.read(MAX_MANIFEST_BYTES + 1))


def _of_error(error: ElizaError) -> PublishReason:
    return PublishReason(code=error.code, message=error.message, details=error.details)


def _reason(code: str, message: str, **details: Any) -> PublishReason:
    return PublishReason(code=f"publish.{code}", message=message, details=details)


def _contract_reasons(manifest: Manifest) -> Iterator[PublishReason]:
    for broken in violations_of(manifest, installing=False):
        details = {"pointer": broken.pointer}
        yield PublishReason(code=f"contract.{broken.code}", message=broken.message, details=details)


def _release_reasons(manifest: Manifest) -> Iterator[PublishReason]:
    """Yield what the contract asks of anything that is uploaded, finished release or not."""
    if manifest.is_standin:
        yield _reason("standin", "A stand-in for demonstrations is never published.")
    for name in failed_evals(manifest):
        yield _reason("eval_failed", "A required test did not pass.", eval=name)
    verified = manifest.kernels.verified_backends
    for backend in TIERS[manifest.tier].supported_backends:
        if not _has_passed(manifest, backend):
            status = verified[backend].status if backend in verified else "missing"
            yield _reason(
                "kernel_unverified", "Accelerations are not proven everywhere.", backend=backend, status=status
            )


def _has_passed(manifest: Manifest, backend: Backend) -> bool:
    proof = manifest.kernels.verified_backends.get(backend)
    return proof is not None and proof.status is VerifiedStatus.PASS


def _file_reasons(folder: Path, manifest: Manifest) -> Iterator[PublishReason]:
    for _, artifact in manifest.artifacts():
        file = artifact.path.below(folder)
        if file.is_symlink() or not file.is_file():
            yield _reason("file_missing", "A file of the manifest is not in the folder.", path=artifact.path.text)
        elif digest_of(file) != artifact.sha256:
            yield _reason("file_differs", "A file is not the one the manifest names.", path=artifact.path.text)


def _layout_reasons(folder: Path, manifest: Manifest) -> Iterator[PublishReason]:
    listed = {artifact.path.text for _, artifact in manifest.artifacts()} | set(_BESIDE_THE_MANIFEST)
    for name in _BESIDE_THE_MANIFEST:
        if not (folder / name).is_file():
            yield _reason("file_missing", "A file that every bundle has is not in the folder.", path=name)
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        is_stray = path.as_posix() not in listed and path.parts[0] not in _FREE_FOLDERS
        if file.is_symlink() or (file.is_file() and is_stray):
            yield _reason("file_stray", "The folder holds a file that belongs to no bundle.", path=path.as_posix())
    for group, name in _LICENSE_OF.items():
        if manifest.first(group) is not None and not (folder / "licenses" / name).is_file():
            yield _reason("license_missing", "The licence of a part is not in the folder.", path=f"licenses/{name}")
    if not (folder / "licenses" / _OWN_LICENSE).is_file():
        yield _reason("license_missing", "The bundle's own licence is not there.", path=f"licenses/{_OWN_LICENSE}")


def _sums_reasons(folder: Path) -> Iterator[PublishReason]:
    sums = folder / SUMS_NAME
    if not sums.is_file():
        return  # the layout says so
    promised = {
        path: digest
        for digest, _, path in (line.partition("  ") for line in sums.read_text("utf-8", "replace").splitlines())
    }
    there = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()} - {SUMS_NAME}
    for path in sorted(there ^ set(promised)):
        yield _reason("sums_differ", "The list of digests does not list the folder's files.", path=path)
    for path in sorted(there & set(promised)):
        if str(digest_of(folder / path)) != promised[path]:
            yield _reason("sums_differ", "The list of digests names another digest.", path=path)


def _architecture_reasons(folder: Path, manifest: Manifest) -> Iterator[PublishReason]:
    """Yield files of a default bundle whose own header contradicts what Eliza-1 is made of (facts 2.8)."""
    for group in (FileGroup.TEXT, FileGroup.ASR):
        for _, artifact in manifest.artifacts(group):
            file = artifact.path.below(folder)
            is_read = artifact.runtime_class is not RuntimeClass.LITERT_LM and artifact.path.text.endswith(".gguf")
            if manifest.default_eligible and is_read and file.is_file():
                yield from _architecture_reason(group, artifact.path.text, file)


def _architecture_reason(group: FileGroup, path: str, file: Path) -> Iterator[PublishReason]:
    try:
        architecture = read_architecture(file)
    except IntegrityError as error:
        yield _of_error(error)
        return
    is_foreign_text = group is FileGroup.TEXT and architecture not in _TEXT_ARCHITECTURES
    if is_foreign_text or is_standin_only(group, architecture):
        message = f"A file of the {group} part is not what Eliza-1 is made of."
        yield _reason("wrong_architecture", message, path=path, architecture=architecture)


def main(arguments: list[str] | None = None) -> int:
    """Judge a folder from the command line; list every reason on stdout as JSON. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m eliza_catalog.publish", description="Say whether a staged bundle may be published."
    )
    parser.add_argument("folder", type=Path, help="the bundle folder that holds the manifest")
    try:
        verdict = check_publishable(parser.parse_args(arguments).folder)
    except ElizaError as error:
        sys.stderr.write(json.dumps(error.as_json(), indent=2) + "\n")
        return error.exit_code
    reasons = [asdict(reason) for reason in verdict.reasons]
    sys.stdout.write(json.dumps({"publishable": verdict.is_publishable, "reasons": reasons}, indent=2) + "\n")
    return ExitCode.OK if verdict.is_publishable else ExitCode.REFUSED


if __name__ == "__main__":
    sys.exit(main())
