"""The last gate: only a bundle that was proven here, unchanged since, may answer.

Reads what the store kept (manifest bytes, report, registry row) and moves the active pointer; loads nothing.
Keeps contract sections 3 (a failing bundle is refused, never half used) and 7, rule 4.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from eliza_agent.store.active import ActiveFile, ActivePointer
from eliza_agent.store.atomic import read_bytes_if_there, write_json
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.lock import lock_state
from eliza_agent.store.note import NOTE_FAULTS, parse_note
from eliza_agent.store.registry import InstalledBundle, Registry
from eliza_agent.verify.report import VerifyReport
from eliza_catalog.contract import ServableManifest, judge_manifest
from eliza_catalog.decode import decode_manifest
from eliza_catalog.errors import ActivationError, ElizaError, IntegrityError
from eliza_catalog.manifest import MANIFEST_NAME, Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveBundle:
    """A bundle that may answer: where it lies, what it is, and the proof it stands on."""

    installed: InstalledBundle
    root: Path
    servable: ServableManifest
    report: VerifyReport

    @property
    def manifest(self) -> Manifest:
        """The bundle's manifest."""
        return self.servable.manifest


def keep_report(layout: StateLayout, key: str, report: VerifyReport) -> None:
    """Keep a verification report, passed or not, where status and the gate find it.

    Raises:
        StorageError: the disk refused.
    """
    write_json(layout.report(key), report.as_json())


def kept_report(layout: StateLayout, key: str) -> VerifyReport | None:
    """Return the kept report of a bundle; None when there is none or it is of a form that is not ours.

    Raises:
        StorageError: the disk refused.
    """
    data = read_bytes_if_there(layout.report(key))
    if data is None:
        return None
    try:
        return VerifyReport.from_json(parse_note(data))
    except (*NOTE_FAULTS, ElizaError):
        return None  # an unreadable proof is no proof: the bundle counts as not verified


def read_installed(layout: StateLayout, installed: InstalledBundle) -> ServableManifest:
    """Return the manifest of an installed bundle, whose bytes must still be those that were installed.

    Raises:
        IntegrityError: `integrity.missing` when the tree is gone.
        ActivationError: `activation.manifest_changed`.
        ManifestError, ContractError: the manifest is not one this version serves.
    """
    data = read_bytes_if_there(layout.bundle(installed.key) / MANIFEST_NAME)
    if data is None:
        raise IntegrityError("missing", "The files of this Eliza-1 are gone.", details={"key": installed.key})
    if hashlib.sha256(data).hexdigest() != installed.manifest_sha256.hex:
        raise _changed(installed.key)
    return judge_manifest(decode_manifest(data), allow_standin=installed.is_standin)


def admit(layout: StateLayout, key: str) -> ActiveBundle:
    """Pass a bundle through the gate without making it active.

    Raises:
        ActivationError: `activation.not_installed`, `not_verified`, `eval_gate` or `manifest_changed`.
        IntegrityError, ManifestError, ContractError, StorageError: as `read_installed`.
    """
    installed = Registry(layout).get(key)
    servable = read_installed(layout, installed)
    if servable.activation_bars:
        raise _barred(key, servable)
    report = kept_report(layout, key)
    if report is None or not report.passed or installed.proven_at is None:
        raise ActivationError("not_verified", "This Eliza-1 was not proven on this device.", details={"key": key})
    if report.manifest_sha256 != installed.manifest_sha256.hex:
        raise _changed(key)
    return ActiveBundle(installed=installed, root=layout.bundle(key), servable=servable, report=report)


def activate_bundle(layout: StateLayout, key: str) -> ActivePointer:
    """Let a proven bundle answer from now on; what answered before stays for `rollback`.

    Raises:
        ActivationError, IntegrityError, ManifestError, ContractError, StorageError: as `admit`.
    """
    with lock_state(layout):
        admit(layout, key)
        return ActiveFile(layout).activate(key)


def roll_back(layout: StateLayout) -> ActivePointer:
    """Let the bundle that answered before answer again, through the same gate.

    Raises:
        ActivationError: `activation.no_previous`, or as `admit`.
        IntegrityError, ManifestError, ContractError, StorageError: as `admit`.
    """
    with lock_state(layout):
        previous = ActiveFile(layout).read().previous
        if previous is not None:
            admit(layout, previous)
        return ActiveFile(layout).rollback()


def active_bundle(layout: StateLayout) -> ActiveBundle:
    """Return the bundle that answers now, through the same gate.

    Raises:
        ActivationError: `activation.nothing_active`, or as `admit`.
        IntegrityError, ManifestError, ContractError, StorageError: as `admit`.
    """
    key = ActiveFile(layout).read().active
    if key is None:
        raise ActivationError("nothing_active", "No Eliza-1 is active on this device.")
    return admit(layout, key)


def _changed(key: str) -> ActivationError:
    return ActivationError("manifest_changed", "This Eliza-1 changed since it was proven.", details={"key": key})


def _barred(key: str, servable: ServableManifest) -> ActivationError:
    bars = [{"code": bar.code, "message": bar.message, "remedy": bar.remedy} for bar in servable.activation_bars]
    return ActivationError(
        "eval_gate", "This Eliza-1 may be kept but may not answer.", details={"key": key, "reasons": bars}
    )
