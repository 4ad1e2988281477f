"""What is active here: read from three small files, fit to be asked many times a second.

Needs no service, opens no library and takes no lock, so that it answers within a tenth of a second also while
a download runs (issue 7: `status` never blocks). Imports only what these files need.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eliza_agent.settings import read_settings
from eliza_agent.store.active import ActiveFile
from eliza_agent.store.atomic import read_bytes_if_there
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.note import NOTE_FAULTS, parse_note
from eliza_agent.store.registry import InstalledBundle, Registry
from eliza_agent.surfaces.leaving import as_product_error, leave_unheard, leave_with, say
from eliza_catalog.errors import ExitCode
from eliza_catalog.words import display_name

SCHEMA = 1


def status_document(state_dir: Path) -> dict[str, Any]:
    """Return the status as JSON values: `state` is `ready`, `unproven`, `broken` or `not-set-up`.

    Raises:
        StorageError: `storage.registry_corrupt`, `storage.denied`, `storage.failed`.
    """
    layout = StateLayout(state_dir)
    pointer = ActiveFile(layout).read()
    installed = {bundle.key: bundle for bundle in Registry(layout).list()}
    active = installed.get(pointer.active or "")
    there = active is not None and _is_there(layout, active.key)
    return {
        "schema": SCHEMA,
        "state": _state(pointer.active, active, there),
        "active": _bundle_document(active) if active else None,
        "since": pointer.since.isoformat() if pointer.since else None,
        "previous": pointer.previous,
        "installed": len(installed),
        "stateDir": str(state_dir),
    }


def _is_there(layout: StateLayout, key: str) -> bool:
    """Whether every file that was published still lies where it was; what is in it is for `verify` to say."""
    try:
        record = parse_note(read_bytes_if_there(layout.tree_record(key)) or b"")
        return all((layout.bundle(key) / path).is_file() for path in record["files"])
    except NOTE_FAULTS:
        return False


def _state(pointed: str | None, active: InstalledBundle | None, there: bool) -> str:
    if pointed is None:
        return "not-set-up"
    if active is None or not there:
        return "broken"
    return "ready" if active.proven_at else "unproven"


def _bundle_document(bundle: InstalledBundle) -> dict[str, Any]:
    return {
        "key": bundle.key,
        "name": display_name(bundle.tier, standin=bundle.is_standin),
        "tier": bundle.tier.value,
        "version": bundle.version,
        "standin": bundle.is_standin,
        "sizeBytes": bundle.size_bytes,
        "provenAt": bundle.proven_at.isoformat() if bundle.proven_at else None,
        "hub": bundle.hub,
    }


def status_text(document: dict[str, Any]) -> str:
    """Return the same for people."""
    active = document["active"]
    if active is None and document["state"] == "not-set-up":
        return "Eliza-1 is not set up on this device.\nRun `eliza-agent setup` to begin."
    if document["state"] == "broken":
        return "Files of the active Eliza-1 are gone.\nRun `eliza-agent setup` to repair it."
    proof = f"proven {ago(active['provenAt'])}" if active["provenAt"] else "not proven: run `eliza-agent verify`"
    lines = [
        f"{active['name']} {active['version']} is active, {proof}.",
        f"  size       {size_text(active['sizeBytes'])}",
        f"  since      {ago(document['since'])}",
        f"  from       {active['hub']}",
        f"  kept in    {document['stateDir']}",
    ]
    if document["previous"]:
        lines.append(f"  before it  {document['previous']} (eliza-agent rollback)")
    return "\n".join(lines)


def status_exit_code(document: dict[str, Any]) -> ExitCode:
    """Return 0 when Eliza-1 answers here, 9 when it is not set up, 7 when it is not proven or broken."""
    codes = {"ready": ExitCode.OK, "not-set-up": ExitCode.NOT_SET_UP}
    return codes.get(document["state"], ExitCode.VERIFICATION)


def ago(moment: str) -> str:
    """Return an ISO time as words such as `3 minutes ago`."""
    seconds = max(0, int((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()))
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def size_text(size_bytes: int) -> str:
    """Return a size in the unit a person would choose; decimal, as disks are sold."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit in ("B", "kB") else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def quick_status(*, as_json: bool) -> int:
    """Answer `eliza-agent status [--json]` and return the exit code."""
    try:
        document = status_document(read_settings().state_dir)
        say(json.dumps(document, ensure_ascii=False, indent=2) if as_json else status_text(document))
    except BrokenPipeError:
        leave_unheard()
    except Exception as error:  # noqa: BLE001 - here every failure becomes a document, as in `surfaces.verb`
        leave_with(as_product_error(error), as_json)
    return int(status_exit_code(document))
