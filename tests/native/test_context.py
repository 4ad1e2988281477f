"""Story: a bundle folder is opened, wherever it lies, or the error says what is wrong with it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.support.text_turns import ROOM, mtp_drafter, run

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.text import StreamConfig, TextStream
from eliza_native.tokens import tokenize

PLAIN = StreamConfig(context_size=ROOM)


@pytest.fixture
def text_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bundle" / "text"
    folder.mkdir(parents=True)
    return folder


def refusal(library: Library, bundle: Path) -> NativeError:
    with Context(library, bundle) as context, pytest.raises(NativeError) as caught:
        TextStream(context, PLAIN)
    assert caught.value.code == "native.bundle_invalid"
    assert caught.value.details["status"] == -3
    return caught.value


@pytest.mark.parametrize("name", ["absent", "file"])
def test_what_is_no_folder_is_refused(library: Library, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(NativeError) as caught:
        Context(library, tmp_path / name)
    assert caught.value.code == "native.bundle_invalid"
    assert name in caught.value.details["said"]


def test_a_path_with_a_nul_is_refused(library: Library, models: Path) -> None:
    with pytest.raises(NativeError) as caught:
        Context(library, Path(f"{models / 'sure'}\0x"))
    assert caught.value.code == "native.invalid_argument"


def test_no_text_model_is_told(library: Library, text_folder: Path) -> None:
    assert "exactly one GGUF" in str(refusal(library, text_folder.parent).details["said"])


def test_two_text_models_are_one_too_many(library: Library, models: Path, text_folder: Path) -> None:
    for name in ("a.gguf", "b.gguf"):
        shutil.copy(models / "sure" / "text" / "text.gguf", text_folder / name)
    assert "a.gguf, b.gguf" in str(refusal(library, text_folder.parent).details["said"])


@pytest.mark.parametrize("percent", [0, 1, 5, 20, 50, 90, 99])
def test_a_truncated_model_is_refused(library: Library, models: Path, text_folder: Path, percent: int) -> None:
    whole = (models / "sure" / "text" / "text.gguf").read_bytes()
    (text_folder / "text.gguf").write_bytes(whole[: len(whole) * percent // 100])
    refusal(library, text_folder.parent)


def test_a_model_that_lacks_its_last_bytes_is_told_as_truncated(
    library: Library, models: Path, text_folder: Path
) -> None:
    whole = (models / "sure" / "text" / "text.gguf").read_bytes()
    (text_folder / "text.gguf").write_bytes(whole[:-40])
    assert "truncated" in str(refusal(library, text_folder.parent).details["said"])


@pytest.mark.parametrize("source", ["mmproj.gguf", "words.txt", "sure/mtp/drafter-2b.gguf"])
def test_a_file_of_another_kind_is_refused(library: Library, models: Path, text_folder: Path, source: str) -> None:
    shutil.copy(models / source, text_folder / "text.gguf")
    refusal(library, text_folder.parent)


def huge(data: bytearray, at: int) -> None:
    data[at : at + 8] = (1 << 62).to_bytes(8, "little")


@pytest.mark.parametrize("at", [8, 16, 24], ids=["tensor count", "metadata count", "key length"])
def test_a_hostile_header_is_refused(library: Library, models: Path, text_folder: Path, at: int) -> None:
    data = bytearray((models / "sure" / "text" / "text.gguf").read_bytes())
    huge(data, at)
    (text_folder / "text.gguf").write_bytes(data)
    refusal(library, text_folder.parent)


def test_an_unknown_architecture_is_refused(library: Library, models: Path, text_folder: Path) -> None:
    whole = (models / "sure" / "text" / "text.gguf").read_bytes()
    (text_folder / "text.gguf").write_bytes(whole.replace(b"gemma4", b"gemmaX", 1))
    refusal(library, text_folder.parent)


@pytest.mark.parametrize("name", ["with a space", "Bündel-€-日本語", "quo'ted %20 & $HOME", "🙂"])
def test_odd_paths_work(library: Library, models: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(models / "sure", folder)
    with Context(library, folder) as context:
        config = StreamConfig(context_size=ROOM, drafter=mtp_drafter(context), draft_max=3)
        turn = run(context, tokenize(context, "hi"), config)
    assert turn.text == TINY_TEXT
    assert turn.accepted > 0


def test_closing_closes_the_streams_first_and_may_be_repeated(library: Library, models: Path) -> None:
    context = Context(library, models / "sure")
    stream = TextStream(context, PLAIN)
    stream.prefill([5])
    context.close()
    context.close()
    for use in (stream.next, lambda: TextStream(context, PLAIN), lambda: tokenize(context, "a")):
        with pytest.raises(NativeError, match="closed"):
            use()
    stream.close()


def test_an_unhonourable_backend_is_refused(sure: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELIZA_LLM_BACKEND", "npu")
    with pytest.raises(NativeError) as caught:
        TextStream(sure, PLAIN)
    assert caught.value.code == "native.backend_unavailable"
    assert "'npu'" in str(caught.value.details["said"])
    monkeypatch.setenv("ELIZA_LLM_BACKEND", "llama.cpp")
    assert run(sure, [5], PLAIN).text == TINY_TEXT
