"""The verdict on one bundle for one host: an `AcceptedFit`, or a `Refusal` with every reason, gravest first.

Knows no file size, fetches nothing and activates nothing; without an `AcceptedFit` no weight address can be
written down (house, amendment 5). Keeps contract section 7, rules 1 and 3: kernels, backends and RAM are
judged before any weight byte, and what is unknown is not trusted.

The RAM floor (`ramBudgetMb.min`) is compared with the device's total, unrounded. The headroom decides the
level instead: `fits` needs the recommended figure after the headroom is taken off, anything between is
`tight` (facts 2.8, 4.3). Free memory changes by the minute, so it makes a note and never a refusal.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from enum import StrEnum

from eliza_capabilities.budget import (
    DEFAULT_HEADROOM_MIB,
    largest_context_tokens,
    usable_mib,
)
from eliza_capabilities.reasons import FitReason, judge_backends, judge_disk, judge_kernels, judge_ram
from eliza_capabilities.report import HostReport
from eliza_capabilities.voice_level import VoiceLevel, VoiceLevelMissing, choose_voice_level
from eliza_catalog.contract import ServableManifest
from eliza_catalog.errors import FitError, InternalError
from eliza_catalog.manifest import Artifact, Manifest, RamBudget
from eliza_catalog.terms import Backend, FileGroup, RuntimeClass, VerifiedStatus
from eliza_catalog.tiers import TIERS, kv_bytes_per_token
from eliza_catalog.words import display_name_of

__all__ = ["AcceptedFit", "FitLevel", "FitReason", "Refusal", "judge_disk", "judge_fit"]

_JUDGED = object()


class FitLevel(StrEnum):
    """How comfortably an accepted bundle runs."""

    FITS = "fits"
    TIGHT = "tight"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedFit:
    """Proof that a servable bundle fits this host; made by `judge_fit` only.

    `text` is the variant to fetch and `context_tokens` the context to open it with; `voice` is the level of
    the voice ladder to fetch; `notes` are for the user.

    Raises:
        InternalError: `internal.broken_promise`, somebody else tried to make one.
    """

    servable: ServableManifest
    backend: Backend
    text: Artifact
    context_tokens: int
    voice: VoiceLevel
    level: FitLevel
    notes: tuple[str, ...] = ()
    proof: InitVar[object]

    def __post_init__(self, proof: object) -> None:
        if proof is not _JUDGED:
            raise InternalError("broken_promise", "A bundle was about to be fetched without having been judged.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a servable bundle does not fit this host: every reason, gravest first, at least one."""

    servable: ServableManifest
    reasons: tuple[FitReason, ...]

    def error(self) -> FitError:
        """Return the error a surface stops with: `fit.refused`, all reasons in `details.reasons`."""
        gravest = self.reasons[0]
        more = len(self.reasons) - 1
        tail = f" There {'is' if more == 1 else 'are'} {more} more reason{'' if more == 1 else 's'}." if more else ""
        return FitError(
            "refused",
            f"{display_name_of(self.servable.manifest)} does not fit this device. {gravest.message}{tail}",
            remedy=gravest.remedy,
            details={
                "bundle": str(self.servable.manifest.id),
                "version": self.servable.manifest.version,
                "reasons": [reason.as_json() for reason in self.reasons],
            },
        )


def judge_fit(
    host: HostReport,
    servable: ServableManifest,
    *,
    headroom_mib: int = DEFAULT_HEADROOM_MIB,
    context_tokens: int = 0,
) -> AcceptedFit | Refusal:
    """Judge a servable bundle for this host, without looking at the disk (see `judge_disk`).

    Args:
        host: what the probe saw.
        servable: a manifest that keeps the contract by itself.
        headroom_mib: RAM left to the system and other programs.
        context_tokens: the least context that will do; 0 takes what fits.

    Returns:
        The accepted fit, or a refusal with every reason among `fit.kernel_missing`, `fit.backend_missing`,
        `fit.ram_below_floor`, `fit.text_absent`, `fit.context_short`, `fit.voice_level_absent`, in this order.
    """
    manifest = servable.manifest
    backend = _choose_backend(host, servable)
    text = _choose_text(host, servable, headroom_mib=headroom_mib, context_tokens=context_tokens)
    voice = choose_voice_level(host, manifest)
    found = (
        judge_kernels(host, servable.needed_kernels),
        backend if isinstance(backend, FitReason) else None,
        judge_ram(host.memory, manifest.ram),
        text if isinstance(text, FitReason) else None,
        _voice_reason(voice) if isinstance(voice, VoiceLevelMissing) else None,
    )
    reasons = tuple(reason for reason in found if reason is not None)
    if reasons or isinstance(backend, FitReason) or isinstance(text, FitReason) or isinstance(voice, VoiceLevelMissing):
        return Refusal(servable=servable, reasons=reasons)
    level, notes = _level(host, manifest.ram, headroom_mib)
    return AcceptedFit(
        servable=servable,
        backend=backend,
        text=text.artifact,
        context_tokens=text.context_tokens,
        voice=voice,
        level=level,
        notes=notes,
        proof=_JUDGED,
    )


def _choose_backend(host: HostReport, servable: ServableManifest) -> Backend | FitReason:
    supported = frozenset(TIERS[servable.manifest.tier].supported_backends)
    verified = servable.manifest.kernels.verified_backends
    passed = {backend for backend, proof in verified.items() if proof.status is VerifiedStatus.PASS}
    details = {
        "supported": sorted(backend.value for backend in supported),
        "verified": {backend.value: proof.status.value for backend, proof in verified.items()},
    }
    return judge_backends(host, supported & passed, details)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextChoice:
    artifact: Artifact
    context_tokens: int


def _choose_text(
    host: HostReport, servable: ServableManifest, *, headroom_mib: int, context_tokens: int
) -> _TextChoice | FitReason:
    manifest = servable.manifest
    variants = _text_variants(manifest)
    if not variants:
        return _text_absent(manifest)
    spare_mib = usable_mib(host, headroom_mib) - manifest.ram.min_mib
    reaches = [
        largest_context_tokens(manifest.tier, ceiling_tokens=ceiling, spare_mib=spare_mib) for ceiling, _ in variants
    ]
    # a variant made for more than fits is no use: the largest that fits whole, else the smallest in part
    whole = [index for index, reach in enumerate(reaches) if reach == variants[index][0]]
    best = whole[-1] if whole else 0
    if reaches[best] >= context_tokens:
        return _TextChoice(artifact=variants[best][1], context_tokens=reaches[best])
    return FitReason(
        code="fit.context_short",
        message=f"Eliza-1 can keep {reaches[best]} tokens in mind on this device; {context_tokens} were asked for.",
        remedy="Ask for a smaller context, or choose a smaller Eliza-1 size.",
        details={
            "asked_tokens": context_tokens,
            "largest_tokens": reaches[best],
            "variants_tokens": [ceiling for ceiling, _ in variants],
            "spare_mib": spare_mib,
            "kv_bytes_per_token": kv_bytes_per_token(manifest.tier),
        },
    )


def _text_variants(manifest: Manifest) -> list[tuple[int, Artifact]]:
    """The text artifacts this library's runtime can open, with their contexts, smallest first."""
    variants = [
        (artifact.ctx, artifact)
        for _, artifact in manifest.artifacts(FileGroup.TEXT)
        if artifact.ctx is not None and artifact.runtime_class in (None, RuntimeClass.LLAMA_CPP)
    ]
    return sorted(variants, key=lambda variant: variant[0])


def _text_absent(manifest: Manifest) -> FitReason:
    listed = [
        {"path": str(artifact.path), "ctx": artifact.ctx, "runtime_class": artifact.runtime_class}
        for _, artifact in manifest.artifacts(FileGroup.TEXT)
    ]
    return FitReason(
        code="fit.text_absent",
        message="This version holds no model file that the Eliza-1 library on this device can open.",
        remedy="Choose another Eliza-1 version.",
        details={"listed": listed},
    )


def _voice_reason(missing: VoiceLevelMissing) -> FitReason:
    return FitReason(
        code="fit.voice_level_absent",
        message="This version does not hold the voice that was made for a device like this one.",
        remedy="Choose another Eliza-1 version; the publisher must add that voice level.",
        details={
            "wanted": missing.wanted,
            "published": list(missing.published),
            "ram_class": missing.ram_class.value,
        },
    )


def _level(host: HostReport, ram: RamBudget, headroom_mib: int) -> tuple[FitLevel, tuple[str, ...]]:
    notes: list[str] = []
    usable = usable_mib(host, headroom_mib)
    level = FitLevel.FITS if usable >= ram.recommended_mib else FitLevel.TIGHT
    if level is FitLevel.TIGHT:
        notes.append(
            f"Memory is tight: {ram.recommended_mib} MiB are recommended, {usable} MiB are left to Eliza-1 here."
        )
    if host.memory.available_mib < ram.min_mib:
        notes.append(
            f"Only {host.memory.available_mib} MiB are free right now; close other programs before starting Eliza-1."
        )
    return level, tuple(notes)
