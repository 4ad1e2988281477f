"""What to fetch: from an accepted fit to files with addresses.

A weight's address exists only inside a `DownloadPlan`, and a plan only comes from an `AcceptedFit`, so that
"download anyway" cannot be written down. Pure: no socket, no disk (house amendment 5; contract section 7).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eliza_agent.download.source import FetchedManifest, HubSource
from eliza_capabilities.fit import AcceptedFit
from eliza_catalog.errors import DownloadError, IntegrityError
from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.terms import BundlePath, FileGroup, Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """One file to have: its place in the bundle, the digest that proves it, and its address."""

    path: BundlePath
    sha256: Sha256
    group: FileGroup
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadPlan:
    """Everything that makes one bundle complete on this device, from one pinned source."""

    manifest: Manifest
    fetched: FetchedManifest
    files: tuple[PlannedFile, ...]

    @property
    def source(self) -> HubSource:
        """The hub at the commit that the manifest came from."""
        return self.fetched.source

    def distinct_files(self) -> tuple[PlannedFile, ...]:
        """Return one file for each digest, in plan order: equal bytes are fetched once."""
        first: dict[Sha256, PlannedFile] = {}
        for file in self.files:
            first.setdefault(file.sha256, file)
        return tuple(first.values())

    def tree(self) -> dict[BundlePath, Sha256]:
        """Return which digest stands at which place of the bundle."""
        return {file.path: file.sha256 for file in self.files}


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedBundle:
    """A complete published tree at `root` under its store `key`: every digest proven, nothing yet run."""

    root: Path
    key: str
    plan: DownloadPlan
    size_bytes: int


def wanted_artifacts(fit: AcceptedFit, lib_target: str | None = None) -> Iterator[tuple[FileGroup, Artifact]]:
    """Yield every artifact that this device needs, in manifest order.

    Of the text and voice variants the one that the fit chose, of host libraries those of its target, of every
    other group everything (contract sections 2 and 7).
    """
    for group, artifact in fit.servable.manifest.artifacts():
        is_wanted = {
            FileGroup.TEXT: artifact == fit.text,
            FileGroup.VOICE: artifact in fit.voice.artifacts,
            FileGroup.LIB: artifact.target in (None, lib_target),
        }
        if is_wanted.get(group, True):
            yield group, artifact


def make_plan(fit: AcceptedFit, fetched: FetchedManifest, *, lib_target: str | None = None) -> DownloadPlan:
    """Return the plan for an accepted fit; `fetched` is where its manifest came from.

    Raises:
        IntegrityError: `integrity.digest` when the fit judged other bytes than those fetched.
        DownloadError: `download.conflict` when one place is claimed by two digests, or two places would fall
            together on a disk that ignores case.
    """
    manifest = fit.servable.manifest
    if manifest.digest != fetched.sha256:
        raise IntegrityError(
            "digest",
            "The description of this Eliza-1 changed while it was being judged.",
            details={"expected": manifest.digest.hex, "actual": fetched.sha256.hex},
        )
    places: dict[str, PlannedFile] = {}
    for group, artifact in wanted_artifacts(fit, lib_target):
        file = _planned(group, artifact, fetched)
        known = places.setdefault(artifact.path.folded, file)
        if (known.path, known.sha256) != (file.path, file.sha256):
            raise _conflict(known, file)
    return DownloadPlan(manifest=manifest, fetched=fetched, files=tuple(places.values()))


def _planned(group: FileGroup, artifact: Artifact, fetched: FetchedManifest) -> PlannedFile:
    remote = BundlePath(f"{fetched.folder}/{artifact.path}")
    return PlannedFile(path=artifact.path, sha256=artifact.sha256, group=group, url=fetched.source.address(remote))


def _conflict(one: PlannedFile, other: PlannedFile) -> DownloadError:
    return DownloadError(
        "conflict",
        "The description of this Eliza-1 contradicts itself: two of its files claim one place.",
        details={
            "paths": [one.path.text, other.path.text],
            "sha256": [one.sha256.hex, other.sha256.hex],
        },
    )
