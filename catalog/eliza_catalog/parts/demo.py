"""The manifest of a stand-in for demonstrations, from the parts it is made of.

Says honestly what was not measured: a figure of 0.0 with `passed: false` stands for "not measured", and only the CPU
is called proven, by this repository's own tests. Such a bundle can never be a default (contract section 6; the
stand-in policy in `data/catalog.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eliza_catalog.stage_spec import StageSpec
from eliza_catalog.terms import Backend, FileGroup, Tier
from eliza_catalog.tiers import DEFAULT_VOICE_PRESET, slug_of

TIER = Tier.T2B
VERSION = "0.0.1-local.demo"
PUBLISHED_AT = "2026-11-30T00:00:00Z"
"""Fixed, so that the same parts give the same manifest."""

_WORKING_BYTES = 128 << 20
_HEARING_BYTES = 96 << 20
"""What a recogniser needs beside its file: 158 MiB were measured in all for one of 98."""
_MIB = 1 << 20
_COMMIT = "0c1e57098bba43ac29e6e3b677cdceebdd22334f"
_UNMEASURED_GATES: Mapping[FileGroup, tuple[str, Mapping[str, float]]] = {
    FileGroup.ASR: ("asrWer", {"wer": 0.0}),
    FileGroup.VAD: ("vadLatencyMs", {"median": 0.0}),
}
_OWN_LICENSE = """\
This bundle is a stand-in for demonstrations of eliza-agent. It is not Eliza-1.
Its arrangement, manifest and generated parts are under the Apache License, Version 2.0
(SPDX: Apache-2.0). Each other part keeps the licence that lies beside this file.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoFile:
    """One part: where it lies on this disk and where in the bundle; `ctx` in tokens, for text only."""

    group: FileGroup
    path: str
    source: Path
    ctx: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a lineage slot's part comes from, for the manifest's lineage and provenance."""

    base: str
    license: str
    repo: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoParts:
    """All parts of one stand-in.

    Attributes:
        files: the artifacts, in the manifest's order; the default voice is the first of the voices.
        origins: by lineage slot.
        licenses: texts by name in `licenses/`, without the bundle's own.
        state_bytes_per_token: attention state of target and drafter together, for the memory budget.
        evidence: what `evidence/release.json` says of the parts.
    """

    files: tuple[DemoFile, ...]
    origins: Mapping[str, Origin]
    licenses: Mapping[str, str]
    state_bytes_per_token: int
    evidence: Mapping[str, Any] = field(default_factory=dict)


def artifact_path(kind: str, *, context: str = "") -> str:
    """Return where the contract puts the text part, the drafter or the projector of the demo's tier."""
    slug = slug_of(TIER)
    return {
        "text": f"text/eliza-1-{slug}-{context}.gguf",
        "drafter": f"mtp/drafter-{slug}.gguf",
        "vision": f"vision/mmproj-{slug}.gguf",
    }[kind]


def demo_spec(parts: DemoParts) -> StageSpec:
    """Return what to stage for these parts."""
    draft: dict[str, Any] = {
        "$schema": "https://elizaos.ai/schemas/eliza-1.manifest.v1.json",
        "id": f"eliza-1-{slug_of(TIER)}",
        "tier": str(TIER),
        "version": VERSION,
        "publishedAt": PUBLISHED_AT,
        "lineage": {slot: {"base": made.base, "license": made.license} for slot, made in parts.origins.items()},
        "files": _files(parts),
        "kernels": {"required": ["mtp"], "optional": [], "verifiedBackends": _verified()},
        "evals": _evals(parts),
        "ramBudgetMb": _ram_budget(parts),
        "voice": _voice(),
        "provenance": _provenance(parts),
        "mtp": "separate-drafter",
        "defaultEligible": False,
    }
    return StageSpec(
        draft=draft,
        sources={file.path: file.source for file in parts.files},
        licenses={**parts.licenses, "LICENSE.eliza-1": _OWN_LICENSE},
        evidence={**parts.evidence, "measured": "nothing; 0.0 with passed=false stands for `not measured`"},
    )


def _files(parts: DemoParts) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {str(group): [] for group in (FileGroup.ASR, FileGroup.VISION)}
    for file in parts.files:
        context = {} if file.ctx is None else {"ctx": file.ctx}
        groups.setdefault(str(file.group), []).append({"path": file.path, **context})
    return groups


def _verified() -> dict[str, dict[str, str]]:
    proven = {
        "status": "pass",
        "atCommit": _COMMIT,
        "report": "tests of eliza-agent: same text with and without the drafter",
        "caveat": "proven by this repository's own tests only, not by a publisher's kernel suite",
    }
    skipped = {"status": "skipped", "atCommit": _COMMIT, "report": "not run: NEEDS HARDWARE"}
    return {str(backend): dict(proven if backend is Backend.CPU else skipped) for backend in Backend}


def _evals(parts: DemoParts) -> dict[str, Any]:
    evals: dict[str, Any] = {
        "textEval": {"score": 0.0, "passed": False},
        "voiceRtf": {"rtf": 0.0, "passed": False},
        "mtp": {"acceptanceRate": None, "speedup": None, "passed": False},
        "e2eLoopOk": False,
        "thirtyTurnOk": False,
    }
    present = {file.group for file in parts.files}
    for group, (name, figures) in _UNMEASURED_GATES.items():
        if group in present:
            evals[name] = {**figures, "passed": False}
    return evals


def _ram_budget(parts: DemoParts) -> dict[str, int]:
    """Return the budget in MiB: model files, attention state at full context, and room to compute in."""
    models = {file.path: file.source.stat().st_size for file in parts.files if file.path.endswith(".gguf")}
    context = max(file.ctx or 0 for file in parts.files)
    working = _WORKING_BYTES + (_HEARING_BYTES if any(file.group is FileGroup.ASR for file in parts.files) else 0)
    needed = sum(models.values()) + context * parts.state_bytes_per_token + working
    least = -(-needed // _MIB)
    return {"min": least, "recommended": least + least // 4}


def _voice() -> dict[str, Any]:
    cache = {"speakerPreset": DEFAULT_VOICE_PRESET, "phraseCacheSeed": DEFAULT_VOICE_PRESET}
    return {"version": "1", "frozen": True, "cache": cache, "capabilities": ["tts"]}


def _provenance(parts: DemoParts) -> dict[str, Any]:
    return {
        "releaseState": "local-standin",
        "finetuned": False,
        "sourceModels": {slot: {"repo": made.repo, "note": made.note} for slot, made in parts.origins.items()},
    }
