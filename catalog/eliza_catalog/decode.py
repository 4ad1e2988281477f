"""Bytes to `Manifest`: reads one document and reports every fault in it before it raises.

It never repairs, never guesses and never judges combinations (that is `contract`); it opens no file. Keeps
downloader rule 1 of contract section 7: schema version, kernels and paths are known before any weight byte.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from cattrs import BaseValidationError

from eliza_catalog import spelling
from eliza_catalog.errors import ManifestError
from eliza_catalog.json_text import below, parse_json, text_faults
from eliza_catalog.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES, Manifest
from eliza_catalog.structure import Fault, Misshapen, build_converter, faults_of
from eliza_catalog.terms import BundlePath, FileGroup, Sha256

_CONVERTER = build_converter()


def decode_manifest(raw: bytes) -> Manifest:
    """Read `eliza-1.manifest.json`; unknown keys are dropped, unknown kernels and schema versions are refused.

    Args:
        raw: the document's bytes, as the hub sent them; their SHA-256 becomes `Manifest.digest`.

    Returns:
        The manifest, not yet judged.

    Raises:
        ManifestError: `manifest.too_large`, `manifest.unreadable`, `manifest.schema_unknown`; or
            `manifest.malformed` and `manifest.path_unsafe`, whose `details.faults` list every
            `{pointer, fault}`.
    """
    if len(raw) > MAX_MANIFEST_BYTES:
        raise ManifestError("too_large", "The manifest of this Eliza-1 is too large.", details={"size_bytes": len(raw)})
    document = parse_json(raw)
    _refuse_unknown_schema(document)
    faults = [Fault(pointer=pointer, text=text) for pointer, text in text_faults(document)]
    faults += _path_clashes(document)
    digest = Sha256(hashlib.sha256(raw).hexdigest())
    manifest = _structured(document, digest, faults)
    if manifest is None or faults:
        raise _refusal(faults)
    return manifest


def _refuse_unknown_schema(document: Any) -> None:
    if not isinstance(document, dict):
        return
    schema, version = document.get("$schema", spelling.SCHEMA_ID), document.get("schemaVersion", 2)
    if schema != spelling.SCHEMA_ID or isinstance(version, bool | float) or version not in spelling.SCHEMA_VERSIONS:
        raise ManifestError(
            "schema_unknown",
            "This Eliza-1 was published in a form that this version of eliza-agent does not know.",
            details={"$schema": str(schema)[:200], "schemaVersion": str(version)[:200]},
        )


def _structured(document: Any, digest: Sha256, faults: list[Fault]) -> Manifest | None:
    """Structure the document; on failure add what is wrong to `faults` and return None."""
    try:
        if isinstance(document, dict):
            document = {**document, spelling.NOT_IN_JSON: digest}
        read = _CONVERTER.structure(document, Manifest)
    except (BaseValidationError, Misshapen) as error:
        faults.extend(faults_of(error))
        return None
    nested: Any = read.tokenizer
    if nested is None:
        return read
    as_json = {"family": nested.family, "vocabSize": nested.vocab_size}
    return replace(read, tokenizer=types.MappingProxyType(as_json))


def _refusal(faults: list[Fault]) -> ManifestError:
    listed = [{"pointer": fault.pointer, "fault": fault.text} for fault in faults]
    if any(fault.unsafe_path for fault in faults):
        message = "The manifest of this Eliza-1 names files outside its own folder."
        return ManifestError("path_unsafe", message, details={"faults": listed})
    count = "one fault" if len(listed) == 1 else f"{len(listed)} faults"
    return ManifestError("malformed", f"The manifest of this Eliza-1 has {count}.", details={"faults": listed})


def _named_files(document: Any) -> Iterator[tuple[str, BundlePath, Any]]:
    """Yield pointer, path and digest of each listed file whose path is well-formed."""
    groups = document.get("files") if isinstance(document, dict) else None
    for group in FileGroup:
        entries = groups.get(group) if isinstance(groups, dict) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            path = entry.get("path") if isinstance(entry, dict) else None
            try:
                if isinstance(path, str):
                    yield below(f"/files/{group}", index), BundlePath(path), entry.get("sha256")
            except ManifestError:
                continue  # the converter reports this path


def _path_clashes(document: Any) -> Iterator[Fault]:
    """Yield a fault for each file that another file, or the manifest itself, would overwrite on some disk."""
    files: dict[str, tuple[str, Any]] = {MANIFEST_NAME.casefold(): (MANIFEST_NAME, None)}
    folders: set[str] = set()
    for pointer, path, digest in _named_files(document):
        text, other = files.setdefault(path.folded, (path.text, digest))
        if text != path.text or path.folded == MANIFEST_NAME.casefold():
            yield Fault(pointer=f"{pointer}/path", text="differs from another file of this bundle in case only")
        elif other != digest:
            yield Fault(pointer=f"{pointer}/sha256", text="is a second digest for the same path")
        parts = path.folded.split("/")
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    for pointer, path, _ in _named_files(document):
        if path.folded in folders:
            yield Fault(pointer=f"{pointer}/path", text="is also the folder of another file")
