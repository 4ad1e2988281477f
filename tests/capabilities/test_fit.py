"""A bundle fits, or is refused with every reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fake_host import backend, host
from tests.support.manifests import bent, decoded, document, standin

from eliza_capabilities.fit import AcceptedFit, FitLevel, FitReason, Refusal, judge_disk, judge_fit
from eliza_capabilities.reasons import judge_ram
from eliza_capabilities.report import Absent, HostReport, MemoryReport
from eliza_catalog.contract import ServableManifest, judge_manifest
from eliza_catalog.errors import ExitCode, InternalError
from eliza_catalog.manifest import RamBudget
from eliza_catalog.terms import Backend, Kernel
from eliza_catalog.words import upstream_names_in

MIB = 1 << 20


def servable(source: dict[str, Any] | None = None) -> ServableManifest:
    return judge_manifest(decoded(source or document()), allow_standin=True)


def refused(verdict: AcceptedFit | Refusal) -> Refusal:
    assert isinstance(verdict, Refusal)
    return verdict


def accepted(verdict: AcceptedFit | Refusal) -> AcceptedFit:
    assert isinstance(verdict, AcceptedFit), verdict
    return verdict


def only_reason(here: HostReport, source: dict[str, Any] | None = None, **asked: int) -> FitReason:
    reasons = refused(judge_fit(here, servable(source), **asked)).reasons
    assert len(reasons) == 1, [reason.code for reason in reasons]
    return reasons[0]


def with_voice_levels(*levels: str) -> dict[str, Any]:
    files = [
        {"path": f"tts/omnivoice-{part}-{level}.gguf", "sha256": "0" * 64}
        for level in levels
        for part in ("base", "tokenizer")
    ]
    extra = {"path": "tts/README.txt", "sha256": "1" * 64}
    return bent(document(), "/files/voice", [*files, extra])


def with_contexts(*contexts: int) -> dict[str, Any]:
    texts = [{"path": f"text/t-{ctx}.gguf", "sha256": "0" * 64, "ctx": ctx} for ctx in contexts]
    return bent(document(), "/files/text", texts)


# --- each reason alone ----------------------------------------------------------------------------


def test_a_kernel_the_library_lacks_is_refused_by_name_for_developers_only() -> None:
    why = "not in this build: its ggml has no type tbq4_0"
    poor = host(kernels=frozenset({Kernel.MTP}), kernels_missing={Kernel.TURBOQUANT_Q4: why})
    reason = only_reason(poor)
    assert reason.code == "fit.kernel_missing"
    assert reason.details["reasons"] == {"turboquant_q4": why, "turbo3_tcq": "not told"}
    assert {"turboquant_q4", "turbo3_tcq"} <= set(reason.details["missing"])
    assert "mtp" not in reason.details["missing"]
    assert not upstream_names_in(reason.message + reason.remedy)


def test_the_policy_asks_for_kernels_that_the_manifest_forgot() -> None:
    forgetful = bent(document(), "/kernels/required", ["mtp"])
    reason = only_reason(host(kernels=frozenset({Kernel.MTP})), forgetful)
    assert "turboquant_q4" in reason.details["missing"]


def test_a_standin_needs_what_its_own_list_says() -> None:
    verdict = judge_fit(host(kernels=frozenset({Kernel.MTP})), servable(standin()))
    assert accepted(verdict).context_tokens == 4096


@pytest.mark.parametrize("backends", [(), (backend(Backend.CPU, usable=False),)])
def test_no_usable_backend_is_refused(backends: tuple[Any, ...]) -> None:
    assert only_reason(host(backends=backends)).code == "fit.backend_missing"


def test_a_backend_the_publisher_did_not_prove_does_not_count() -> None:
    unproven = bent(standin(), "/kernels/verifiedBackends/cpu/status", "skipped")
    reason = only_reason(host(), unproven)
    assert reason.code == "fit.backend_missing"
    assert reason.details["verified"]["cpu"] == "skipped"


def test_a_backend_the_tier_does_not_support_does_not_count() -> None:
    reason = only_reason(host(backends=(backend(Backend.CUDA, memory_mib=24 * 1024),)))
    assert reason.code == "fit.backend_missing"
    assert reason.details["supported"] == ["cpu", "metal", "vulkan"]


def test_the_best_proven_backend_is_taken() -> None:
    both = (backend(Backend.CPU), backend(Backend.VULKAN, memory_mib=8192))
    assert accepted(judge_fit(host(backends=both), servable())).backend is Backend.VULKAN
    failed = bent(standin(), "/kernels/verifiedBackends/vulkan/status", "fail")
    assert accepted(judge_fit(host(backends=both), servable(failed))).backend is Backend.CPU


def test_one_mib_below_the_floor_is_refused_and_the_floor_itself_is_not() -> None:
    reason = only_reason(host(total_mib=6999))
    assert (reason.code, reason.details["short_mib"]) == ("fit.ram_below_floor", 1)
    assert accepted(judge_fit(host(total_mib=7000), servable())).level is FitLevel.TIGHT


def test_a_container_is_told_to_raise_its_limit() -> None:
    reason = only_reason(host(total_mib=4096, limit_source="cgroup v2 /sys/fs/cgroup/pod"))
    assert "limit" in reason.remedy
    assert reason.details["limit_source"] == "cgroup v2 /sys/fs/cgroup/pod"


def test_a_text_for_another_runtime_only_is_refused() -> None:
    other = bent(document(), "/files/text/0/runtimeClass", "litert-lm")
    reason = only_reason(host(), other)
    assert reason.code == "fit.text_absent"
    assert reason.details["listed"][0]["runtime_class"] == "litert-lm"


def test_more_context_than_fits_is_refused_when_asked_for() -> None:
    reason = only_reason(host(total_mib=8540), context_tokens=131072)
    assert reason.code == "fit.context_short"
    assert reason.details["largest_tokens"] < 131072
    fits = accepted(judge_fit(host(total_mib=8540), servable(), context_tokens=reason.details["largest_tokens"]))
    assert fits.context_tokens == reason.details["largest_tokens"]


def test_a_voice_level_that_is_not_published_is_refused_not_replaced() -> None:
    # a roomy host takes the highest level
    roomy = host(backends=(backend(Backend.VULKAN, memory_mib=49152),))
    reason = only_reason(roomy, with_voice_levels("Q3_K_M", "Q4_K_M"))
    assert reason.code == "fit.voice_level_absent"
    assert reason.details == {"wanted": "Q5_K_M", "published": ["Q3_K_M", "Q4_K_M"], "ram_class": "max"}
    assert not upstream_names_in(reason.message + reason.remedy)


def test_a_single_voice_level_must_be_the_tiers_default() -> None:
    assert only_reason(host(), with_voice_levels("Q3_K_M")).code == "fit.voice_level_absent"
    for total_mib in (8192, 65536):  # of the lowest class and of a high one: there is no ladder to choose from
        fit = accepted(judge_fit(host(total_mib=total_mib), servable(with_voice_levels("Q4_K_M"))))
        assert fit.voice.level == "Q4_K_M"


def test_only_the_chosen_voice_level_is_to_be_fetched() -> None:
    chosen = accepted(judge_fit(host(total_mib=8192), servable(with_voice_levels("Q3_K_M", "Q4_K_M", "Q5_K_M")))).voice
    assert chosen.level == "Q3_K_M"
    assert [artifact.path.text for artifact in chosen.artifacts] == [
        "tts/omnivoice-base-Q3_K_M.gguf",
        "tts/omnivoice-tokenizer-Q3_K_M.gguf",
        "tts/README.txt",
    ]


def test_a_voice_without_levels_is_taken_whole() -> None:
    voice = accepted(judge_fit(host(), servable())).voice
    assert isinstance(voice.level, Absent)
    assert len(voice.artifacts) == 2


# --- all together, and the error a surface shows --------------------------------------------------


def test_every_reason_is_told_at_once_gravest_first() -> None:
    poor = host(kernels=frozenset(), backends=(), total_mib=512, limit_source="host")
    source = bent(with_voice_levels("Q5_K_M"), "/files/text/0/runtimeClass", "litert-lm")
    refusal = refused(judge_fit(poor, servable(source)))
    assert [reason.code for reason in refusal.reasons] == [
        "fit.kernel_missing",
        "fit.backend_missing",
        "fit.ram_below_floor",
        "fit.text_absent",
        "fit.voice_level_absent",
    ]
    error = refusal.error()
    assert (error.code, error.exit_code) == ("fit.refused", ExitCode.REFUSED)
    assert [reason["code"] for reason in error.details["reasons"]] == [reason.code for reason in refusal.reasons]
    assert error.message.endswith("There are 4 more reasons.")
    for reason in refusal.reasons:
        assert not upstream_names_in(reason.message + reason.remedy), reason.code
    assert not upstream_names_in(error.message + error.remedy)


def test_one_reason_is_not_said_to_be_one_of_many() -> None:
    assert "more reason" not in refused(judge_fit(host(total_mib=1), servable())).error().message


def test_nobody_else_makes_an_accepted_fit() -> None:
    fit = accepted(judge_fit(host(), servable()))
    with pytest.raises(InternalError) as caught:
        replace(fit, backend=Backend.CUDA, proof=object())
    assert caught.value.code == "internal.broken_promise"


# --- what is accepted -----------------------------------------------------------------------------


def test_the_headroom_decides_between_fits_and_tight() -> None:
    assert accepted(judge_fit(host(total_mib=9500 + 1536), servable())).level is FitLevel.FITS
    tight = accepted(judge_fit(host(total_mib=9500 + 1535), servable()))
    assert tight.level is FitLevel.TIGHT
    assert any("tight" in note for note in tight.notes)
    assert accepted(judge_fit(host(total_mib=9500), servable(), headroom_mib=0)).level is FitLevel.FITS


def test_memory_that_others_use_right_now_is_a_note_not_a_refusal() -> None:
    busy = accepted(judge_fit(host(available_mib=500), servable()))
    assert busy.level is FitLevel.FITS
    assert any("500 MiB" in note for note in busy.notes)


def test_the_largest_context_variant_that_fits_whole_is_taken() -> None:
    both = servable(with_contexts(262144, 131072))
    assert accepted(judge_fit(host(), both)).context_tokens == 262144
    # floor + headroom + the attention state of the smaller variant above the least context
    enough_mib = 7000 + 1536 + -(-(131072 - 8192) * 2400 // MIB)
    smaller = accepted(judge_fit(host(total_mib=enough_mib), both))
    assert (smaller.text.ctx, smaller.context_tokens) == (131072, 131072)
    part = accepted(judge_fit(host(total_mib=enough_mib - 1), both))
    assert part.text.ctx == 131072
    assert part.context_tokens == 126976


# --- exactness ------------------------------------------------------------------------------------


@given(total_bytes=st.integers(0, 1 << 40), min_mib=st.integers(1, 1 << 20))
def test_ram_is_compared_as_bytes_would_be(total_bytes: int, min_mib: int) -> None:
    memory = MemoryReport(total_mib=total_bytes // MIB, available_mib=0, limit_source="host")
    is_refused = judge_ram(memory, RamBudget(min_mib=min_mib, recommended_mib=min_mib)) is not None
    assert is_refused == (total_bytes < min_mib * MIB)


@given(total_mib=st.integers(0, 1 << 18), headroom_mib=st.integers(0, 8192))
def test_a_fit_never_promises_more_than_the_usable_memory(total_mib: int, headroom_mib: int) -> None:
    verdict = judge_fit(host(total_mib=total_mib), servable(), headroom_mib=headroom_mib)
    assert isinstance(verdict, Refusal) == (total_mib < 7000)
    if isinstance(verdict, AcceptedFit):
        beyond_least = max(0, verdict.context_tokens - 8192) * 2400
        assert beyond_least <= max(0, total_mib - headroom_mib - 7000) * MIB
        assert verdict.context_tokens >= 8192


@given(free=st.integers(0, 1 << 42), needed=st.integers(0, 1 << 42))
def test_disk_is_compared_to_the_byte(free: int, needed: int) -> None:
    reason = judge_disk(host(free_bytes=free), needed)
    assert (reason is None) == (free >= needed)
    if reason:
        assert reason.code == "fit.disk_short"
        assert reason.details["needed_bytes"] == needed
