"""Every path of the state folder, in one place.

Gives names to places and makes the folders, private to the user; never reads, writes or deletes a file.
Keeps house amendment 2: blobs by digest, a version as one tree, one pointer to the active bundle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from eliza_catalog.errors import StorageError
from eliza_catalog.terms import Sha256

PRIVATE_FOLDER = 0o700
PRIVATE_FILE = 0o600

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+@-]{0,199}")
_SHORT_DIGEST = 12


def bundle_key(bundle_id: str, version: str, manifest_sha256: Sha256) -> str:
    """Return the store's name of one published bundle: `<id>@<version>+<first 12 of the manifest's digest>`.

    Raises:
        StorageError: `storage.denied` when id or version would not be one safe folder name.
    """
    return checked_key(f"{bundle_id}@{version}+{manifest_sha256.hex[:_SHORT_DIGEST]}")


def checked_key(key: str) -> str:
    """Return `key` when it is one safe folder name.

    Raises:
        StorageError: `storage.denied`.
    """
    if not _KEY.fullmatch(key) or key[-1] in ". " or ".." in key:
        raise StorageError("denied", "This is not the name of an Eliza-1 bundle.", details={"key": key})
    return key


@dataclass(frozen=True, slots=True)
class StateLayout:
    """The state folder at `root`; building one touches no disk."""

    root: Path

    @property
    def bundles(self) -> Path:
        """Published trees, one folder per bundle key."""
        return self.root / "bundles"

    @property
    def blobs(self) -> Path:
        """Proven files under their own digest."""
        return self.root / "blobs" / "sha256"

    @property
    def parts(self) -> Path:
        """Unfinished files and their sidecars."""
        return self.root / "parts"

    @property
    def manifests(self) -> Path:
        """Manifests as they were received, by digest."""
        return self.root / "manifests"

    @property
    def reports(self) -> Path:
        """Verification reports, by bundle key."""
        return self.root / "reports"

    @property
    def staging(self) -> Path:
        """Trees that are being built; nothing in here is ever used."""
        return self.root / "staging"

    @property
    def registry(self) -> Path:
        """The list of installed bundles."""
        return self.root / "registry.json"

    @property
    def active(self) -> Path:
        """The pointer to the bundle that answers."""
        return self.root / "active.json"

    @property
    def lock(self) -> Path:
        """The file whose lock admits one writer."""
        return self.root / "lock"

    def bundle(self, key: str) -> Path:
        """Return the published tree of a bundle."""
        return self.bundles / checked_key(key)

    def tree_record(self, key: str) -> Path:
        """Return the file that lists which blobs a published tree is made of."""
        return self.bundles / f"{checked_key(key)}.tree.json"

    def blob(self, digest: Sha256) -> Path:
        """Return the place of a proven file."""
        return self.blobs / digest.hex[:2] / digest.hex

    def part(self, digest: Sha256) -> Path:
        """Return the place of an unfinished file; named by digest, so no two files can meet there."""
        return self.parts / f"{digest.hex}.part"

    def sidecar(self, digest: Sha256) -> Path:
        """Return what is known of an unfinished file."""
        return self.parts / f"{digest.hex}.json"

    def manifest(self, digest: Sha256) -> Path:
        """Return the kept bytes of a manifest."""
        return self.manifests / f"{digest.hex}.json"

    def report(self, key: str) -> Path:
        """Return the verification report of a bundle."""
        return self.reports / f"{checked_key(key)}.json"

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder that must exist before anything is written."""
        inner = (self.bundles, self.blobs, self.parts, self.manifests, self.reports, self.staging)
        return (self.root, self.root / "blobs", *inner)
