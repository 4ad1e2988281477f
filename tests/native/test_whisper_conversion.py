"""Conversion of recognition weights: refusals first, then nothing lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from tests.support.ctranslate2_writer import (
    Array,
    config,
    ctranslate2_bytes,
    published_tensors,
    small_shape,
    tokens,
    write_published,
)

from eliza_catalog.convert.whisper import convert_whisper, published_name
from eliza_catalog.convert.whisper_languages import LANGUAGES
from eliza_catalog.convert.whisper_layout import Dtype
from eliza_catalog.errors import IntegrityError


def convert(folder: Path, parts: list[Path], dtype: Dtype = "f16") -> Path:
    out = folder / "out" / "asr.gguf"
    convert_whisper(parts, folder / "vocabulary.json", folder / "config.json", out, dtype)
    return out


def refused(folder: Path, parts: list[Path]) -> IntegrityError:
    with pytest.raises(IntegrityError) as caught:
        convert(folder, parts)
    assert not (folder / "out").exists() or list((folder / "out").iterdir()) == []
    return caught.value


@pytest.mark.parametrize("name", ["model.bin.part1", "model.bin.part2", "vocabulary.json", "config.json"])
def test_an_absent_source_is_named(tmp_path: Path, name: str) -> None:
    parts = write_published(tmp_path)
    (tmp_path / name).unlink()
    error = refused(tmp_path, parts)
    assert error.code == "integrity.missing"
    assert error.details["path"].endswith(name)


@pytest.mark.parametrize("content", [b"", b"GGUF", bytes(range(256)) * 40, b"\x06\0\0\0\xff\xff"])
def test_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    assert refused(tmp_path, write_published(tmp_path, content)).code == "integrity.wrong_architecture"


def test_a_file_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    whole = ctranslate2_bytes(published_tensors(small_shape()))
    for size in [*range(0, 400, 7), *range(400, len(whole), len(whole) // 40), len(whole) - 1]:
        assert refused(tmp_path, write_published(tmp_path, whole[:size])).code == "integrity.wrong_architecture"
    assert refused(tmp_path, write_published(tmp_path, whole + b"\0")).details["at"] == "end"


def test_parts_in_the_wrong_order_are_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, write_published(tmp_path)[::-1]).code == "integrity.wrong_architecture"


def bent_tensors(name: str, bend: Callable[[Array], Array | None]) -> bytes:
    made = published_tensors(small_shape())
    values = bend(made.pop(name))
    return ctranslate2_bytes(made if values is None else made | {name: values})


@pytest.mark.parametrize(
    "name",
    [
        "encoder/conv1/weight",
        "encoder/layer_1/self_attention/linear_0/weight",
        "decoder/layer_0/attention/linear_1/bias",
        "decoder/layer_0/attention/layer_norm/gamma",
        "encoder/position_encodings/encodings",
        "decoder/embeddings/weight",
    ],
)
@pytest.mark.parametrize(
    "bend",
    [
        lambda values: None,
        lambda values: values[1:],
        lambda values: values[None],
        lambda values: values.astype("<i2"),
        lambda values: np.full_like(values, np.nan),
    ],
    ids=["gone", "shorter", "deeper", "whole numbers", "not numbers"],
)
def test_a_bent_tensor_is_refused(tmp_path: Path, name: str, bend: Callable[[Array], Array | None]) -> None:
    error = refused(tmp_path, write_published(tmp_path, bent_tensors(name, bend)))
    assert error.code == "integrity.wrong_architecture"
    assert error.details["at"]


@pytest.mark.parametrize("heads", [0, 3, -1])
def test_heads_that_do_not_divide_are_refused(tmp_path: Path, heads: int) -> None:
    made = published_tensors(small_shape())
    for side in ("encoder", "decoder"):
        made[f"{side}/num_heads"] = np.array(heads, "<i2")
    assert "num_heads" in refused(tmp_path, write_published(tmp_path, ctranslate2_bytes(made))).details["at"]


def test_a_width_that_no_block_divides_is_refused(tmp_path: Path) -> None:
    raw = ctranslate2_bytes(published_tensors(small_shape(width=48)))
    assert refused(tmp_path, write_published(tmp_path, raw)).details["at"] == "width"


def test_q8_0_packs_the_decoder_only(tmp_path: Path) -> None:
    out = convert(tmp_path, write_published(tmp_path), "q8_0")
    types = {tensor.name: tensor.tensor_type.name for tensor in gguf.GGUFReader(out).tensors}
    assert (types["decoder.token"], types["decoder.0.up.weight"]) == ("Q8_0", "Q8_0")
    assert {types[name] for name in ("encoder.conv1.weight", "encoder.1.up.weight", "decoder.0.cross_kv.weight")} == {
        "F16"
    }
    assert {kind for name, kind in types.items() if name.endswith(("bias", "norm.weight", "position"))} == {"F32"}


def test_another_model_or_version_is_refused(tmp_path: Path) -> None:
    made = published_tensors(small_shape())
    for raw, at in (
        (ctranslate2_bytes(made, spec="TransformerSpec"), "spec"),
        (ctranslate2_bytes(made, version=5), "version"),
    ):
        assert refused(tmp_path, write_published(tmp_path, raw)).details["at"] == at


@pytest.mark.parametrize("said", [{}, [1], tokens()[:-9], [token.replace("nospeech", "else") for token in tokens()]])
def test_a_vocabulary_without_its_special_tokens_is_refused(tmp_path: Path, said: Any) -> None:
    assert refused(tmp_path, write_published(tmp_path, said=said)).details["at"] == "vocabulary.json"


@pytest.mark.parametrize("key", ["lang_ids", "suppress_ids", "suppress_ids_begin"])
@pytest.mark.parametrize("value", [None, [], "en", [-1], [10_000], [1.5], [True]])
def test_a_config_with_wrong_lists_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    error = refused(tmp_path, write_published(tmp_path, listed=config() | {key: value}))
    assert key in error.details["at"]


def test_a_language_nobody_knows_is_refused(tmp_path: Path) -> None:
    assert "lang_ids" in refused(tmp_path, write_published(tmp_path, listed=config() | {"lang_ids": [2]})).details["at"]


def test_every_tensor_and_word_arrives(tmp_path: Path) -> None:
    out = convert(tmp_path, write_published(tmp_path))
    reader, shape, published = gguf.GGUFReader(out), small_shape(), published_tensors(small_shape())
    arrived = {tensor.name: np.array(tensor.data, np.float32) for tensor in reader.tensors}
    assert arrived.keys() == shape.tensors().keys()
    for name, ours in shape.tensors().items():
        wanted = published[published_name(name)].astype(np.float32)
        if wanted.ndim == 3:  # [out, channel, tap] becomes tap after tap
            wanted = np.concatenate([wanted[:, :, tap] for tap in range(3)], axis=1)
        assert np.array_equal(arrived[name].reshape(ours), wanted), name

    def told(key: str) -> Any:
        field = reader.get_field(key)
        assert field is not None, key
        return field.contents()

    assert told("general.architecture") == "whisper"
    assert told("tokenizer.ggml.tokens") == tokens()
    assert told("whisper.language.names") == ["english", "german"]
    assert [tokens()[place] for place in told("whisper.language.tokens")] == ["<|en|>", "<|de|>"]
    assert tokens()[told("whisper.token.no_speech")] == "<|nospeech|>"
    assert told("whisper.suppressed") == config()["suppress_ids"]
    assert (told("whisper.width"), told("whisper.heads"), told("whisper.mel.bands")) == (64, 2, 8)


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    parts = write_published(tmp_path)
    once = convert(tmp_path, parts, "q8_0").read_bytes()
    assert convert(tmp_path, parts, "q8_0").read_bytes() == once
    assert convert(tmp_path, parts, "f16").read_bytes() != once


def test_the_languages_are_each_named_once() -> None:
    assert len(LANGUAGES) == 100
    assert len(set(LANGUAGES.values())) == 100
    assert (LANGUAGES["en"], LANGUAGES["ht"], LANGUAGES["zh"]) == ("english", "haitian creole", "chinese")
