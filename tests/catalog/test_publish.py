"""Story: the last gate before an upload finds everything that speaks against it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import pytest
from tests.catalog.test_stage import spec_of
from tests.support.manifests import bent, document, standin

from eliza_catalog.decode import decode_manifest
from eliza_catalog.errors import IntegrityError
from eliza_catalog.gguf_header import read_architecture
from eliza_catalog.publish import check_publishable, main
from eliza_catalog.stage import stage_bundle
from eliza_catalog.stage_spec import StageSpec

TEXT = "text/eliza-1-e2b-128k.gguf"
HEARING = "asr/eliza-1-asr.gguf"
NAMES = ("text", "voice", "asr", "vad", "mtp", "vision", "eliza-1")


def staged(made: dict[str, Any], tmp_path: Path, architecture: str = "gemma4", hearing: str = "clip") -> Path:
    spec = spec_of(made, tmp_path / "parts")
    for path, named in ((TEXT, architecture), (HEARING, hearing)):
        if path in spec.sources:
            write_gguf(spec.sources[path], named)
    licenses = {f"LICENSE.{name}": "free\n" for name in NAMES}
    whole = StageSpec(draft=spec.draft, sources=spec.sources, licenses=licenses)
    return stage_bundle(whole, tmp_path / "hub", link=False)


def write_gguf(path: Path, architecture: str) -> None:
    writer = gguf.GGUFWriter(path, architecture)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def codes(folder: Path) -> set[str]:
    return {reason.code for reason in check_publishable(folder).reasons}


def test_a_finished_release_may_be_published(tmp_path: Path) -> None:
    verdict = check_publishable(staged(document(), tmp_path))
    assert verdict.reasons == ()
    assert verdict.is_publishable
    assert verdict.manifest_digest is not None


def test_a_standin_is_never_published_and_every_reason_is_told(tmp_path: Path) -> None:
    made = bent(standin(), "/kernels/verifiedBackends/metal/status", "skipped")
    assert codes(staged(made, tmp_path)) == {
        "publish.standin", "publish.eval_failed", "publish.kernel_unverified"}  # fmt: skip


def test_a_version_that_calls_itself_staged_gets_no_leniency(tmp_path: Path) -> None:
    made = bent(document(), "/version", "1.0.0-staged.1") | {"defaultEligible": False}
    del made["provenance"]
    made["evals"]["textEval"]["passed"] = False
    assert codes(staged(made, tmp_path)) == {"contract.eval_failed", "publish.eval_failed"}


@pytest.mark.parametrize(
    ("harm", "found"),
    [
        (lambda at: (at / "asr/eliza-1-asr.gguf").unlink(), {"publish.file_missing", "publish.sums_differ"}),
        (
            lambda at: (at / "asr/eliza-1-asr.gguf").write_bytes(b"x"),
            {"publish.file_differs", "publish.sums_differ", "integrity.not_gguf"},
        ),
        (lambda at: (at / "notes.txt").write_text("x"), {"publish.file_stray", "publish.sums_differ"}),
        (lambda at: (at / "licenses/LICENSE.vad").unlink(), {"publish.license_missing", "publish.sums_differ"}),
        (lambda at: (at / "licenses/LICENSE.text").write_text("mine"), {"publish.sums_differ"}),
        (lambda at: (at / "checksums/SHA256SUMS").unlink(), {"publish.file_missing"}),
        (lambda at: (at / "eliza-1.manifest.json").unlink(), {"integrity.missing"}),
        (lambda at: (at / "eliza-1.manifest.json").write_text("{"), {"manifest.unreadable"}),
        (lambda at: (at / "licenses/link").symlink_to("LICENSE.text"), {"publish.file_stray", "publish.sums_differ"}),
    ],
)
def test_a_folder_that_was_touched_is_refused(tmp_path: Path, harm: Callable[[Path], None], found: set[str]) -> None:
    folder = staged(document(), tmp_path)
    harm(folder)
    assert codes(folder) == found


@pytest.mark.parametrize("architecture", ["qwen35", "llama"])
def test_a_default_whose_text_says_it_is_something_else_is_refused(tmp_path: Path, architecture: str) -> None:
    assert codes(staged(document(), tmp_path, architecture)) == {"publish.wrong_architecture"}


def test_a_default_that_hears_with_a_standin_is_refused(tmp_path: Path) -> None:
    folder = staged(document(), tmp_path)
    manifest = decode_manifest((folder / "eliza-1.manifest.json").read_bytes())
    write_gguf(folder / HEARING, "whisper")
    wrong = [reason for reason in check_publishable(folder).reasons if reason.code == "publish.wrong_architecture"]
    assert [reason.details for reason in wrong] == [{"path": HEARING, "architecture": "whisper"}]
    assert manifest.default_eligible


def test_what_only_standins_may_have_is_not_even_staged_for_a_default(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError) as caught:
        staged(document(), tmp_path, hearing="whisper")
    assert caught.value.code == "integrity.wrong_architecture"
    assert caught.value.details == {"path": HEARING, "architecture": "whisper"}
    assert not (tmp_path / "hub/elizaos").exists()
    assert "publish.wrong_architecture" not in codes(staged(standin(), tmp_path, hearing="whisper"))


def test_the_command_tells_its_verdict_by_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = staged(document(), tmp_path)
    assert main([str(folder)]) == 0
    (folder / "stray").write_text("")
    assert main([str(folder)]) == 3
    assert "file_stray" in capsys.readouterr().out


@pytest.mark.parametrize(
    "raw",
    [b"", b"GGUF", b"GGUF\x03\0\0\0", b"<html>login</html>", b"GGUF\x03\0\0\0" + b"\xff" * 40, b"GGUF" + b"\0" * 40],
)
def test_a_file_that_is_no_model_says_no_architecture(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "x.gguf").write_bytes(raw)
    with pytest.raises(IntegrityError):
        read_architecture(tmp_path / "x.gguf")
