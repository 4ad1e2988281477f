"""The publisher's side: assembles a bundle folder and its manifest from parts.

What is staged was decoded and judged by the very gates that devices use, so a bundle they would refuse is not
staged. It converts nothing and uploads nothing. Keeps the bundle layout of contract section 2 and the manifest of
section 6.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eliza_catalog.architectures import is_standin_only
from eliza_catalog.contract import judge_manifest
from eliza_catalog.decode import decode_manifest
from eliza_catalog.disk import digest_of, digest_of_bytes, place_file, storage_faults, swap_folder, write_whole
from eliza_catalog.errors import ElizaError, IntegrityError
from eliza_catalog.gguf_header import read_architecture
from eliza_catalog.manifest import MANIFEST_NAME, Manifest
from eliza_catalog.stage_spec import StageSpec, file_entries, read_spec
from eliza_catalog.terms import BundlePath, Sha256
from eliza_catalog.tiers import HUB_REPOSITORY, bundle_folder

SUMS_NAME = "checksums/SHA256SUMS"
EVIDENCE_NAME = "evidence/release.json"


def canonical_json(value: Any) -> bytes:
    """Return the one spelling of a JSON value that we write: sorted, indented, ASCII, closed by a newline."""
    return (json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def stage_bundle(spec: StageSpec, out_root: Path, *, link: bool = True) -> Path:
    """Assemble a bundle below a hub folder; the same spec and parts give the same bytes.

    Args:
        spec: what to stage.
        out_root: the hub folder; the bundle goes to `<owner>/<repo>/bundles/<slug>` below it, in one step.
        link: place parts as hard links where the disk can; False copies, so that nobody can reach the parts
            through the bundle.

    Returns:
        The bundle's folder, already there and untouched when it holds exactly this bundle.

    Raises:
        ManifestError: the draft is not a manifest, by the codes of `decode_manifest`.
        ContractError: `contract.violated`.
        IntegrityError: `integrity.missing`, a part is not there; `integrity.wrong_architecture`, a bundle that may
            be a default has a part that only stand-ins may have.
        StorageError: the disk refuses.
    """
    with storage_faults(out_root):
        raw = canonical_json(_with_digests(spec))
        manifest = decode_manifest(raw)
        judge_manifest(manifest, allow_standin=True)
        _judge_architectures(spec, manifest)
        place = out_root / HUB_REPOSITORY / bundle_folder(manifest.tier)
        texts = _texts(spec, manifest, raw)
        parts = {artifact.path: spec.sources[artifact.path.text] for _, artifact in manifest.artifacts()}
        if not _is_staged(place, parts, texts):
            _assemble(place, parts, texts, link=link)
    return place


def _with_digests(spec: StageSpec) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(dict(spec.draft))
    for entry in file_entries(document):
        entry["sha256"] = str(_source_digest(spec, entry.get("path")))
    return document


def _source_digest(spec: StageSpec, path: object) -> Sha256:
    source = spec.sources.get(path) if isinstance(path, str) else None
    if source is None or not source.is_file():
        details = {"path": str(path), "source": str(source)}
        raise IntegrityError("missing", "A part of the bundle is not there.", remedy="Make it first.", details=details)
    return digest_of(source)


def _judge_architectures(spec: StageSpec, manifest: Manifest) -> None:
    """Refuse what devices refuse after a download; a part that is no model file is the last gate's to find."""
    for group, artifact in manifest.artifacts() if manifest.default_eligible else ():
        try:
            architecture = read_architecture(spec.sources[artifact.path.text])
        except IntegrityError:
            continue
        if is_standin_only(group, architecture):
            details = {"path": artifact.path.text, "architecture": architecture}
            message = f"The {group} part is one that only stand-ins may have."
            raise IntegrityError("wrong_architecture", message, details=details)


def _texts(spec: StageSpec, manifest: Manifest, raw: bytes) -> dict[str, bytes]:
    """Return the content of every file that staging writes itself, by path inside the bundle."""
    texts = {MANIFEST_NAME: raw, EVIDENCE_NAME: canonical_json(_evidence(spec, manifest))}
    for name, text in spec.licenses.items():
        texts[str(BundlePath(f"licenses/{name}"))] = text.encode()
    sums = {artifact.path.text: artifact.sha256 for _, artifact in manifest.artifacts()}
    sums |= {path: digest_of_bytes(content) for path, content in texts.items()}
    lines = [f"{digest}  {path}\n" for path, digest in sorted(sums.items())]
    return texts | {SUMS_NAME: "".join(lines).encode()}


def _evidence(spec: StageSpec, manifest: Manifest) -> dict[str, Any]:
    state = manifest.provenance.release_state if manifest.provenance else None
    return {
        **spec.evidence,
        "bundle": manifest.id,
        "version": manifest.version,
        "releaseState": state,
        "manifestSha256": str(manifest.digest),
        "judged": "decoded and judged by the gates that devices use before it was placed",
    }


def _is_staged(place: Path, parts: Mapping[BundlePath, Path], texts: Mapping[str, bytes]) -> bool:
    """Say whether `place` holds exactly this bundle; parts are compared by identity or digest."""
    there = {file.relative_to(place).as_posix() for file in place.rglob("*") if file.is_file()}
    if there != set(texts) | {path.text for path in parts}:
        return False
    if any((place / path).read_bytes() != content for path, content in texts.items()):
        return False
    return all(_is_same(source, path.below(place)) for path, source in parts.items())


def _is_same(source: Path, placed: Path) -> bool:
    if placed.samefile(source):
        return True
    return placed.stat().st_size == source.stat().st_size and digest_of(placed) == digest_of(source)


def _assemble(place: Path, parts: Mapping[BundlePath, Path], texts: Mapping[str, bytes], *, link: bool) -> None:
    building = place.with_name(f".{place.name}.{os.getpid()}.new")
    shutil.rmtree(building, ignore_errors=True)
    try:
        for path, source in parts.items():
            place_file(source, path.below(building), link=link)
        for name, content in texts.items():
            write_whole(building / name, content)
        swap_folder(building, place)
    finally:
        shutil.rmtree(building, ignore_errors=True)


_FORM = """\
The spec is a JSON file:

  {"manifest": {...},                       the manifest, but in `files` each entry has a `source`
                                            (a file on this disk) where the digest will stand:
                                            {"path": "text/eliza-1-e2b-128k.gguf", "ctx": 131072,
                                             "source": "out/text.gguf"}
   "licenses": {"LICENSE.text": "a file"},  texts for `licenses/`
   "evidence": {...}}                       JSON values for `evidence/release.json`

Relative files start at the spec's own folder. Nothing is staged that a device would refuse; then every reason
is listed on stderr as one JSON document.
"""


def main(arguments: list[str] | None = None) -> int:
    """Stage the bundle that a spec file describes; print its folder. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m eliza_catalog.stage",
        description="Assemble an Eliza-1 bundle from parts.",
        epilog=_FORM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("spec", type=Path, help="the JSON file that names the parts")
    parser.add_argument("--out", type=Path, required=True, help="the hub folder to stage into")
    parser.add_argument("--copy", action="store_true", help="copy the parts instead of linking them")
    asked = parser.parse_args(arguments)
    try:
        folder = stage_bundle(read_spec(asked.spec), asked.out, link=not asked.copy)
    except ElizaError as error:
        sys.stderr.write(json.dumps(error.as_json(), indent=2) + "\n")
        return error.exit_code
    sys.stdout.write(f"{folder}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
