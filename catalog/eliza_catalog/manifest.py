"""The manifest as frozen values: its shape and nothing else.

`decode` is the only maker of a `Manifest`; rules live in `contract`. Field names are ours, the JSON
spelling is noted where it differs (contract section 6; facts 2.1-2.7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from eliza_catalog.terms import (
    Backend,
    BundleId,
    BundlePath,
    FileGroup,
    Kernel,
    LineageSlot,
    ReleaseState,
    RuntimeClass,
    Sha256,
    Tier,
    VerifiedStatus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One file of a bundle. `ctx` (tokens) and `runtime_class` belong to text artifacts only."""

    path: BundlePath
    sha256: Sha256
    ctx: int | None = None
    runtime_class: RuntimeClass | None = None
    target: str | None = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """Where a component came from."""

    base: str
    license: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendVerification:
    """The publisher's kernel verification on one backend (`kernels.verifiedBackends`)."""

    status: VerifiedStatus
    at_commit: str
    report: str
    device: str | None = None
    caveat: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipePin:
    """How a quantised block type was made (`kernels.recipeManifest`)."""

    block_layout_version: str
    codebook_hash: str
    per_block_tolerance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernels:
    """What the bundle's files need from the library."""

    required: tuple[Kernel, ...]
    optional: tuple[Kernel, ...] = ()
    verified_backends: Mapping[Backend, BackendVerification]
    recipe_manifest: Mapping[str, RecipePin] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RamBudget:
    """`ramBudgetMb`, in MiB."""

    min_mib: int
    recommended_mib: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One eval: whether it passed, and its figures by their JSON names (None = not measured)."""

    passed: bool
    figures: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evals:
    """The publisher's eval results; `gates` is keyed by JSON name (`textEval`, `voiceRtf`, `mtp`, ...)."""

    gates: Mapping[str, Gate]
    e2e_loop_ok: bool
    thirty_turn_ok: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceModel:
    """One entry of `provenance.sourceModels`."""

    repo: str
    file: str | None = None
    converted_via: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """How the bundle was made and how far it is released."""

    release_state: ReleaseState
    finetuned: bool
    source_models: Mapping[str, SourceModel]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceBlock:
    """The frozen voice of the bundle."""

    version: str
    speaker_preset: BundlePath
    phrase_cache_seed: BundlePath
    capabilities: tuple[str, ...] = ("tts",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """`eliza-1.manifest.json`, read. `digest` is the SHA-256 of the very bytes it was read from."""

    id: BundleId
    tier: Tier
    version: str
    published_at: datetime
    lineage: Mapping[LineageSlot, Lineage]
    files: Mapping[FileGroup, tuple[Artifact, ...]]
    kernels: Kernels
    evals: Evals
    ram: RamBudget
    default_eligible: bool
    digest: Sha256
    provenance: Provenance | None = None
    voice: VoiceBlock | None = None
    release_channel: str | None = None
    text_quant: Any = None
    tokenizer: Mapping[str, Any] | None = None
    kv: str | None = None
    mtp: str | None = None

    @property
    def is_standin(self) -> bool:
        """Whether this is a stand-in for demonstrations, which can never be a default."""
        return self.provenance is not None and self.provenance.release_state is ReleaseState.LOCAL_STANDIN

    def artifacts(self, *groups: FileGroup) -> Iterator[tuple[FileGroup, Artifact]]:
        """Yield every artifact with its group, in manifest order; of `groups` only, if any are given."""
        for group, artifacts in self.files.items():
            if not groups or group in groups:
                for artifact in artifacts:
                    yield group, artifact

    def first(self, group: FileGroup) -> Artifact | None:
        """Return the first artifact of a group, or None."""
        return next((artifact for _, artifact in self.artifacts(group)), None)


MANIFEST_NAME = "eliza-1.manifest.json"
MAX_MANIFEST_BYTES = 1 << 20
