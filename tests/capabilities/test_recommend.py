"""Tiers in order of merit, and the one for the first run."""

from __future__ import annotations

from dataclasses import replace

from tests.support.fake_host import GIB_IN_MIB, backend, host, phone

from eliza_capabilities.fit import FitLevel
from eliza_capabilities.recommend import Recommendation, first_run_tier, recommend_tiers
from eliza_catalog.terms import Backend, Tier
from eliza_catalog.tiers import TIERS
from eliza_catalog.words import upstream_names_in

ALL_PUBLISHED = tuple(replace(facts, is_published=True) for facts in TIERS.values())


def tiers_of(recommendations: tuple[Recommendation, ...]) -> list[Tier]:
    return [recommendation.tier for recommendation in recommendations]


def codes(recommendation: Recommendation) -> list[str]:
    return [reason.code for reason in recommendation.reasons]


def test_a_roomy_host_is_offered_the_largest_first() -> None:
    offered = recommend_tiers(host(total_mib=128 * GIB_IN_MIB), ALL_PUBLISHED)
    assert tiers_of(offered) == [Tier.T27B_256K, Tier.T27B, Tier.T9B, Tier.T4B, Tier.T2B]
    assert all(recommendation.is_offered for recommendation in offered)


def test_what_fits_in_comfort_goes_before_what_is_tight() -> None:
    offered = recommend_tiers(host(total_mib=16 * GIB_IN_MIB), ALL_PUBLISHED)
    assert tiers_of(offered)[:3] == [Tier.T4B, Tier.T2B, Tier.T9B]
    assert [recommendation.level for recommendation in offered[:3]] == [FitLevel.FITS, FitLevel.FITS, FitLevel.TIGHT]
    assert codes(offered[3]) == ["fit.ram_below_floor"]


def test_what_nobody_publishes_is_never_offered() -> None:
    offered = recommend_tiers(host(total_mib=128 * GIB_IN_MIB), TIERS.values())
    assert [each.tier for each in offered if each.is_offered] == [Tier.T4B, Tier.T2B]
    assert codes(offered[2]) == ["fit.not_published"]


def test_every_reason_of_a_tier_is_told() -> None:
    nothing = host(total_mib=256, backends=(), kernels=frozenset(), free_bytes=0, machine=phone())
    judged = {each.tier: codes(each) for each in recommend_tiers(nothing, TIERS.values())}
    assert judged[Tier.T2B] == [*("fit.kernel_missing", "fit.backend_missing", "fit.ram_below_floor", "fit.disk_short")]
    assert judged[Tier.T27B][:2] == ["fit.not_published", "fit.not_mobile"]


def test_the_smallest_refused_tier_is_the_nearest() -> None:
    judged = recommend_tiers(host(total_mib=256), ALL_PUBLISHED)
    assert tiers_of(judged) == [Tier.T2B, Tier.T4B, Tier.T9B, Tier.T27B, Tier.T27B_256K]


def test_a_backend_the_entry_tier_does_not_support_leaves_the_others() -> None:
    cuda = host(backends=(backend(Backend.CUDA, memory_mib=24 * GIB_IN_MIB),))
    judged = {each.tier: codes(each) for each in recommend_tiers(cuda, ALL_PUBLISHED)}
    assert judged[Tier.T2B] == ["fit.backend_missing"]
    assert judged[Tier.T4B] == []


def test_the_first_run_prefers_the_entry_tier() -> None:
    assert first_run_tier(recommend_tiers(host(), TIERS.values())) is Tier.T2B


def test_the_first_run_takes_the_best_where_the_entry_tier_is_not_offered() -> None:
    unpublished = tuple(replace(facts, is_published=facts.tier is not Tier.T2B) for facts in TIERS.values())
    assert first_run_tier(recommend_tiers(host(total_mib=128 * GIB_IN_MIB), unpublished)) is Tier.T27B_256K


def test_the_first_run_offers_nothing_where_nothing_fits() -> None:
    assert first_run_tier(recommend_tiers(host(total_mib=256), TIERS.values())) is None


def test_no_text_for_the_user_names_what_is_inside() -> None:
    nothing = host(total_mib=256, backends=(), kernels=frozenset(), free_bytes=0, machine=phone())
    for recommendation in recommend_tiers(nothing, TIERS.values()):
        for reason in recommendation.reasons:
            assert not upstream_names_in(reason.message + reason.remedy)
