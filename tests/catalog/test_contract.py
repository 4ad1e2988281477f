"""Story: a manifest that can be read is still refused when it breaks the contract, with every reason at once."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.manifests import LEFT_OUT, bent, decoded, document, standin

from eliza_catalog.contract import ServableManifest, judge_manifest, violations_of
from eliza_catalog.errors import ContractError, InternalError
from eliza_catalog.terms import Kernel

Bend = tuple[str, Any]


def broken(made: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each.code, each.pointer) for each in violations_of(decoded(made))}


def bend_all(made: dict[str, Any], bends: list[Bend]) -> dict[str, Any]:
    for pointer, value in bends:
        made = bent(made, pointer, value)
    return made


def candidate() -> dict[str, Any]:
    made = document() | {"defaultEligible": False}
    made["provenance"]["releaseState"] = "base-v1-candidate"
    return made


def test_a_finished_release_is_servable() -> None:
    servable = judge_manifest(decoded(document()))
    assert servable.may_be_default
    assert servable.activation_bars == ()
    assert servable.needed_kernels == {Kernel.TURBOQUANT_Q4, Kernel.TURBO3_TCQ, Kernel.MTP}


def test_all_broken_rules_come_at_once() -> None:
    made = bend_all(
        document(), [("/files/vision", []), ("/ramBudgetMb/recommended", 10), ("/evals/asrWer/passed", False)]
    )
    with pytest.raises(ContractError) as caught:
        judge_manifest(decoded(made))
    assert caught.value.code == "contract.violated"
    assert {each["code"] for each in caught.value.details["violations"]} == {
        "artifact_missing", "lineage_stray", "ram_reversed", "eval_failed"}  # fmt: skip


@pytest.mark.parametrize(
    ("bends", "expected"),
    [
        ([("/id", "eliza-1-4b")], ("id_not_of_tier", "/id")),
        ([("/id", "eliza-1-2bx")], ("id_not_of_tier", "/id")),
        ([("/tier", "27b"), ("/id", "eliza-1-27b-256k")], ("id_not_of_tier", "/id")),
        ([("/tokenizer", {"family": "gemma4", "vocabSize": 32000})], ("tokenizer_foreign", "/tokenizer")),
        ([("/kernels/required", [])], ("kernels_unstated", "/kernels/required")),
        ([("/files/text", [])], ("artifact_missing", "/files/text")),
        ([("/files/voice", LEFT_OUT)], ("artifact_missing", "/files/voice")),
        ([("/files/vision", [])], ("artifact_missing", "/files/vision")),
        ([("/files/cache", [])], ("artifact_missing", "/files/cache")),
        ([("/files/cache/0/path", "cache/other.bin")], ("artifact_missing", "/files/cache")),
        ([("/files/asr", [])], ("artifact_missing", "/files/asr")),
        ([("/files/vad", [])], ("artifact_missing", "/files/vad")),
        ([("/files/mtp", [])], ("artifact_missing", "/files/mtp")),
        ([("/files/mtp/0/path", "mtp/drafter-4b.gguf")], ("drafter_misplaced", "/files/mtp/0/path")),
        ([("/mtp", "embedded-draft-head")], ("drafter_twice", "/files/mtp")),
        ([("/files/text/0/ctx", LEFT_OUT)], ("context_unstated", "/files/text/0")),
        ([("/files/text/0/ctx", 131071)], ("context_below_floor", "/files/text/0/ctx")),
        ([("/files/text/0/path", "text/eliza-1-e2b-32k.gguf")], ("context_below_floor", "/files/text/0/path")),
        ([("/lineage/text", LEFT_OUT)], ("lineage_missing", "/lineage/text")),
        ([("/lineage/drafter", LEFT_OUT)], ("lineage_missing", "/lineage/drafter")),
        ([("/lineage/emotion", {"base": "x", "license": "x"})], ("lineage_stray", "/lineage/emotion")),
        ([("/kernels/verifiedBackends/rocm", LEFT_OUT)], ("backend_unlisted", "/kernels/verifiedBackends/rocm")),
        (
            [("/kernels/verifiedBackends/metal/status", "skipped")],
            ("kernel_unverified", "/kernels/verifiedBackends/metal/status"),
        ),
        ([("/evals/mtp", LEFT_OUT)], ("eval_missing", "/evals/mtp")),
        ([("/evals/vadLatencyMs", LEFT_OUT)], ("eval_missing", "/evals/vadLatencyMs")),
        ([("/evals/thirtyTurnOk", False)], ("eval_failed", "/evals/thirtyTurnOk")),
        ([("/evals/mtp/speedup", None)], ("eval_contradicts", "/evals/mtp/speedup")),
        ([("/evals/eagle3", {"passed": True})], ("eval_contradicts", "/evals/eagle3/speedup")),
        (
            [("/evals/turnDetector", {"f1": 0.84, "meanLatencyMs": 5, "passed": True})],
            ("eval_contradicts", "/evals/turnDetector/passed"),
        ),
        (
            [("/evals/emotionClassifier", {"macroF1Meld": 0.35, "macroF1Iemocap": 0.6, "meanLatencyMs": 30,
                                           "passed": False})],
            ("eval_contradicts", "/evals/emotionClassifier/passed"),
        ),
        ([("/releaseChannel", "base-v1")], ("default_of_base", "/defaultEligible")),
        ([("/lineage/text/base", "local-standin:x")], ("text_base_refused", "/lineage/text/base")),
        ([("/lineage/text/base", "Qwen3-4B")], ("text_base_refused", "/lineage/text/base")),
        ([("/lineage/asr/base", "qwen3-asr")], ("asr_base_refused", "/lineage/asr/base")),
        (
            [("/provenance/sourceModels", {"asr": {"repo": "Qwen/asr"}})],
            ("asr_base_refused", "/provenance/sourceModels/asr"),
        ),
        ([("/provenance/releaseState", "base-v1")], ("base_finetuned", "/provenance/finetuned")),
        ([("/provenance/releaseState", "base-v1")], ("source_unnamed", "/provenance/sourceModels/drafter")),
        ([("/provenance/releaseState", "local-standin")], ("default_of_standin", "/defaultEligible")),
    ],
)  # fmt: skip
def test_each_rule_refuses(bends: list[Bend], expected: tuple[str, str]) -> None:
    assert expected in broken(bend_all(document(), bends))


def test_voice_that_sings_must_report_how_well() -> None:
    voice = {
        "version": "1",
        "frozen": True,
        "cache": {"speakerPreset": "cache/elsewhere.bin", "phraseCacheSeed": "cache/p.bin"},
        "capabilities": ["singing"],
    }
    found = broken(bent(document(), "/voice", voice))
    assert found == {("eval_missing", "/evals/expressive"), ("voice_preset_moved", "/voice/cache/speakerPreset")}


@pytest.mark.parametrize("spelled", ["eliza-1-2b", "eliza-1-e2b", "eliza-1-e2b-gemma4", "eliza-1-2b-v1"])
def test_both_spellings_of_a_name_are_accepted(spelled: str) -> None:
    assert not broken(bent(document(), "/id", spelled))


def test_a_long_context_name_belongs_to_its_own_tier() -> None:
    made = bend_all(document(), [("/tier", "27b-256k"), ("/id", "eliza-1-31b-256k")])
    assert ("id_not_of_tier", "/id") not in broken(made)


@pytest.mark.parametrize("name", ["2b", "e2b"])
def test_both_spellings_of_the_drafter_are_accepted(name: str) -> None:
    assert not broken(bent(document(), "/files/mtp/0/path", f"mtp/drafter-{name}.gguf"))


def test_the_2b_bundle_needs_no_cuda_proof_but_the_4b_does() -> None:
    without = bent(document(), "/kernels/verifiedBackends/cuda/status", "fail")
    assert not broken(without)
    bigger = bend_all(without, [("/tier", "4b"), ("/id", "eliza-1-e4b"), ("/files/mtp/0/path", "mtp/drafter-4b.gguf")])
    assert broken(bigger) == {("kernel_unverified", "/kernels/verifiedBackends/cuda/status")}


def test_a_candidate_needs_one_proven_backend_and_no_drafter() -> None:
    made = bend_all(
        candidate(),
        [
            ("/kernels/verifiedBackends/metal/status", "skipped"),
            ("/kernels/required", ["turboquant_q4"]),
            ("/files/mtp", []),
            ("/lineage/drafter", LEFT_OUT),
            ("/evals/textEval/passed", False),
        ],
    )
    assert not broken(made)
    for backend in ("vulkan", "cpu"):
        made = bent(made, f"/kernels/verifiedBackends/{backend}/status", "skipped")
    assert broken(made) == {("kernel_unverified", "/kernels/verifiedBackends")}


def test_what_the_kernel_list_asks_for_must_be_there() -> None:
    made = bend_all(candidate(), [("/files/mtp", []), ("/lineage/drafter", LEFT_OUT)])
    assert broken(made) == {("artifact_missing", "/files/mtp")}
    assert not broken(bent(made, "/mtp", "embedded-draft-head"))


def test_todays_official_bundles_may_be_downloaded_but_not_activated() -> None:
    made = bend_all(
        candidate(),
        [("/version", "0.0.1-local.1-gemma4"), ("/provenance", LEFT_OUT), ("/evals/textEval/passed", False)],
    )
    servable = judge_manifest(decoded(made))
    assert [(bar.code, bar.failed_evals) for bar in servable.activation_bars] == [
        ("activation.eval_gate", ("textEval",))
    ]
    assert Kernel.TURBO3_TCQ in servable.needed_kernels
    assert not servable.may_be_default
    assert ("eval_failed", "/evals/textEval") in {
        (each.code, each.pointer) for each in violations_of(decoded(made), installing=False)
    }


def test_a_standin_must_be_asked_for() -> None:
    with pytest.raises(ContractError) as caught:
        judge_manifest(decoded(standin()))
    assert caught.value.code == "contract.standin_refused"
    servable = judge_manifest(decoded(standin()), allow_standin=True)
    assert servable.needed_kernels == {Kernel.MTP}
    assert not servable.may_be_default


def test_only_a_standin_may_do_without_eyes_and_with_a_short_memory() -> None:
    made = bend_all(standin(), [("/files/vision", []), ("/lineage/vision", LEFT_OUT)])
    assert not broken(made)
    assert ("artifact_missing", "/files/vision") in broken(bent(made, "/provenance/releaseState", "upload-candidate"))
    assert ("context_below_floor", "/files/text/0/ctx") in broken(bent(made, "/files/text/0/ctx", 2047))


def test_a_servable_manifest_cannot_be_forged() -> None:
    with pytest.raises(InternalError):
        ServableManifest(manifest=decoded(document()), needed_kernels=frozenset(), activation_bars=(), proof=object())
