from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.native_library import tiny_bundle

from eliza_agent.runtime.bundle_files import bundle_files
from eliza_catalog.errors import ContractError, VoiceError
from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.terms import BundlePath, FileGroup, RuntimeClass, Sha256

ROOT = Path("bundle")


def tiny() -> Manifest:
    return tiny_bundle()[1]


def without(group: FileGroup) -> Manifest:
    manifest = tiny()
    return replace(manifest, files={g: a for g, a in manifest.files.items() if g is not group})


def artifact(path: str, runtime_class: RuntimeClass | None = None) -> Artifact:
    return Artifact(path=BundlePath(path), sha256=Sha256("0" * 64), runtime_class=runtime_class)


def test_every_file_comes_from_its_group() -> None:
    files = bundle_files(tiny(), ROOT)
    assert files.text.parent == ROOT / "text"
    assert files.drafter is not None
    assert files.require_voice().model.suffix == ".gguf"
    assert files.require_voice().table.suffix == ".bin"
    assert files.require_vad().parent == ROOT / "vad"


@pytest.mark.parametrize("group", [FileGroup.TEXT, FileGroup.CACHE])
def test_a_missing_group_is_named(group: FileGroup) -> None:
    with pytest.raises(ContractError) as caught:
        bundle_files(without(group), ROOT)
    assert caught.value.details["group"] == group.value


def test_optional_groups_may_be_absent() -> None:
    files = bundle_files(without(FileGroup.VOICE), ROOT)
    assert files.voice is None
    with pytest.raises(VoiceError):
        files.require_voice()
    with pytest.raises(VoiceError):
        bundle_files(without(FileGroup.VAD), ROOT).require_vad()
    assert bundle_files(without(FileGroup.MTP), ROOT).drafter is None


def test_a_text_file_of_another_runtime_is_passed_over() -> None:
    manifest = tiny()
    other = artifact("text/x.litertlm", runtime_class=RuntimeClass.LITERT_LM)
    files = {**manifest.files, FileGroup.TEXT: (other, *manifest.files[FileGroup.TEXT])}
    assert bundle_files(replace(manifest, files=files), ROOT).text.suffix == ".gguf"


def test_a_named_voice_is_taken_or_missed() -> None:
    manifest = tiny()
    voices = (artifact("tts/k.gguf"), artifact("tts/a.bin"), artifact("tts/b.bin"))
    both = replace(manifest, files={**manifest.files, FileGroup.VOICE: voices})
    assert bundle_files(both, ROOT).require_voice().table.name == "a.bin"
    assert bundle_files(both, ROOT, voice_name="b").require_voice().table.name == "b.bin"
    with pytest.raises(VoiceError):
        bundle_files(both, ROOT, voice_name="c")
