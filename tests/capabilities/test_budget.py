"""Memory classes and contexts, at their borders."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fake_host import GIB_IN_MIB, MACHINE, apple, backend, host, phone

from eliza_capabilities.budget import (
    CONTEXT_STEP_TOKENS,
    MIN_CONTEXT_TOKENS,
    RamClass,
    effective_mib,
    kv_mib,
    largest_context_tokens,
    ram_class,
    usable_mib,
)
from eliza_capabilities.report import Absent, HostReport
from eliza_catalog.terms import Backend, Tier
from eliza_catalog.tiers import kv_bytes_per_token

GPU_24 = (backend(Backend.CPU), backend(Backend.CUDA, memory_mib=24 * GIB_IN_MIB))
GPU_12 = (backend(Backend.CPU), backend(Backend.CUDA, memory_mib=12 * GIB_IN_MIB))


def gib(total: int, available: int | None = None, **more: object) -> HostReport:
    free = None if available is None else available * GIB_IN_MIB
    return host(total_mib=total * GIB_IN_MIB, available_mib=free, **more)  # type: ignore[arg-type]


CLASSES = {
    "a large graphics card": (gib(32, backends=GPU_24), RamClass.MAX),
    "a card without the free memory beside it": (gib(32, 15, backends=GPU_24), RamClass.GOOD),
    "a middling graphics card": (gib(24, backends=GPU_12), RamClass.GOOD),
    "a card that cannot be used": (
        gib(16, backends=(backend(Backend.CPU), backend(Backend.CUDA, usable=False, memory_mib=24 * GIB_IN_MIB))),
        RamClass.OKAY,
    ),
    "a card of unknown memory": (
        gib(16, backends=(backend(Backend.CPU), backend(Backend.CUDA, memory_mib=Absent("not told")))),
        RamClass.OKAY,
    ),
    "a plain computer of 32 GiB": (gib(32), RamClass.GOOD),
    "a plain computer of 16 GiB": (gib(16), RamClass.OKAY),
    "a plain computer of one MiB less": (host(total_mib=16 * GIB_IN_MIB - 1), RamClass.POOR),
    "an arm64 server without a card": (
        gib(64, machine=replace(MACHINE, arch="arm64", cpu_features=frozenset({"neon"}))),
        RamClass.OKAY,
    ),
    "Apple's 32 GiB": (gib(32, machine=apple()), RamClass.MAX),
    "Apple's 16 GiB": (gib(16, machine=apple()), RamClass.GOOD),
    "Apple's 8 GiB": (gib(8, machine=apple()), RamClass.POOR),
    "Apple's 9 GiB": (gib(9, machine=apple()), RamClass.POOR),
    "a phone of 16 GiB": (gib(16, machine=phone()), RamClass.OKAY),
    "a phone of 8 GiB": (gib(8, machine=phone()), RamClass.POOR),
    "three cores": (gib(64, machine=replace(MACHINE, logical_cores=3)), RamClass.POOR),
    "no AVX2": (gib(64, machine=replace(MACHINE, cpu_features=frozenset({"avx"}))), RamClass.POOR),
    "another architecture": (gib(64, machine=replace(MACHINE, arch="riscv64")), RamClass.POOR),
    "unknown cores and features": (
        gib(64, machine=replace(MACHINE, logical_cores=Absent("-"), cpu_features=Absent("-"))),
        RamClass.GOOD,
    ),
    "a quarter free": (gib(64, 16), RamClass.GOOD),
    "mostly used": (gib(64, 15), RamClass.OKAY),
    "used to the brim": (gib(64, 1), RamClass.POOR),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_host_is_of_its_class(name: str) -> None:
    here, expected = CLASSES[name]
    assert ram_class(here) is expected


def test_effective_memory_is_shared_half_or_the_cards() -> None:
    assert effective_mib(gib(16, machine=apple())) == 16 * GIB_IN_MIB
    assert effective_mib(gib(16)) == 8 * GIB_IN_MIB
    assert effective_mib(gib(16, backends=GPU_24)) == 24 * GIB_IN_MIB
    assert effective_mib(gib(64, backends=GPU_12)) == 32 * GIB_IN_MIB


def test_usable_memory_is_never_negative() -> None:
    assert usable_mib(host(total_mib=1536 + 7)) == 7
    assert usable_mib(host(total_mib=100)) == 0


@given(tokens=st.integers(0, 1 << 20), tier=st.sampled_from(Tier))
def test_the_attention_state_is_rounded_up(tokens: int, tier: Tier) -> None:
    size_bytes = tokens * kv_bytes_per_token(tier)
    assert (kv_mib(tier, tokens) - 1) * (1 << 20) < size_bytes <= kv_mib(tier, tokens) * (1 << 20)


@given(
    tier=st.sampled_from(Tier),
    ceiling=st.integers(1, 1 << 20),
    spare=st.integers(-(1 << 14), 1 << 18),
)
def test_the_largest_context_is_the_largest(tier: Tier, ceiling: int, spare: int) -> None:
    reach = largest_context_tokens(tier, ceiling_tokens=ceiling, spare_mib=spare)
    beyond = (reach - MIN_CONTEXT_TOKENS) * kv_bytes_per_token(tier)
    assert min(ceiling, MIN_CONTEXT_TOKENS) <= reach <= ceiling
    assert beyond <= max(0, spare) << 20
    if reach < ceiling:
        assert reach % CONTEXT_STEP_TOKENS == 0
        one_more = beyond + CONTEXT_STEP_TOKENS * kv_bytes_per_token(tier)
        assert one_more > max(0, spare) << 20


def test_a_context_that_just_fits_is_not_cut_to_a_step() -> None:
    exact = MIN_CONTEXT_TOKENS + (1 << 20) // kv_bytes_per_token(Tier.T2B)
    assert exact % CONTEXT_STEP_TOKENS
    assert largest_context_tokens(Tier.T2B, ceiling_tokens=exact, spare_mib=1) == exact
    assert largest_context_tokens(Tier.T2B, ceiling_tokens=exact + 1, spare_mib=1) == MIN_CONTEXT_TOKENS
