"""Turns published Whisper weights (CTranslate2, float16 or float32) into the bundle's `asr/eliza-1-asr.gguf`.

Only renames and rounds: fused matrices stay fused, a convolution's taps move in front of its channels. Checks
every tensor's name, shape and type before anything is written, and never downloads. A bundle that may be a default
never carries such a file (contract section 1); it is for stand-ins.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np

from eliza_catalog.convert.ctranslate2_file import CTranslate2File, absence, read_ctranslate2, refusal
from eliza_catalog.convert.whisper_languages import LANGUAGES
from eliza_catalog.convert.whisper_layout import BLOCK, CONV_TAPS, F32, Dtype, WhisperShape, WhisperWords, write_whisper

_SPEC = "WhisperSpec"
_FLOATS = (np.dtype("<f2"), np.dtype("<f4"))
_MAX_JSON_BYTES = 16 << 20
_SPECIAL = {
    "end": "<|endoftext|>",
    "start": "<|startoftranscript|>",
    "transcribe": "<|transcribe|>",
    "no_timestamps": "<|notimestamps|>",
}
_NO_SPEECH = ("<|nospeech|>", "<|nocaptions|>")
_ROOMS = {
    "self_norm": "self_attention/layer_norm",
    "self_qkv": "self_attention/linear_0",
    "self_out": "self_attention/linear_1",
    "cross_norm": "attention/layer_norm",
    "cross_q": "attention/linear_0",
    "cross_kv": "attention/linear_1",
    "cross_out": "attention/linear_2",
    "feed_norm": "ffn/layer_norm",
    "up": "ffn/linear_0",
    "down": "ffn/linear_1",
}
_ALONE = {
    "encoder.position": "encoder/position_encodings/encodings",
    "decoder.position": "decoder/position_encodings/encodings",
    "decoder.token": "decoder/embeddings/weight",
}


def convert_whisper(parts: Sequence[Path], vocabulary: Path, config: Path, out: Path, dtype: Dtype = "q8_0") -> None:
    """Write the GGUF `out` from a CTranslate2 model; `out` appears whole or not at all.

    Args:
        parts: `model.bin`, whole or in parts, in order.
        vocabulary: its `vocabulary.json`, a list of tokens.
        config: its `config.json`, with `lang_ids`, `suppress_ids` and `suppress_ids_begin`.
        out: the file to write.
        dtype: type of the matrices; with q8_0, those of the encoder are f16.

    Raises:
        IntegrityError: `missing` when a source is not there, `wrong_architecture` when it holds something else.
    """
    model = read_ctranslate2(parts)
    words = read_words(vocabulary, config)
    shape = read_shape(model, len(words.tokens))
    tensors = {name: _tensor(model, name, wanted) for name, wanted in shape.tensors().items()}
    write_whisper(shape, words, tensors, out, dtype)


def read_shape(model: CTranslate2File, tokens: int) -> WhisperShape:
    """Return the sizes that the model's own tensors speak of.

    Raises:
        IntegrityError: `wrong_architecture`.
    """
    if model.spec != _SPEC:
        raise refusal("spec")
    if model.aliases.get("decoder/projection/weight") != _ALONE["decoder.token"]:
        raise refusal("decoder/projection/weight")
    conv = _held(model, "encoder/conv1/weight", 3)
    heads = _heads(model)
    feed_forward = _held(model, "encoder/layer_0/ffn/linear_0/weight", 2).shape[0]
    if conv.shape[0] % heads:
        raise refusal("encoder/num_heads")
    if conv.shape[0] % BLOCK or feed_forward % BLOCK:
        raise refusal("width")
    return WhisperShape(
        width=conv.shape[0],
        heads=heads,
        feed_forward=feed_forward,
        encoder_layers=_layers(model, "encoder"),
        decoder_layers=_layers(model, "decoder"),
        tokens=tokens,
        mel_bands=conv.shape[1],
        text_context=_held(model, _ALONE["decoder.position"], 2).shape[0],
    )


def read_words(vocabulary: Path, config: Path) -> WhisperWords:
    """Return the vocabulary and its special tokens.

    Raises:
        IntegrityError: `missing`, `wrong_architecture`.
    """
    tokens, facts = _json(vocabulary), _json(config)
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise refusal(vocabulary.name)
    ids = {token: place for place, token in enumerate(tokens)}
    no_speech = next((ids[token] for token in _NO_SPEECH if token in ids), None)
    if no_speech is None or not ids.keys() >= set(_SPECIAL.values()):
        raise refusal(vocabulary.name)
    return WhisperWords(
        tokens=tuple(tokens),
        no_speech=no_speech,
        **{key: ids[token] for key, token in _SPECIAL.items()},
        languages=_languages(tokens, _ids(facts, "lang_ids", len(tokens), config)),
        suppressed=_ids(facts, "suppress_ids", len(tokens), config),
        suppressed_first=_ids(facts, "suppress_ids_begin", len(tokens), config),
    )


def _json(path: Path) -> Any:
    if not path.is_file():
        raise absence(path)
    if path.stat().st_size > _MAX_JSON_BYTES:
        raise refusal(path.name)
    try:
        return json.loads(path.read_bytes())
    except ValueError as error:  # not JSON, or not UTF-8
        raise refusal(path.name) from error


def _ids(facts: Any, key: str, tokens: int, config: Path) -> tuple[int, ...]:
    listed = facts.get(key) if isinstance(facts, dict) else None
    if not isinstance(listed, list) or not listed or len(listed) > tokens:
        raise refusal(f"{config.name}: {key}")
    if not all(type(one) is int and 0 <= one < tokens for one in listed):
        raise refusal(f"{config.name}: {key}")
    return tuple(listed)


def _languages(tokens: list[str], ids: tuple[int, ...]) -> dict[str, int]:
    named = {tokens[place].removeprefix("<|").removesuffix("|>"): place for place in ids}
    unknown = sorted(named.keys() - LANGUAGES.keys())
    if unknown:
        raise refusal(f"lang_ids: {unknown[0]}")
    return named


def _layers(model: CTranslate2File, side: str) -> int:
    places = {name.split("/")[1] for name in model.tensors if name.startswith(f"{side}/layer_")} - {"layer_norm"}
    if places != {f"layer_{layer}" for layer in range(len(places))} or not places:
        raise refusal(f"{side}/layer_0")
    return len(places)


def _heads(model: CTranslate2File) -> int:
    counts = {int(_held(model, f"{side}/num_heads", 0)) for side in ("encoder", "decoder")}
    if len(counts) != 1 or min(counts) < 1:
        raise refusal("decoder/num_heads")
    return counts.pop()


def _held(model: CTranslate2File, name: str, rank: int) -> Any:
    tensor = model.tensors.get(name)
    if tensor is None or tensor.ndim != rank or (rank > 0 and 0 in tensor.shape):
        raise refusal(name)
    return tensor


def published_name(name: str) -> str:
    """Return what CTranslate2 calls our tensor `name`."""
    if name in _ALONE:
        return _ALONE[name]
    place, _, kind = name.rpartition(".")
    side, *inner = place.split(".")
    if inner[-1].endswith("norm"):
        kind = {"weight": "gamma", "bias": "beta"}[kind]
    if len(inner) == 1:
        room = "layer_norm" if inner[0] == "norm" else inner[0]
        return f"{side}/{room}/{kind}"
    return f"{side}/layer_{inner[0]}/{_ROOMS[inner[1]]}/{kind}"


def _tensor(model: CTranslate2File, name: str, wanted: tuple[int, ...]) -> F32:
    published = published_name(name)
    is_convolution = ".conv" in name and len(wanted) == 2
    tensor = _held(model, published, 3 if is_convolution else len(wanted))
    if tensor.dtype not in _FLOATS:
        raise refusal(published)
    if is_convolution and tensor.shape[2] == CONV_TAPS:
        tensor = tensor.transpose(0, 2, 1).reshape(tensor.shape[0], -1)
    if tensor.shape != wanted or not np.isfinite(tensor).all():
        raise refusal(published)
    return np.asarray(tensor, np.float32)


def main() -> None:
    """Convert from the command line: `python -m eliza_catalog.convert.whisper FOLDER OUT`."""
    parser = argparse.ArgumentParser(description="Make the speech recognition GGUF out of published weights.")
    parser.add_argument("folder", type=Path, help="holds model.bin (or its parts), vocabulary.json and config.json")
    parser.add_argument("out", type=Path, help="the GGUF file to write")
    parser.add_argument("--dtype", choices=get_args(Dtype), default="q8_0", help="type of the matrices")
    asked = parser.parse_args()
    parts = sorted(asked.folder.glob("model.bin*"))
    convert_whisper(parts, asked.folder / "vocabulary.json", asked.folder / "config.json", asked.out, asked.dtype)


if __name__ == "__main__":
    main()
