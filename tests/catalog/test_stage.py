"""Story: a publisher lays parts side by side, and only what devices would accept comes out as a bundle."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.manifests import LEFT_OUT, bent, document, standin

from eliza_catalog import stage
from eliza_catalog.decode import decode_manifest
from eliza_catalog.errors import ContractError, ElizaError, IntegrityError, ManifestError, StorageError
from eliza_catalog.stage_spec import StageSpec, file_entries, read_spec


def spec_of(made: dict[str, Any], parts: Path) -> StageSpec:
    """Return a spec for a document, with one small file for each path; digests are left out."""
    parts.mkdir(parents=True, exist_ok=True)
    sources = {}
    for entry in file_entries(made):
        entry.pop("sha256", None)
        sources[entry["path"]] = parts / entry["path"].replace("/", "_")
        sources[entry["path"]].write_bytes(b"part " + entry["path"].encode())
    return StageSpec(draft=made, sources=sources, licenses={"LICENSE.eliza-1": "free\n"})


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_staged_bundle_is_one_a_device_accepts(tmp_path: Path) -> None:
    folder = stage.stage_bundle(spec_of(document(), tmp_path / "parts"), tmp_path / "hub")
    assert folder == tmp_path / "hub/elizaos/eliza-1/bundles/e2b"
    manifest = decode_manifest((folder / "eliza-1.manifest.json").read_bytes())
    for _, artifact in manifest.artifacts():
        assert hashlib.sha256(artifact.path.below(folder).read_bytes()).hexdigest() == artifact.sha256.hex
    sums = dict(line.split("  ")[::-1] for line in (folder / "checksums/SHA256SUMS").read_text().splitlines())
    there = everything_in(folder)
    assert set(sums) == set(there) - {"checksums/SHA256SUMS"}
    assert all(hashlib.sha256(there[path]).hexdigest() == digest for path, digest in sums.items())


def test_the_same_parts_give_the_same_bytes(tmp_path: Path) -> None:
    one = stage.stage_bundle(spec_of(document(), tmp_path / "a"), tmp_path / "one")
    two = stage.stage_bundle(spec_of(document(), tmp_path / "b"), tmp_path / "two", link=False)
    assert everything_in(one) == everything_in(two)


@pytest.mark.parametrize("link", [True, False])
def test_staging_again_changes_nothing(tmp_path: Path, link: bool) -> None:
    spec = spec_of(document(), tmp_path / "parts")
    folder = stage.stage_bundle(spec, tmp_path / "hub", link=link)
    before = {file: file.stat().st_ino for file in folder.rglob("*")}
    assert stage.stage_bundle(spec, tmp_path / "hub", link=link) == folder
    assert {file: file.stat().st_ino for file in folder.rglob("*")} == before


def test_a_damaged_or_strange_bundle_is_staged_anew(tmp_path: Path) -> None:
    spec = spec_of(document(), tmp_path / "parts")
    folder = stage.stage_bundle(spec, tmp_path / "hub", link=False)
    good = everything_in(folder)
    (folder / "asr/eliza-1-asr.gguf").write_bytes(b"damaged")
    (folder / "stray").write_bytes(b"")
    stage.stage_bundle(spec, tmp_path / "hub", link=False)
    assert everything_in(folder) == good
    assert [child.name for child in folder.parent.iterdir()] == ["e2b"]


def test_copied_parts_cannot_be_reached_through_the_bundle(tmp_path: Path) -> None:
    spec = spec_of(document(), tmp_path / "parts")
    folder = stage.stage_bundle(spec, tmp_path / "hub", link=False)
    (folder / "asr/eliza-1-asr.gguf").write_bytes(b"damaged")
    assert spec.sources["asr/eliza-1-asr.gguf"].read_bytes() != b"damaged"


@pytest.mark.parametrize(
    ("pointer", "value", "error"),
    [
        ("/files/vision", [], ContractError),
        ("/kernels/required", ["mtp", "hyperquant"], ManifestError),
        ("/evals/textEval/passed", False, ContractError),
        ("/schemaVersion", 9, ManifestError),
        ("/lineage/voice", LEFT_OUT, ContractError),
    ],
)
def test_what_the_gates_refuse_is_not_staged(
    tmp_path: Path, pointer: str, value: object, error: type[ElizaError]
) -> None:
    with pytest.raises(error):
        stage.stage_bundle(spec_of(bent(document(), pointer, value), tmp_path / "parts"), tmp_path / "hub")
    assert not (tmp_path / "hub").exists()


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    spec = spec_of(document(), tmp_path / "parts")
    spec.sources["mtp/drafter-e2b.gguf"].unlink()
    with pytest.raises(IntegrityError) as caught:
        stage.stage_bundle(spec, tmp_path / "hub")
    assert caught.value.code == "integrity.missing"
    assert caught.value.details["path"] == "mtp/drafter-e2b.gguf"


def test_a_license_cannot_be_written_elsewhere(tmp_path: Path) -> None:
    spec = spec_of(document(), tmp_path / "parts")
    bad = StageSpec(draft=spec.draft, sources=spec.sources, licenses={"../../x": ""})
    with pytest.raises(ManifestError):
        stage.stage_bundle(bad, tmp_path / "hub")


def test_a_hub_that_is_a_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "hub").write_text("")
    with pytest.raises(StorageError):
        stage.stage_bundle(spec_of(document(), tmp_path / "parts"), tmp_path / "hub")


def test_the_command_stages_from_a_json_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = standin()
    for entry in file_entries(made):
        del entry["sha256"]
        entry["source"] = entry["path"].replace("/", "_")
        (tmp_path / entry["source"]).write_bytes(b"x")
    (tmp_path / "license").write_text("free")
    file = tmp_path / "spec.json"
    file.write_text(json.dumps({"manifest": made, "licenses": {"LICENSE.text": "license"}}))
    assert stage.main([str(file), "--out", str(tmp_path / "hub"), "--copy"]) == 0
    folder = Path(capsys.readouterr().out.strip())
    assert (folder / "licenses/LICENSE.text").read_text() == "free"
    assert b"source" not in (folder / "eliza-1.manifest.json").read_bytes().replace(b"sourceModels", b"")

    (tmp_path / made["files"]["asr"][0]["source"]).unlink()
    assert stage.main([str(file), "--out", str(tmp_path / "hub")]) == 5
    assert json.loads(capsys.readouterr().err)["code"] == "integrity.missing"


@pytest.mark.parametrize("text", ["[]", "{}", '{"manifest": 4}', '{"manifest": {}, "licenses": []}', "{"])
def test_a_spec_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "spec.json").write_text(text)
    with pytest.raises(ManifestError):
        read_spec(tmp_path / "spec.json")
