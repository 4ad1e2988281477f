"""The tiers in order of merit for this host, and the one to offer at first run.

Judges the tier table, before any manifest is seen, so it promises less than `fit`: a recommendation may
still be refused. Tiers that do not fit come last with all their reasons, and one that nobody publishes is
never offered (contract sections 2 and 7; facts 4.4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from eliza_capabilities.budget import DEFAULT_HEADROOM_MIB, kv_mib, usable_mib
from eliza_capabilities.fit import FitLevel
from eliza_capabilities.reasons import FitReason, judge_backends, judge_disk, judge_kernels, judge_ram
from eliza_capabilities.report import HostReport
from eliza_catalog.manifest import RamBudget
from eliza_catalog.terms import Backend, Tier
from eliza_catalog.tiers import FIRST_RUN_TIER, KERNEL_POLICY, KernelPolicy, TierFacts
from eliza_catalog.words import display_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """One tier judged for this host: `reasons` are empty where it fits, and `level` counts only then."""

    facts: TierFacts
    level: FitLevel
    reasons: tuple[FitReason, ...]

    @property
    def tier(self) -> Tier:
        """The tier judged."""
        return self.facts.tier

    @property
    def is_offered(self) -> bool:
        """Whether this tier may be offered: it fits and somebody publishes it."""
        return not self.reasons


def recommend_tiers(
    host: HostReport,
    tiers: Iterable[TierFacts],
    *,
    policy: KernelPolicy = KERNEL_POLICY,
    headroom_mib: int = DEFAULT_HEADROOM_MIB,
) -> tuple[Recommendation, ...]:
    """Return every tier, best first: those that fit in comfort, then tightly, larger ones first; then the rest.

    Phones are offered mobile tiers only. Each tier that cannot be offered has its reasons, gravest first:
    `fit.not_published`, `fit.not_mobile`, and those of `fit`.
    """
    judged = [_judge(host, facts, policy, headroom_mib) for facts in tiers]
    return tuple(sorted(judged, key=_merit))


def first_run_tier(recommendations: Iterable[Recommendation], *, preferred: Tier = FIRST_RUN_TIER) -> Tier | None:
    """Return the tier to offer at first run: the preferred one if it may be offered, else the best that may.

    None if no tier may be offered: a pending tier would end in a missing file (facts 4.4).
    """
    offered = [recommendation.tier for recommendation in recommendations if recommendation.is_offered]
    return preferred if preferred in offered else next(iter(offered), None)


def _merit(recommendation: Recommendation) -> tuple[bool, bool, int, int]:
    facts = recommendation.facts
    # the refused ones run the other way: the smallest is the nearest to fitting
    size = facts.parameters_billion, facts.context_tokens
    direction = 1 if recommendation.reasons else -1
    tight = recommendation.level is FitLevel.TIGHT and recommendation.is_offered
    return bool(recommendation.reasons), tight, direction * size[0], direction * size[1]


def _judge(host: HostReport, facts: TierFacts, policy: KernelPolicy, headroom_mib: int) -> Recommendation:
    recommended_mib = facts.min_ram_mib + kv_mib(facts.tier, facts.context_tokens)
    backend = judge_backends(host, frozenset(facts.supported_backends), {})
    found = (
        None if facts.is_published else _not_published(facts),
        _not_mobile(facts) if host.machine.os.is_mobile and not facts.is_mobile else None,
        judge_kernels(host, policy.required),
        None if isinstance(backend, Backend) else backend,
        judge_ram(host.memory, RamBudget(min_mib=facts.min_ram_mib, recommended_mib=recommended_mib)),
        None if facts.download_size_bytes is None else judge_disk(host, facts.download_size_bytes),
    )
    return Recommendation(
        facts=facts,
        level=FitLevel.FITS if usable_mib(host, headroom_mib) >= recommended_mib else FitLevel.TIGHT,
        reasons=tuple(reason for reason in found if reason is not None),
    )


def _not_published(facts: TierFacts) -> FitReason:
    return FitReason(
        code="fit.not_published",
        message=f"{display_name(facts.tier)} is not published yet.",
        remedy="Choose another Eliza-1 size, or a hub that has it.",
        details={"tier": facts.tier.value, "slug": facts.slug},
    )


def _not_mobile(facts: TierFacts) -> FitReason:
    return FitReason(
        code="fit.not_mobile",
        message=f"{display_name(facts.tier)} is not made for phones and tablets.",
        remedy="Choose a smaller Eliza-1 size.",
        details={"tier": facts.tier.value},
    )
