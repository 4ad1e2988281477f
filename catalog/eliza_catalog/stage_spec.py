"""What to stage, as a value and as a JSON file.

Holds no rule: a draft is a manifest without digests, and the decoder says what is wrong with it once they are
filled in (contract section 6).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eliza_catalog.disk import storage_faults
from eliza_catalog.errors import ManifestError
from eliza_catalog.json_text import parse_json

_HELP = "See `python -m eliza_catalog.stage --help` for its form."


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSpec:
    """What to stage.

    Attributes:
        draft: the manifest document but for the digests, which are computed (`files.*[].sha256` is left out).
        sources: for each path in the draft's `files`, the file on this disk.
        licenses: texts by file name, for `licenses/`.
        evidence: JSON values for `evidence/release.json`, beside what staging itself records.
    """

    draft: Mapping[str, Any]
    sources: Mapping[str, Path]
    licenses: Mapping[str, str]
    evidence: Mapping[str, Any] = field(default_factory=dict)


def file_entries(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every entry of `document.files`, in order; passes over what is not an entry."""
    groups = document.get("files")
    for entries in groups.values() if isinstance(groups, dict) else ():
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict):
                yield entry


def read_spec(file: Path) -> StageSpec:
    """Read a spec from JSON: `{"manifest": {...}, "licenses": {name: file}, "evidence": {...}}`.

    Every entry of `manifest.files` has a `source` beside its `path`; relative files start at the spec's own folder.

    Raises:
        ManifestError: `manifest.unreadable` or `manifest.malformed`.
        StorageError: the disk refuses.
    """
    with storage_faults(file):
        document = parse_json(file.read_bytes())
        draft = document.get("manifest") if isinstance(document, dict) else None
        licenses = document.get("licenses", {}) if isinstance(document, dict) else None
        if not isinstance(draft, dict) or not isinstance(licenses, dict):
            raise ManifestError(
                "malformed", "The list of parts needs `manifest` and may have `licenses`.", remedy=_HELP
            )
        folder = file.parent
        sources = {str(entry.get("path")): folder / str(entry.pop("source", "")) for entry in file_entries(draft)}
        texts = {str(name): (folder / str(path)).read_text("utf-8") for name, path in licenses.items()}
        return StageSpec(draft=draft, sources=sources, licenses=texts, evidence=document.get("evidence", {}))
