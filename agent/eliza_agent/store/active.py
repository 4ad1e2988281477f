"""The pointer to the bundle that answers, and to the one before it.

One small file, replaced atomically, so that a power cut leaves the old answer or the new one. Never judges
whether a bundle may answer; `setup.activate` does, before it comes here. Reading is cheap enough for status.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from eliza_agent.store.atomic import read_bytes_if_there, write_json
from eliza_agent.store.layout import StateLayout, checked_key
from eliza_agent.store.lock import lock_state
from eliza_agent.store.note import NOTE_FAULTS, moment_of, parse_note
from eliza_catalog.errors import ActivationError, StorageError

_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivePointer:
    """Which bundle key answers since when (UTC), and which one answered before."""

    active: str | None = None
    previous: str | None = None
    since: datetime | None = None


class ActiveFile:
    """The active pointer of one state folder."""

    def __init__(self, layout: StateLayout) -> None:
        self._layout = layout

    def read(self) -> ActivePointer:
        """Return the pointer; an absent file means that nothing is active.

        Raises:
            StorageError: `storage.registry_corrupt` when the file is not ours; `storage.denied`, `storage.failed`.
        """
        data = read_bytes_if_there(self._layout.active)
        if data is None:
            return ActivePointer()
        try:
            return _decode(parse_note(data))
        except NOTE_FAULTS as error:
            raise _corrupt(self._layout, error) from error

    def activate(self, key: str) -> ActivePointer:
        """Let `key` answer; what answered before becomes `previous`. Activating the active one changes nothing.

        Raises:
            ActivationError: `activation.not_installed`.
            StorageError: `storage.locked`, `storage.registry_corrupt` or the disk's refusal.
        """
        with lock_state(self._layout):
            now = self.read()
            self._require_installed(key)
            if now.active == key:
                return now
            return self._write(ActivePointer(active=key, previous=now.active, since=datetime.now(UTC)))

    def rollback(self) -> ActivePointer:
        """Let the previous bundle answer again; the two change places, so a second call undoes the first.

        Raises:
            ActivationError: `activation.no_previous`, or `activation.not_installed` when its files are gone.
            StorageError: as `activate`.
        """
        with lock_state(self._layout):
            now = self.read()
            if now.previous is None:
                raise ActivationError("no_previous", "There is no earlier Eliza-1 on this device.")
            self._require_installed(now.previous)
            return self._write(ActivePointer(active=now.previous, previous=now.active, since=datetime.now(UTC)))

    def forget_previous(self, key: str) -> None:
        """Drop `key` as the way back, because its files are about to go.

        Raises:
            StorageError: as `activate`.
        """
        with lock_state(self._layout):
            now = self.read()
            if now.previous == key:
                self._write(ActivePointer(active=now.active, previous=None, since=now.since))

    def _require_installed(self, key: str) -> None:
        if not self._layout.bundle(key).is_dir():
            raise ActivationError("not_installed", "This Eliza-1 is not installed.", details={"key": key})

    def _write(self, pointer: ActivePointer) -> ActivePointer:
        since = pointer.since.isoformat() if pointer.since else None
        document = {"schema": _SCHEMA, "active": pointer.active, "previous": pointer.previous, "since": since}
        write_json(self._layout.active, document)
        return pointer


def _decode(document: Any) -> ActivePointer:
    if document["schema"] != _SCHEMA:
        raise ValueError(f"schema {document['schema']!r}")
    active, since = _key(document["active"]), document["since"]
    if active is not None and since is None:
        raise ValueError("active since no time")
    return ActivePointer(
        active=active,
        previous=_key(document["previous"]),
        since=moment_of(since) if since is not None else None,
    )


def _key(value: Any) -> str | None:
    return None if value is None else checked_key(value)


def _corrupt(layout: StateLayout, error: Exception) -> StorageError:
    return StorageError(
        "registry_corrupt",
        "The note of the active Eliza-1 cannot be read.",
        remedy="Move active.json away and run `eliza-agent activate`.",
        details={"path": str(layout.active), "fault": str(error)},
    )
