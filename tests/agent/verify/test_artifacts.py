from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.native_library import tiny_bundle

from eliza_agent.verify.artifacts import ProofProgress, prove_files
from eliza_catalog.errors import IntegrityError
from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.parts.tiny_hearing import write_tiny_hearing
from eliza_catalog.terms import BundlePath, FileGroup, Sha256

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def bundle(tmp_path: Path) -> tuple[Path, Manifest]:
    root, manifest = tiny_bundle()
    shutil.copytree(root, tmp_path / "b")
    return tmp_path / "b", manifest


async def test_all_bytes_are_counted_once(bundle: tuple[Path, Manifest]) -> None:
    seen: list[ProofProgress] = []
    proven = await prove_files("k", *bundle, on_progress=seen.append)
    assert seen[-1].bytes_done == seen[-1].bytes_total == proven.size_bytes


async def test_one_flipped_byte_and_one_missing_file_are_both_told(bundle: tuple[Path, Manifest]) -> None:
    root, manifest = bundle
    flipped, gone = manifest.first(FileGroup.TEXT), manifest.first(FileGroup.VAD)
    assert flipped is not None
    assert gone is not None
    file = flipped.path.below(root)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    gone.path.below(root).unlink()
    with pytest.raises(IntegrityError) as caught:
        await prove_files("k", root, manifest)
    faults = {fault["path"]: fault["code"] for fault in caught.value.details["faults"]}
    assert faults == {str(flipped.path): "integrity.digest", str(gone.path): "integrity.missing"}


async def test_a_right_digest_does_not_make_a_page_a_model(tmp_path: Path) -> None:
    _, manifest = tiny_bundle()
    (tmp_path / "text").mkdir()
    (tmp_path / "text/x.gguf").write_bytes(b"<html>")
    digest = Sha256(hashlib.sha256(b"<html>").hexdigest())
    page = Artifact(path=BundlePath("text/x.gguf"), sha256=digest)
    with pytest.raises(IntegrityError) as caught:
        await prove_files("k", tmp_path, replace(manifest, files={FileGroup.TEXT: (page,)}))
    assert caught.value.code == "integrity.not_gguf"


async def test_a_default_must_be_what_it_says(bundle: tuple[Path, Manifest]) -> None:
    root, manifest = bundle
    drafter = manifest.first(FileGroup.MTP)
    assert drafter is not None
    # a drafter in the text's place: right bytes, right format, wrong model
    swapped = replace(manifest, files={FileGroup.TEXT: (drafter,)}, default_eligible=True)
    with pytest.raises(IntegrityError) as caught:
        await prove_files("k", root, swapped)
    assert caught.value.code == "integrity.wrong_architecture"
    assert (await prove_files("k", root, replace(swapped, default_eligible=False))).files


async def test_a_default_that_hears_with_a_standin_is_refused(tmp_path: Path) -> None:
    _, manifest = tiny_bundle()
    model = tmp_path / "asr/eliza-1-asr.gguf"
    write_tiny_hearing(model)
    digest = Sha256(hashlib.sha256(model.read_bytes()).hexdigest())
    heard = Artifact(path=BundlePath("asr/eliza-1-asr.gguf"), sha256=digest)
    hearing = replace(manifest, files={FileGroup.ASR: (heard,)}, default_eligible=True)
    with pytest.raises(IntegrityError) as caught:
        await prove_files("k", tmp_path, hearing)
    assert caught.value.code == "integrity.wrong_architecture"
    (fault,) = caught.value.details["faults"]
    assert fault["path"] == "asr/eliza-1-asr.gguf"
    assert "only stand-ins" in fault["fault"]
    assert (await prove_files("k", tmp_path, replace(hearing, default_eligible=False))).files
