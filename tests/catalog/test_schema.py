"""Story: publishers check their manifests with the schema, devices read them with the decoder; both agree."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.catalog.test_decode import JSON_VALUES, pointers_in
from tests.support.manifests import LEFT_OUT, bent, document, encoded, standin

from eliza_catalog.decode import decode_manifest
from eliza_catalog.errors import ManifestError
from eliza_catalog.schema import manifest_schema

CATALOG = Path(__file__).parents[2] / "catalog"
VALIDATOR = Draft202012Validator(manifest_schema())


def agree(made: Any) -> bool:
    """Return whether decoder and schema say the same of a document."""
    try:
        decode_manifest(encoded(made))
        is_read = True
    except ManifestError:
        is_read = False
    return is_read is VALIDATOR.is_valid(made)


def full() -> dict[str, Any]:
    made = document() | {
        "voice": {
            "version": "2",
            "frozen": True,
            "cache": {"speakerPreset": "cache/a.bin", "phraseCacheSeed": "cache/b.bin"},
            "capabilities": ["tts"],
        },
        "tokenizer": {"family": "gemma4", "vocabSize": 262144},
        "textQuant": "q4_k_m",
        "schemaVersion": 2,
        "releaseChannel": "recommended",
        "kv": "f16",
        "mtp": "separate-drafter",
    }
    made["evals"]["eagle3"] = {"pass": False, "acceptanceRate": None}
    made["evals"]["turnDetector"] = {"f1": 0.9, "meanLatencyMs": 2, "kind": "livekit", "passed": True}
    recipe = {"blockLayoutVersion": "1", "codebookHash": "ab", "perBlockTolerance": 0.01}
    made["kernels"]["recipeManifest"] = {"turbo4": recipe}
    made["provenance"]["sourceModels"] = {"text": {"repo": "a/b", "file": "c", "convertedVia": "d", "note": "e"}}
    return made


def test_the_published_schema_is_the_one_the_code_makes() -> None:
    spec = importlib.util.spec_from_file_location("regenerate", CATALOG / "regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    regenerate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(regenerate)
    message = "run python catalog/regenerate.py"
    assert regenerate.SCHEMA_FILE.read_text("utf-8") == regenerate.schema_text(), message


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(manifest_schema())


@pytest.mark.parametrize("made", [document(), standin(), full()])
def test_good_documents_are_good_to_both(made: dict[str, Any]) -> None:
    assert VALIDATOR.is_valid(made)
    assert agree(made)


@pytest.mark.parametrize("pointer", pointers_in(full()))
def test_both_agree_on_what_may_be_left_out(pointer: str) -> None:
    assert agree(bent(full(), pointer, LEFT_OUT))


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "c:x", "a\\b", "a/./b", "a/..", "x.", "x ", "a /b", "a" * 241])
def test_both_refuse_unsafe_paths(path: str) -> None:
    made = bent(full(), "/files/asr/0/path", path)
    assert agree(made)
    assert not VALIDATOR.is_valid(made)


def _is_whole_float(value: Any) -> bool:
    """JSON Schema counts 3.0 as an integer; the decoder does not."""
    return isinstance(value, float) and value.is_integer()


@given(st.sampled_from(pointers_in(full())), JSON_VALUES)
def test_both_agree_on_any_value_in_any_place(pointer: str, value: Any) -> None:
    assume(not _is_whole_float(value) and pointer != "/publishedAt")
    assume(not pointer.endswith("/path") or isinstance(value, str) is False)
    assert agree(bent(full(), pointer, value))
