"""Story: a talk is put away and taken up again, in a file or by its key, and goes on as if it had never stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.text_turns import finish

from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.text import StreamConfig, TextStream

CONFIG = StreamConfig(context_size=512, max_tokens=24)
PROMPT = [11 + index * 37 % 250 for index in range(120)]


@pytest.fixture
def context(library: Library, models: Path) -> Iterator[Context]:
    with Context(library, models / "noise") as opened:
        yield opened


def answer(context: Context, config: StreamConfig = CONFIG) -> tuple[tuple[int, ...], int]:
    with TextStream(context, config) as stream:
        stream.prefill(PROMPT)
        reused = stream.tokens_reused
        return tuple(finish(stream).tokens), reused


def test_a_saved_prompt_answers_in_another_stream(context: Context, tmp_path: Path) -> None:
    file = tmp_path / "talk ü.slot"
    with TextStream(context, CONFIG) as stream:
        stream.prefill(PROMPT)
        stream.save_slot(file)
        expected = tuple(finish(stream).tokens)
    with TextStream(context, CONFIG) as stream:
        stream.restore_slot(file)
        assert tuple(finish(stream).tokens) == expected
    assert file.stat().st_mode & 0o777 == 0o600


def test_nothing_is_not_saved(context: Context, tmp_path: Path) -> None:
    with TextStream(context, CONFIG) as stream, pytest.raises(NativeError) as caught:
        stream.save_slot(tmp_path / "nothing")
    assert caught.value.code == "native.invalid_argument"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [None, b"", b"ELIZSLOT", b"something else entirely"])
def test_a_file_that_is_no_slot_is_refused(context: Context, tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "slot"
    if content is not None:
        file.write_bytes(content)
    with TextStream(context, CONFIG) as stream, pytest.raises(NativeError) as caught:
        stream.restore_slot(file)
    assert caught.value.code == "native.invalid_argument"


def test_a_folder_that_cannot_be_written_is_a_fault(context: Context, tmp_path: Path) -> None:
    with TextStream(context, CONFIG) as stream:
        stream.prefill(PROMPT)
        with pytest.raises(NativeError) as caught:
            stream.save_slot(tmp_path / "no" / "such" / "folder")
        assert caught.value.code == "native.status"


@pytest.mark.parametrize("keyed", [{"prompt_cache_key": "kitchen"}, {"slot_id": 3}])
def test_the_same_key_or_slot_reads_a_prompt_once(context: Context, keyed: dict[str, object]) -> None:
    config = StreamConfig(context_size=512, max_tokens=24, **keyed)  # type: ignore[arg-type]
    expected, _ = answer(context)
    assert answer(context, config) == (expected, 0)
    assert answer(context, config) == (expected, len(PROMPT) - 1)
    assert answer(context) == (expected, 0)


def test_a_slot_takes_the_place_of_files_only(context: Context, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with TextStream(context, CONFIG) as stream:
        stream.prefill(PROMPT)
        for name in ("pipe", "."):
            with pytest.raises(NativeError) as caught:
                stream.save_slot(tmp_path / name)
            assert "something that is no file" in caught.value.details["said"]
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]
