"""The contract's rules on who a bundle is: its id, its origin, its release and its kernel verification.

Each rule yields what a manifest breaks and never stops at the first; combinations of files and evals are judged
elsewhere. Keeps contract section 6 and facts 2.1, 2.2, 2.4, 2.6-2.8.
"""

from __future__ import annotations

from eliza_catalog.manifest import Manifest
from eliza_catalog.terms import Backend, FileGroup, LineageSlot, ReleaseState, VerifiedStatus
from eliza_catalog.tiers import DATA, DEFAULT_VOICE_PRESET, STAGING_TOKENS, STRICT_STATES, TIERS, tier_of_bundle_id
from eliza_catalog.violation import Violations, violation

_SOURCE_OF_GROUP = {FileGroup.MTP: "drafter"} | {
    FileGroup(name): name for name in ("text", "voice", "asr", "vad", "embedding", "imagegen", "vision")
}
_STANDIN_BASE = "local-standin:"
_REFUSED_BASE = "qwen"


def is_strict(manifest: Manifest, *, installing: bool = True) -> bool:
    """Say whether a manifest must meet the rules of a finished release.

    Args:
        manifest: the manifest.
        installing: whether it is read to be installed; then a version such as `1.0.0-weights-staged.2` without a
            release state counts as not finished.
    """
    if manifest.default_eligible:
        return True
    if manifest.provenance is not None:
        return manifest.provenance.release_state in STRICT_STATES
    prerelease = manifest.version.partition("-")[2]
    return not (installing and any(token in prerelease for token in STAGING_TOKENS))


def identity_violations(manifest: Manifest) -> Violations:
    """Yield what is wrong with id, tokenizer, memory figures, voice block and kernel list."""
    if tier_of_bundle_id(manifest.id) is not manifest.tier:
        yield violation("id_not_of_tier", "/id", "The bundle's name belongs to another size of Eliza-1.")
    if manifest.tokenizer is not None and dict(manifest.tokenizer) != DATA["tokenizer"]:
        yield violation("tokenizer_foreign", "/tokenizer", "The bundle's vocabulary is not that of Eliza-1.")
    if manifest.ram.recommended_mib < manifest.ram.min_mib:
        yield violation(
            "ram_reversed", "/ramBudgetMb/recommended", "It recommends less memory than it says it needs at least."
        )
    if manifest.voice is not None and manifest.voice.speaker_preset.text != DEFAULT_VOICE_PRESET:
        yield violation(
            "voice_preset_moved", "/voice/cache/speakerPreset", "The default voice is not where it belongs."
        )
    if not manifest.kernels.required:
        yield violation("kernels_unstated", "/kernels/required", "It does not say which accelerations it needs.")


def verification_violations(manifest: Manifest, *, strict: bool) -> Violations:
    """Yield what the publisher's kernel verification leaves unproven on the tier's supported backends."""
    verified = manifest.kernels.verified_backends
    for backend in Backend:
        if backend not in verified:
            yield violation(
                "backend_unlisted", f"/kernels/verifiedBackends/{backend}", f"It says nothing about {backend} devices."
            )
    supported = TIERS[manifest.tier].supported_backends
    passed = [name for name in supported if name in verified and verified[name].status is VerifiedStatus.PASS]
    if not passed:
        yield violation(
            "kernel_unverified", "/kernels/verifiedBackends", "Its publisher has not proven it on any kind of device."
        )
    elif strict:
        for backend in supported:
            if backend in verified and backend not in passed:
                pointer = f"/kernels/verifiedBackends/{backend}/status"
                yield violation("kernel_unverified", pointer, f"Its publisher has not proven it on {backend} devices.")


def release_violations(manifest: Manifest, *, strict: bool) -> Violations:
    """Yield what contradicts the bundle's release state or channel."""
    if manifest.release_channel == "base-v1" and manifest.default_eligible:
        yield violation("default_of_base", "/defaultEligible", "A first-generation bundle cannot be a default.")
    if manifest.is_standin and manifest.default_eligible:
        yield violation("default_of_standin", "/defaultEligible", "A stand-in for demonstrations cannot be a default.")
    if manifest.provenance is not None and manifest.provenance.release_state is ReleaseState.BASE_V1:
        yield from _base_v1_violations(manifest)
    if strict:
        yield from _origin_violations(manifest)


def _base_v1_violations(manifest: Manifest) -> Violations:
    assert manifest.provenance is not None
    if manifest.provenance.finetuned:
        yield violation("base_finetuned", "/provenance/finetuned", "A first-generation bundle cannot be fine-tuned.")
    filled = {source for group, source in _SOURCE_OF_GROUP.items() if manifest.first(group) is not None}
    for source in sorted({"text", "voice"} | filled):
        if source not in manifest.provenance.source_models:
            pointer = f"/provenance/sourceModels/{source}"
            yield violation("source_unnamed", pointer, f"It does not say where its {source} part comes from.")


def _origin_violations(manifest: Manifest) -> Violations:
    text = manifest.lineage.get(LineageSlot.TEXT)
    base = text.base.casefold() if text else ""
    if base.startswith(_STANDIN_BASE) or _REFUSED_BASE in base:
        yield violation("text_base_refused", "/lineage/text/base", "Its text part is not the one Eliza-1 is made of.")
    asr = manifest.lineage.get(LineageSlot.ASR)
    if asr and _REFUSED_BASE in asr.base.casefold():
        yield violation("asr_base_refused", "/lineage/asr/base", "Its hearing part is not the one Eliza-1 is made of.")
    source = manifest.provenance.source_models.get("asr") if manifest.provenance else None
    if source and _REFUSED_BASE in f"{source.repo} {source.file or ''}".casefold():
        pointer = "/provenance/sourceModels/asr"
        yield violation("asr_base_refused", pointer, "Its hearing part is not the one Eliza-1 is made of.")
