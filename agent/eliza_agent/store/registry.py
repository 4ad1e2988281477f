"""Which bundles are installed, and whether they were proven on this device.

A schema-versioned file with relative paths only, changed under the lock and replaced atomically; a file that
cannot be read is an error and never an empty list. Touches no bundle file (house rules, 3.4).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from eliza_agent.store.atomic import read_bytes_if_there, write_json
from eliza_agent.store.layout import StateLayout, checked_key
from eliza_agent.store.lock import lock_state
from eliza_agent.store.note import NOTE_FAULTS, moment_of, parse_note, size_of
from eliza_catalog.errors import ActivationError, StorageError
from eliza_catalog.terms import Sha256, Tier

_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledBundle:
    """One installed bundle. Times are UTC; `proven_at` is None until the device pass succeeded."""

    key: str
    id: str
    tier: Tier
    version: str
    manifest_sha256: Sha256
    size_bytes: int
    installed_at: datetime
    is_standin: bool
    hub: str
    revision: str
    proven_at: datetime | None = None


class Registry:
    """The installed bundles of one state folder."""

    def __init__(self, layout: StateLayout) -> None:
        self._layout = layout

    def list(self) -> tuple[InstalledBundle, ...]:
        """Return every installed bundle, oldest first.

        Raises:
            StorageError: `storage.registry_corrupt`, `storage.denied`, `storage.failed`.
        """
        data = read_bytes_if_there(self._layout.registry)
        if data is None:
            return ()
        try:
            return _decode(parse_note(data))
        except NOTE_FAULTS as error:
            raise _corrupt(self._layout, error) from error

    def find(self, key: str) -> InstalledBundle | None:
        """Return the bundle of that key, or None.

        Raises:
            StorageError: as `list`.
        """
        return next((bundle for bundle in self.list() if bundle.key == key), None)

    def get(self, key: str) -> InstalledBundle:
        """Return the bundle of that key.

        Raises:
            ActivationError: `activation.not_installed`.
            StorageError: as `list`.
        """
        bundle = self.find(key)
        if bundle is None:
            raise ActivationError("not_installed", "This Eliza-1 is not installed.", details={"key": key})
        return bundle

    def add(self, bundle: InstalledBundle) -> None:
        """Add a bundle, or replace the entry of the same key.

        Raises:
            StorageError: `storage.locked`, or as `list`.
        """
        with lock_state(self._layout):
            kept = tuple(other for other in self.list() if other.key != bundle.key)
            self._write((*kept, bundle))

    def remove(self, key: str) -> None:
        """Take a bundle off the list; its files are the caller's matter (see `store.removal`).

        Raises:
            ActivationError: `activation.not_installed`.
            StorageError: `storage.locked`, or as `list`.
        """
        with lock_state(self._layout):
            self.get(key)
            self._write(tuple(other for other in self.list() if other.key != key))

    def mark_proven(self, key: str, proven_at: datetime | None) -> InstalledBundle:
        """Note when the device pass succeeded, or with None that it no longer counts.

        Raises:
            ActivationError: `activation.not_installed`.
            StorageError: `storage.locked`, or as `list`.
        """
        with lock_state(self._layout):
            marked = replace(self.get(key), proven_at=proven_at)
            self._write(tuple(marked if other.key == key else other for other in self.list()))
            return marked

    def _write(self, bundles: tuple[InstalledBundle, ...]) -> None:
        write_json(self._layout.registry, {"schema": _SCHEMA, "bundles": [_encode(one) for one in bundles]})


def _encode(bundle: InstalledBundle) -> dict[str, Any]:
    return {
        "key": bundle.key,
        "path": f"bundles/{bundle.key}",
        "id": bundle.id,
        "tier": bundle.tier.value,
        "version": bundle.version,
        "manifestSha256": bundle.manifest_sha256.hex,
        "sizeBytes": bundle.size_bytes,
        "installedAt": bundle.installed_at.astimezone(UTC).isoformat(),
        "isStandin": bundle.is_standin,
        "hub": bundle.hub,
        "revision": bundle.revision,
        "provenAt": bundle.proven_at.astimezone(UTC).isoformat() if bundle.proven_at else None,
    }


def _decode(document: Any) -> tuple[InstalledBundle, ...]:
    if document["schema"] != _SCHEMA:
        raise ValueError(f"schema {document['schema']!r} is not {_SCHEMA}")
    bundles = tuple(_decode_one(row) for row in document["bundles"])
    if len({bundle.key for bundle in bundles}) != len(bundles):
        raise ValueError("one key twice")
    return bundles


def _decode_one(row: Any) -> InstalledBundle:
    key = checked_key(_text(row["key"]))
    if row["path"] != f"bundles/{key}":
        raise ValueError(f"path {row['path']!r} is not that of {key}")
    proven_at = row["provenAt"]
    return InstalledBundle(
        key=key,
        id=_text(row["id"]),
        tier=Tier(row["tier"]),
        version=_text(row["version"]),
        manifest_sha256=Sha256(_text(row["manifestSha256"])),
        size_bytes=size_of(row["sizeBytes"]),
        installed_at=moment_of(row["installedAt"]),
        is_standin=_flag(row["isStandin"]),
        hub=_text(row["hub"]),
        revision=_text(row["revision"]),
        proven_at=moment_of(proven_at) if proven_at is not None else None,
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _corrupt(layout: StateLayout, error: Exception) -> StorageError:
    return StorageError(
        "registry_corrupt",
        "The list of installed Eliza-1 bundles cannot be read.",
        details={"path": str(layout.registry), "fault": str(error)},
    )
