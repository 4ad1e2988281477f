"""Manifests as JSON documents: one that keeps the contract, and ways to bend it.

`document()` is a finished 2b release; `standin()` a stand-in for demonstrations. Tests bend a copy with
`bent(document, pointer, value)` and read it with `decoded`.
"""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

from eliza_catalog.decode import decode_manifest
from eliza_catalog.manifest import Manifest

LEFT_OUT = object()


def _file(path: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "sha256": hashlib.sha256(path.encode()).hexdigest(), **more}


def document() -> dict[str, Any]:
    """Return a finished release of tier 2b that every rule of the contract accepts."""
    origin = {"base": "an-upstream-base", "license": "Apache-2.0"}
    proof = {"status": "pass", "atCommit": "0123abc", "report": "evidence/platform/x.json"}
    return {
        "$schema": "https://elizaos.ai/schemas/eliza-1.manifest.v1.json",
        "id": "eliza-1-e2b",
        "tier": "2b",
        "version": "1.0.0",
        "publishedAt": "2026-08-01T12:00:00Z",
        "lineage": {slot: dict(origin) for slot in ("text", "voice", "drafter", "vision", "vad", "asr")},
        "files": {
            "text": [_file("text/eliza-1-e2b-128k.gguf", ctx=131072)],
            "voice": [_file("tts/kokoro/kokoro-82m-v1_0.gguf"), _file("tts/kokoro/voices/af_heart.bin")],
            "asr": [_file("asr/eliza-1-asr.gguf")],
            "vision": [_file("vision/mmproj-e2b.gguf")],
            "mtp": [_file("mtp/drafter-e2b.gguf")],
            "cache": [_file("cache/voice-preset-default.bin")],
            "vad": [_file("vad/silero-vad-v5.gguf")],
        },
        "kernels": {
            "required": ["turboquant_q4", "turbo3_tcq", "mtp"],
            "optional": [],
            "verifiedBackends": {name: dict(proof) for name in ("metal", "vulkan", "cuda", "rocm", "cpu")},
        },
        "evals": {
            "textEval": {"score": 0.8, "passed": True},
            "voiceRtf": {"rtf": 0.4, "passed": True},
            "asrWer": {"wer": 0.1, "passed": True},
            "vadLatencyMs": {"median": 20.0, "passed": True},
            "mtp": {"acceptanceRate": 0.84, "speedup": 1.53, "passed": True},
            "e2eLoopOk": True,
            "thirtyTurnOk": True,
        },
        "ramBudgetMb": {"min": 7000, "recommended": 9500},
        "defaultEligible": True,
        "provenance": {"releaseState": "final", "finetuned": True, "sourceModels": {}},
    }


def standin() -> dict[str, Any]:
    """Return a stand-in for demonstrations that the contract accepts when it is asked for."""
    made = document()
    made |= {"version": "0.0.1-local.demo", "defaultEligible": False}
    made["provenance"] = {"releaseState": "local-standin", "finetuned": False, "sourceModels": {}}
    made["kernels"]["required"] = ["mtp"]
    made["files"]["text"][0] |= {"path": "text/eliza-1-e2b-4k.gguf", "ctx": 4096}
    made["evals"]["textEval"] = {"score": 0.0, "passed": False}
    return made


def bent(source: dict[str, Any], pointer: str, value: Any = LEFT_OUT) -> dict[str, Any]:
    """Return a copy of `source` with the value at `pointer` replaced, added or left out."""
    copied = copy.deepcopy(source)
    *path, last = pointer.strip("/").split("/")
    place: Any = copied
    for key in path:
        place = place[int(key)] if isinstance(place, list) else place[key]
    if value is LEFT_OUT:
        del place[int(last) if isinstance(place, list) else last]
    elif isinstance(place, list):
        place[int(last) :] = [value, *place[int(last) + 1 :]]
    else:
        place[last] = value
    return copied


def encoded(source: Any) -> bytes:
    """Return a document's bytes."""
    return json.dumps(source).encode()


def decoded(source: dict[str, Any]) -> Manifest:
    """Return a document as `decode_manifest` reads it."""
    return decode_manifest(encoded(source))
