"""Story: a tier has several names and one row of facts; kernel needs only ever grow."""

from __future__ import annotations

import pytest
from tests.support.manifests import bent, decoded, document, standin

from eliza_catalog import tiers
from eliza_catalog.terms import Backend, Kernel, Tier


@pytest.mark.parametrize(
    ("tier", "slug"),
    [("2b", "e2b"), ("4b", "e4b"), ("9b", "12b"), ("27b", "31b"), ("27b-256k", "31b-256k")],
)
def test_every_spelling_finds_its_tier(tier: str, slug: str) -> None:
    assert tiers.slug_of(Tier(tier)) == slug
    for name in (tier, slug, f"eliza-1-{tier}", f"Eliza-1-{slug.upper()}", f" {tier} "):
        assert tiers.tier_from_name(name) is Tier(tier)
    assert tiers.tier_of_bundle_id(f"eliza-1-{slug}-anything") is Tier(tier)


@pytest.mark.parametrize("name", ["", "eliza-1-", "3b", "eliza-1", "e2b-x"])
def test_other_names_find_none(name: str) -> None:
    assert tiers.tier_from_name(name) is None


def test_ids_outside_the_product_line_have_no_tier() -> None:
    assert tiers.tier_of_bundle_id("2b") is None
    assert tiers.tier_of_bundle_id("eliza-1-2bx") is None


def test_the_table_has_every_tier_in_order_of_size() -> None:
    assert list(tiers.TIERS) == list(Tier)
    rows = list(tiers.TIERS.values())
    assert [row.min_ram_mib for row in rows] == sorted(row.min_ram_mib for row in rows)
    assert Backend.CUDA not in tiers.TIERS[Tier.T2B].supported_backends
    assert all(row.default_voice_level in row.voice_levels for row in rows)
    assert tiers.bundle_folder(Tier.T9B) == "bundles/12b"
    assert tiers.kv_bytes_per_token(Tier.T4B) == 4800


def test_a_release_needs_its_own_kernels_and_the_policys() -> None:
    made = decoded(bent(document(), "/kernels/required", ["qjl"]))
    assert tiers.needed_kernels(made) == {Kernel.QJL, Kernel.TURBOQUANT_Q4, Kernel.TURBO3_TCQ, Kernel.MTP}
    older = tiers.KERNEL_POLICIES["2026-06"]
    assert tiers.needed_kernels(made, older) == {Kernel.QJL, Kernel.TURBOQUANT_Q4}


def test_a_standin_needs_what_it_says() -> None:
    assert tiers.needed_kernels(decoded(standin())) == {Kernel.MTP}
