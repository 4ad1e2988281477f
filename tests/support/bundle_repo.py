"""Small true bundles: a repository folder whose manifest tells the truth about its bytes.

The manifest is the contract-keeping one of `tests.support.manifests`, with the digests of seeded bytes; the fit
is the real judges' verdict, because nothing else can make a plan.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.fake_host import host
from tests.support.manifests import document

from eliza_agent.download.plan import DownloadPlan, make_plan
from eliza_agent.download.source import FetchedManifest, HubSource
from eliza_capabilities.fit import AcceptedFit, judge_fit
from eliza_catalog.contract import judge_manifest
from eliza_catalog.decode import decode_manifest
from eliza_catalog.manifest import MANIFEST_NAME
from eliza_catalog.terms import BundlePath

FOLDER = "bundles/e2b"
TEXT = "text/eliza-1-e2b-128k.gguf"
VAD = "vad/silero-vad-v5.gguf"
SMALL_BYTES = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleRepo:
    """A repository on the disk: `root` is what a hub serves, `files` the bundle's bytes by path."""

    root: Path
    files: Mapping[str, bytes]
    manifest: bytes

    @property
    def size_bytes(self) -> int:
        """The bundle's bytes, the manifest not counted."""
        return sum(len(data) for data in self.files.values())

    def digest(self, path: str) -> str:
        """Return the digest of one file of the bundle."""
        return hashlib.sha256(self.files[path]).hexdigest()

    def fetched(self, source: HubSource) -> FetchedManifest:
        """Return the manifest as if it had been fetched from `source`."""
        return FetchedManifest.of(self.manifest, BundlePath(FOLDER), source)

    def plan(self, base_url: str, revision: str = "main") -> DownloadPlan:
        """Return the plan to fetch this bundle from a hub."""
        source = HubSource(base_url=base_url, revision=revision)
        return make_plan(accepted(self.manifest), self.fetched(source))


def make_repo(
    root: Path, *, sizes: Mapping[str, int] | None = None, seed: int = 1, version: str = "1.0.0"
) -> BundleRepo:
    """Write a bundle below `root/bundles/e2b`; `sizes` overrides the size in bytes of single files."""
    manifest = document()
    manifest["version"] = version
    chance, files = random.Random(seed), {}
    for rows in manifest["files"].values():
        for row in rows:
            data = _seeded(row["path"], (sizes or {}).get(row["path"], SMALL_BYTES), chance)
            files[row["path"]] = data
            row["sha256"] = hashlib.sha256(data).hexdigest()
    raw = json.dumps(manifest).encode()
    folder = root / FOLDER
    for path, data in {**files, MANIFEST_NAME: raw}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return BundleRepo(root=root, files=files, manifest=raw)


def accepted(raw: bytes) -> AcceptedFit:
    """Return the judges' verdict on a manifest for a roomy host."""
    fit = judge_fit(host(), judge_manifest(decode_manifest(raw)))
    assert isinstance(fit, AcceptedFit), fit
    return fit


def _seeded(path: str, size: int, chance: random.Random) -> bytes:
    magic = b"GGUF" if path.endswith(".gguf") else b""
    return (magic + chance.randbytes(size))[:size]
