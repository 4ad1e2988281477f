"""Stories of the plan: only a judged manifest gives addresses, and only for what this device needs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.bundle_repo import FOLDER, accepted
from tests.support.manifests import document

from eliza_agent.download.plan import DownloadPlan, make_plan
from eliza_agent.download.source import FetchedManifest, HubSource
from eliza_catalog.errors import DownloadError, ElizaError, IntegrityError
from eliza_catalog.terms import BundlePath

SOURCE = HubSource(base_url="https://hub.example/", revision="c" * 40)
DIGEST = "d" * 64


def raw(bend: Callable[[dict[str, Any]], object] = lambda files: None) -> bytes:
    manifest = document()
    bend(manifest["files"])
    return json.dumps(manifest).encode()


def plan(data: bytes, lib_target: str | None = None) -> DownloadPlan:
    fetched = FetchedManifest.of(data, BundlePath(FOLDER), SOURCE)
    return make_plan(accepted(data), fetched, lib_target=lib_target)


def paths(data: bytes, lib_target: str | None = None) -> set[str]:
    return {file.path.text for file in plan(data, lib_target).files}


def test_every_file_has_an_address_at_the_pinned_commit() -> None:
    files = plan(raw()).files
    assert len(files) == sum(len(rows) for rows in document()["files"].values())
    assert all(
        file.url == f"https://hub.example/elizaos/eliza-1/resolve/{'c' * 40}/{FOLDER}/{file.path}" for file in files
    )


def test_only_the_chosen_length_of_conversation_is_fetched() -> None:
    longer = {"path": "text/eliza-1-e2b-256k.gguf", "sha256": DIGEST, "ctx": 262144}
    data = raw(lambda files: files["text"].append(longer))
    chosen = accepted(data).text.path.text
    assert {path for path in paths(data) if path.startswith("text/")} == {chosen}


def test_only_the_libraries_of_this_device_are_fetched() -> None:
    libraries = [
        {"path": f"lib/{target}/libx.so", "sha256": DIGEST, "target": target} for target in ("linux-x64", "mac")
    ]
    data = raw(lambda files: files.update(lib=libraries))
    assert "lib/linux-x64/libx.so" in paths(data, "linux-x64")
    assert "lib/mac/libx.so" not in paths(data, "linux-x64")
    assert not [path for path in paths(data) if path.startswith("lib/")]


def test_other_bytes_than_those_judged_give_no_plan() -> None:
    other = FetchedManifest.of(raw() + b"\n", BundlePath(FOLDER), SOURCE)
    with pytest.raises(IntegrityError) as caught:
        make_plan(accepted(raw()), other)
    assert caught.value.code == "integrity.digest"


@pytest.mark.parametrize("name", ["vad/silero-vad-v5.gguf", "vad/SILERO-vad-v5.gguf"])
def test_one_place_with_two_digests_is_never_planned(name: str) -> None:
    data = raw(lambda files: files["vad"].append({"path": name, "sha256": DIGEST}))
    with pytest.raises(ElizaError) as caught:
        plan(data)
    assert isinstance(caught.value, DownloadError) or caught.value.family == "manifest"
