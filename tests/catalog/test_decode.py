"""Story: whatever bytes a hub sends, they become a manifest or one error that lists every fault."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.manifests import LEFT_OUT, bent, document, encoded

from eliza_catalog.decode import decode_manifest
from eliza_catalog.errors import ManifestError
from eliza_catalog.manifest import MAX_MANIFEST_BYTES, Manifest
from eliza_catalog.terms import Backend, FileGroup, Kernel, Tier

JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def pointers_in(value: Any, at: str = "") -> list[str]:
    """Return the pointer of every value in a document, the document's own left out."""
    found: list[str] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += [f"{at}/{key}", *pointers_in(item, f"{at}/{key}")]
    return found


def faults(raw: bytes, code: str = "manifest.malformed") -> dict[str, str]:
    with pytest.raises(ManifestError) as caught:
        decode_manifest(raw)
    assert caught.value.code == code
    return {fault["pointer"]: fault["fault"] for fault in caught.value.details["faults"]}


def test_a_release_is_read_whole() -> None:
    raw = encoded(document() | {"unknown key": 1})
    manifest = decode_manifest(raw)
    assert manifest.tier is Tier.T2B
    assert manifest.digest.hex == hashlib.sha256(raw).hexdigest()
    assert manifest.kernels.required == (Kernel.TURBOQUANT_Q4, Kernel.TURBO3_TCQ, Kernel.MTP)
    assert set(manifest.kernels.verified_backends) == set(Backend)
    assert manifest.published_at.isoformat() == "2026-08-01T12:00:00+00:00"
    assert [artifact.ctx for _, artifact in manifest.artifacts(FileGroup.TEXT)] == [131072]
    assert manifest.evals.gates["mtp"].figures == {"acceptanceRate": 0.84, "speedup": 1.53}


def test_optional_parts_are_read() -> None:
    made = document() | {
        "voice": {
            "version": "2",
            "frozen": True,
            "cache": {"speakerPreset": "cache/a.bin", "phraseCacheSeed": "cache/b.bin"},
            "capabilities": ["tts", "singing"],
        },
        "tokenizer": {"family": "gemma4", "vocabSize": 262144},
        "textQuant": {"any": ["thing"]},
        "schemaVersion": "2",
        "mtp": "separate-drafter",
    }
    made["evals"]["eagle3"] = {"pass": False}
    made["kernels"]["recipeManifest"] = {
        "turbo4": {"blockLayoutVersion": "1", "codebookHash": "ab", "perBlockTolerance": 0.01}
    }
    manifest = decode_manifest(encoded(made))
    assert manifest.voice is not None
    assert manifest.voice.capabilities == ("tts", "singing")
    assert manifest.voice.phrase_cache_seed.text == "cache/b.bin"
    assert manifest.tokenizer == {"family": "gemma4", "vocabSize": 262144}
    assert manifest.evals.gates["eagle3"].passed is False
    assert manifest.kernels.recipe_manifest["turbo4"].per_block_tolerance == 0.01


def test_every_fault_is_listed_with_its_place() -> None:
    made = bent(document(), "/version")
    made["tier"] = "3b"
    made["files"]["voice"] = [{"path": "tts/a.gguf", "sha256": "ABC"}, 7]
    made["evals"]["mtp"] = {"acceptanceRate": "high", "passed": 1}
    made["ramBudgetMb"] = {"min": "7000", "recommended": 0}
    assert set(faults(encoded(made))) == {
        "/version",
        "/tier",
        "/files/voice/0/sha256",
        "/files/voice/1",
        "/evals/mtp/acceptanceRate",
        "/evals/mtp/speedup",
        "/evals/mtp/passed",
        "/ramBudgetMb/min",
        "/ramBudgetMb/recommended",
    }


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("/id", "eliza-2-2b"),
        ("/version", "1.0.0+build"),
        ("/publishedAt", "2026-13-01T00:00:00Z"),
        ("/publishedAt", "2026-01-01T00:00:00+02:00"),
        ("/publishedAt", 5),
        ("/files/text/0/ctx", 131072.0),
        ("/files/text/0/ctx", 2**31),
        ("/files/text/0/runtimeClass", "onnx"),
        ("/files/voice", {}),
        ("/kernels/optional", "mtp"),
        ("/kernels/verifiedBackends/cpu/status", "ok"),
        ("/kernels/verifiedBackends/cpu/device", None),
        ("/kernels/recipeManifest", {"turbo5": {}}),
        ("/evals/textEval/score", 1.5),
        ("/evals/e2eLoopOk", LEFT_OUT),
        ("/evals/eagle3", {"pass": True, "passed": False}),
        ("/evals/eagle3", {}),
        ("/defaultEligible", "yes"),
        ("/provenance", None),
        ("/provenance/releaseState", "beta"),
        ("/voice", {"version": "1", "frozen": False, "cache": {}}),
        ("/tokenizer", {"family": "", "vocabSize": 1}),
        ("/textQuant", ""),
        ("/releaseChannel", "nightly"),
        ("/mtp", "eagle"),
        ("/lineage/text", "x"),
    ],
)
def test_nothing_is_coerced_or_guessed(pointer: str, value: Any) -> None:
    found = faults(encoded(bent(document(), pointer, value)))
    assert any(place.startswith(pointer) for place in found)


@pytest.mark.parametrize("group", ["required", "optional"])
def test_an_unknown_kernel_is_refused_not_ignored(group: str) -> None:
    made = bent(document(), f"/kernels/{group}", ["mtp", "hyperquant_q1"])
    assert faults(encoded(made)) == {f"/kernels/{group}/1": "is a kernel that this version does not know"}


@pytest.mark.parametrize(
    "bend", [("/$schema", "https://elizaos.ai/schemas/eliza-1.manifest.v2.json"), ("/schemaVersion", 3),
             ("/schemaVersion", True), ("/schemaVersion", []), ("/schemaVersion", 2.0), ("/$schema", None)]
)  # fmt: skip
def test_an_unknown_schema_is_refused_before_anything_else(bend: tuple[str, Any]) -> None:
    with pytest.raises(ManifestError) as caught:
        decode_manifest(encoded(bent({"tier": []}, *bend)))
    assert caught.value.code == "manifest.schema_unknown"


@pytest.mark.parametrize("path", ["../x", "/etc/x", "a//b", "c:/x", "a\\b", "con.bin", "a/./b", "x ", "a\u0000", ""])
def test_a_path_that_leaves_the_folder_is_named_as_such(path: str) -> None:
    found = faults(encoded(bent(document(), "/files/asr/0/path", path)), "manifest.path_unsafe")
    assert "/files/asr/0/path" in found


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("TEXT/eliza-1-e2b-128K.gguf", "/files/asr/0/path"),
        ("vision/mmproj-e2b.gguf", "/files/vision/0/sha256"),
        ("text", "/files/asr/0/path"),
        ("Eliza-1.manifest.json", "/files/asr/0/path"),
        ("eliza-1.manifest.json", "/files/asr/0/path"),
    ],
)
def test_files_that_would_overwrite_each_other_are_faults(path: str, place: str) -> None:
    assert list(faults(encoded(bent(document(), "/files/asr/0/path", path)))) == [place]


def test_composed_and_decomposed_names_clash() -> None:
    made = bent(document(), "/files/asr/0/path", "asr/\u00e9.gguf")
    made = bent(made, "/files/vad/0/path", "asr/e\u0301.gguf")
    assert "/files/vad/0/path" in faults(encoded(made))


def test_one_file_in_two_groups_is_no_clash() -> None:
    made = document()
    made["files"]["asr"] = [dict(made["files"]["vision"][0])]
    assert decode_manifest(encoded(made)).first(FileGroup.ASR) == decode_manifest(encoded(made)).first(FileGroup.VISION)


@pytest.mark.parametrize(
    "raw",
    [b"", b"\xff\xfe", b"\xef\xbb\xbf{}", b"{", b'{"a":NaN}', b'{"a":1e999}', b'{"a":Infinity}', b"[" * 100_000,
     b'{"a":' * 65 + b"1" + b"}" * 65, b"1" * 5000, '{"a":1}'.encode("utf-16")],
)  # fmt: skip
def test_bytes_that_are_not_plain_json_are_unreadable(raw: bytes) -> None:
    with pytest.raises(ManifestError) as caught:
        decode_manifest(raw)
    assert caught.value.code == "manifest.unreadable"


def test_a_document_over_one_mebibyte_is_not_even_parsed() -> None:
    padded = encoded(document()) + b" " * MAX_MANIFEST_BYTES
    with pytest.raises(ManifestError) as caught:
        decode_manifest(padded)
    assert caught.value.code == "manifest.too_large"
    assert decode_manifest(padded[:MAX_MANIFEST_BYTES]).tier is Tier.T2B


def test_a_repeated_key_is_a_fault_wherever_it_stands() -> None:
    raw = encoded(document()).replace(b'"tier": "2b"', b'"tier": "2b", "tier": "4b"')
    assert faults(raw) == {"/tier": "is given more than once"}
    raw = encoded(document() | {"a/b~c": [{}]}).replace(b"[{}]", b'[{"k": 1, "k": 1}]')
    assert "/a~1b~0c/0/k" in faults(raw)


def test_half_a_character_is_a_fault_and_the_error_can_be_printed() -> None:
    raw = encoded(document() | {"\ud800": "\udfff"})
    found = faults(raw)
    assert len(found) == 1
    json.dumps(found, ensure_ascii=False).encode("utf-8")


@given(st.binary(max_size=400))
def test_no_bytes_crash_it(raw: bytes) -> None:
    with pytest.raises(ManifestError):
        decode_manifest(raw)


@given(JSON_VALUES)
def test_no_json_crashes_it(value: Any) -> None:
    with pytest.raises(ManifestError):
        decode_manifest(encoded(value))


@given(st.sampled_from(pointers_in(document())), JSON_VALUES | st.just(LEFT_OUT))
def test_a_bent_manifest_is_read_or_its_faults_have_places(pointer: str, value: Any) -> None:
    outcome: Manifest | ManifestError
    try:
        outcome = decode_manifest(encoded(bent(document(), pointer, value)))
    except ManifestError as error:
        outcome = error
    if isinstance(outcome, ManifestError) and outcome.code != "manifest.schema_unknown":
        assert outcome.details["faults"]
        assert all(fault["pointer"].startswith("/") and fault["fault"] for fault in outcome.details["faults"])
