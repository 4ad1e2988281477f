"""What a hub serves: the bundles of one folder, their digests, and the commit that stands for all of them.

Reads manifests as plain JSON (a hub serves what it is given; judging is the client's part) and never leaves
its folder, whatever a path or a symbolic link says. Knows no HTTP.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from eliza_catalog.errors import ManifestError, SettingsError
from eliza_catalog.manifest import MANIFEST_NAME
from eliza_catalog.terms import BundlePath, Sha256

_BUNDLES = "bundles"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_COMMIT_DIGITS = 40
_Stamp = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelvedBundle:
    """One bundle of the shelf: its folder in the repository, its manifest's JSON and digest."""

    folder: str
    document: Any
    manifest_sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelvedFile:
    """One file that may be served. `digest` is what the manifest promises, else what the bytes are."""

    place: Path
    size_bytes: int
    digest: str


class Shelf:
    """The repository in `folder`, which holds `bundles/<name>/eliza-1.manifest.json`. Blocks on the disk.

    Raises:
        SettingsError: `settings.bad_value` when the folder holds no bundle.
    """

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()
        self._digests: dict[Path, tuple[_Stamp, str]] = {}
        self._known: tuple[frozenset[tuple[Path, _Stamp]], tuple[ShelvedBundle, ...]] | None = None
        self._guard = Lock()
        if not self.bundles():
            raise SettingsError(
                "bad_value",
                "This folder holds no Eliza-1 bundle.",
                remedy=f"Name a folder that holds {_BUNDLES}/<name>/{MANIFEST_NAME}.",
                details={"folder": str(folder)},
            )

    def bundles(self) -> tuple[ShelvedBundle, ...]:
        """Return every bundle, sorted by folder; manifests are read again only when one of them changed."""
        places = sorted(self._root.glob(f"{_BUNDLES}/*/{MANIFEST_NAME}"))
        state = frozenset((place, _stamp(place)) for place in places)
        with self._guard:
            if self._known is None or self._known[0] != state:
                self._known = (state, tuple(self._read(place) for place in places))
            return self._known[1]

    def commit(self) -> str:
        """Return the 40 hex digits that name this state of the repository: they change with any manifest."""
        lines = "".join(f"{one.folder} {one.manifest_sha256}\n" for one in self.bundles())
        return hashlib.sha256(lines.encode()).hexdigest()[:_COMMIT_DIGITS]

    def find(self, path: str) -> ShelvedFile | None:
        """Return the file at a path of the repository, or None for one that is absent, unsafe or outside."""
        try:
            wanted = BundlePath(path)
        except ManifestError:
            return None
        place = wanted.below(self._root)
        try:
            is_inside = place.resolve(strict=True).is_relative_to(self._root) and place.is_file()
        except OSError:
            return None
        if not is_inside:
            return None
        return ShelvedFile(place=place, size_bytes=place.stat().st_size, digest=self._digest(wanted, place))

    def _digest(self, path: BundlePath, place: Path) -> str:
        return self._promised().get(path.text) or self._computed(place)

    def _promised(self) -> dict[str, str]:
        return {f"{one.folder}/{path}": digest for one in self.bundles() for path, digest in _files(one.document)}

    def _computed(self, place: Path) -> str:
        stamp = _stamp(place)
        with self._guard:
            known = self._digests.get(place)
        if known is None or known[0] != stamp:
            with place.open("rb") as file:
                known = (stamp, hashlib.file_digest(file, "sha256").hexdigest())
            with self._guard:
                self._digests[place] = known
        return known[1]

    def _read(self, place: Path) -> ShelvedBundle:
        data = place.read_bytes()
        folder = f"{_BUNDLES}/{place.parent.name}"
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            document = None
        return ShelvedBundle(folder=folder, document=document, manifest_sha256=Sha256(hashlib.sha256(data).hexdigest()))


def describe(bundle: ShelvedBundle) -> dict[str, Any]:
    """Return a bundle's row of the index page."""
    document = bundle.document if isinstance(bundle.document, dict) else {}
    return {
        "folder": bundle.folder,
        "manifest": f"{bundle.folder}/{MANIFEST_NAME}",
        "manifestSha256": bundle.manifest_sha256.hex,
        "id": document.get("id"),
        "version": document.get("version"),
        "files": sorted(path for path, _ in _files(bundle.document)),
    }


def _files(document: Any) -> Iterator[tuple[str, str]]:
    """Yield path and digest of every artifact that a manifest names well enough; others have no promise."""
    groups = document.get("files") if isinstance(document, dict) else None
    for rows in groups.values() if isinstance(groups, dict) else ():
        for row in rows if isinstance(rows, list) else ():
            if not (isinstance(row, dict) and isinstance(row.get("path"), str)):
                continue
            if isinstance(row.get("sha256"), str) and _DIGEST.fullmatch(row["sha256"]):  # it becomes a header
                yield row["path"], row["sha256"]


def _stamp(place: Path) -> _Stamp:
    status = place.stat()
    return status.st_mtime_ns, status.st_size
