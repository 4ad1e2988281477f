"""The tier table and the versioned policies, read once from this package's `data/catalog.json`.

Answers what is known of a tier before any manifest is seen, and which kernels a manifest needs: its own list and
the policy's together, so a bundle can ask for more than the policy but never for less. Judges nothing (contract
sections 2 and 3; facts 2.4, 3.1, 4.3).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from eliza_catalog.manifest import Manifest
from eliza_catalog.terms import Backend, FileGroup, Kernel, ReleaseState, Tier, VoiceBackend


@dataclass(frozen=True, slots=True, kw_only=True)
class TierFacts:
    """One row of the tier table.

    Sizes are those of the hosted files and None where none is hosted. `kv_bytes_per_token` is the fallback for a
    bundle whose own header was not read yet; `min_ram_mib` likewise for one whose manifest was not.
    """

    tier: Tier
    slug: str
    parameters_billion: int
    min_ram_mib: int
    text_size_bytes: int | None
    download_size_bytes: int | None
    context_tokens: int
    kv_bytes_per_token: int
    size_class: str
    gpu_profile: str | None
    is_published: bool
    is_mobile: bool
    supported_backends: tuple[Backend, ...]
    voice_backends: tuple[VoiceBackend, ...]
    default_voice_level: str
    voice_levels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPolicy:
    """Which kernels every bundle of a time needs (`required`) and may use (`optional`)."""

    version: str
    required: frozenset[Kernel]
    optional: frozenset[Kernel]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePolicy:
    """What binds a bundle by how far it is released; stand-ins for demonstrations are bound by less."""

    name: str
    kernel_policy_binds: bool
    context_floor_tokens: int
    may_omit_groups: frozenset[FileGroup]


def _read_data() -> Mapping[str, Any]:
    document: dict[str, Any] = json.loads(files(__package__).joinpath("data/catalog.json").read_text("utf-8"))
    return MappingProxyType(document)


def _tier_facts(row: dict[str, Any]) -> TierFacts:
    typed: dict[str, Any] = {
        "tier": Tier(row["tier"]),
        "supported_backends": tuple(Backend(name) for name in row["supported_backends"]),
        "voice_backends": tuple(VoiceBackend(name) for name in row["voice_backends"]),
        "voice_levels": tuple(row["voice_levels"]),
    }
    return TierFacts(**{**row, **typed})


def _kernel_policy(row: dict[str, Any]) -> KernelPolicy:
    return KernelPolicy(
        version=row["version"],
        required=frozenset(Kernel(name) for name in row["required"]),
        optional=frozenset(Kernel(name) for name in row["optional"]),
    )


def _release_policies(rows: list[dict[str, Any]]) -> Mapping[ReleaseState, ReleasePolicy]:
    by_state = {
        ReleaseState(state): ReleasePolicy(
            name=row["name"],
            kernel_policy_binds=row["kernel_policy_binds"],
            context_floor_tokens=row["context_floor_tokens"],
            may_omit_groups=frozenset(FileGroup(group) for group in row["may_omit_groups"]),
        )
        for row in rows
        for state in row["states"]
    }
    return MappingProxyType(by_state)


DATA: Mapping[str, Any] = _read_data()
TIERS: Mapping[Tier, TierFacts] = MappingProxyType({row.tier: row for row in map(_tier_facts, DATA["tiers"])})
KERNEL_POLICIES: Mapping[str, KernelPolicy] = MappingProxyType(
    {policy.version: policy for policy in map(_kernel_policy, DATA["kernel_policies"])}
)
KERNEL_POLICY: KernelPolicy = KERNEL_POLICIES[DATA["kernel_policy"]]
_RELEASE_POLICIES = _release_policies(DATA["release_policies"])
FIRST_RUN_TIER = Tier(DATA["first_run_tier"])
HUB_REPOSITORY: str = DATA["hub"]["repository"]
STRICT_STATES = frozenset(ReleaseState(state) for state in DATA["strict_states"])
STAGING_TOKENS: tuple[str, ...] = tuple(DATA["staging_tokens"])
DEFAULT_VOICE_PRESET: str = DATA["default_voice_preset"]

_NAME_PREFIX = "eliza-1-"
_BY_NAME: Mapping[str, Tier] = MappingProxyType(
    {str(row.tier): row.tier for row in TIERS.values()} | {row.slug: row.tier for row in TIERS.values()}
)


def slug_of(tier: Tier) -> str:
    """Return the name under which the hub publishes a tier (`2b` is `e2b`)."""
    return TIERS[tier].slug


def bundle_folder(tier: Tier) -> str:
    """Return the folder of a tier's bundle inside the hub's repository (`bundles/e2b`)."""
    folder: str = DATA["hub"]["bundle_folder"]
    return folder.format(slug=slug_of(tier))


def tier_from_name(name: str) -> Tier | None:
    """Return the tier that `2b`, `e2b`, `eliza-1-2b` or `eliza-1-e2b` names, in any case; None if it names none."""
    return _BY_NAME.get(name.strip().casefold().removeprefix(_NAME_PREFIX))


def tier_of_bundle_id(bundle_id: str) -> Tier | None:
    """Return the tier that a manifest's `id` belongs to: the longest tier or slug that it equals or starts with."""
    rest = bundle_id.removeprefix(_NAME_PREFIX)
    if rest == bundle_id:
        return None
    matches = [name for name in _BY_NAME if rest == name or rest.startswith(f"{name}-")]
    return _BY_NAME[max(matches, key=len)] if matches else None


def release_policy(manifest: Manifest) -> ReleasePolicy:
    """Return what binds this manifest by its release state; without a state it is bound as a final release is."""
    provenance = manifest.provenance
    return _RELEASE_POLICIES[provenance.release_state if provenance else ReleaseState.FINAL]


def needed_kernels(manifest: Manifest, policy: KernelPolicy = KERNEL_POLICY) -> frozenset[Kernel]:
    """Return every kernel the library must have ready: the manifest's own list and, where it binds, the policy's."""
    own = frozenset(manifest.kernels.required)
    return own | policy.required if release_policy(manifest).kernel_policy_binds else own


def kv_bytes_per_token(tier: Tier) -> int:
    """Return the fallback size of one token's attention state, in bytes."""
    return TIERS[tier].kv_bytes_per_token
