"""Writes small CTranslate2 files in the published form, so that what reads them can be lied to."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from eliza_catalog.convert.whisper import published_name
from eliza_catalog.convert.whisper_layout import WhisperShape

_KINDS = {"<f4": 0, "|i1": 1, "<i2": 2, "<i4": 3, "<f2": 4}
_SPECIAL = ("endoftext", "startoftranscript", "en", "de", "translate", "transcribe", "nospeech", "notimestamps", "0.00")

Array = npt.NDArray[Any]


def small_shape(width: int = 64) -> WhisperShape:
    """Return sizes small enough to write in no time."""
    return WhisperShape(
        width=width,
        heads=2,
        feed_forward=96,
        encoder_layers=2,
        decoder_layers=1,
        tokens=len(tokens()),
        mel_bands=8,
        text_context=16,
    )


def tokens() -> list[str]:
    """Return the vocabulary, special tokens last."""
    return ["!", "Ġ", "Ġword", "Ã", "©", *(f"<|{name}|>" for name in _SPECIAL)]


def config() -> dict[str, Any]:
    """Return what `config.json` says beside it."""
    ids = {token: place for place, token in enumerate(tokens())}
    return {
        "alignment_heads": [[0, 1]],
        "lang_ids": [ids["<|en|>"], ids["<|de|>"]],
        "suppress_ids": [0, ids["<|nospeech|>"]],
        "suppress_ids_begin": [1, ids["<|endoftext|>"]],
    }


def published_tensors(shape: WhisperShape) -> dict[str, Array]:
    """Return seeded float16 tensors under their published names, in their published shapes."""
    random = np.random.default_rng(5)
    made: dict[str, Array] = {}
    for name, ours in shape.tensors().items():
        published = (ours[0], ours[1] // 3, 3) if ".conv" in name and len(ours) == 2 else ours
        made[published_name(name)] = random.standard_normal(published).astype("<f2")
    made["encoder/num_heads"] = np.array(shape.heads, "<i2")
    made["decoder/num_heads"] = np.array(shape.heads, "<i2")
    made["decoder/activation"] = np.array(3, "|i1")
    return made


def ctranslate2_bytes(tensors: dict[str, Array], spec: str = "WhisperSpec", version: int = 6) -> bytes:
    """Return a whole `model.bin`."""
    out = struct.pack("<I", version) + _name(spec) + struct.pack("<II", 3, len(tensors))
    for name, values in tensors.items():
        raw = values.tobytes()
        out += _name(name) + struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape)
        out += struct.pack("<BI", _KINDS[values.dtype.str], len(raw)) + raw
    return out + struct.pack("<I", 1) + _name("decoder/projection/weight") + _name("decoder/embeddings/weight")


def write_published(folder: Path, model: bytes | None = None, said: Any = None, listed: Any = None) -> list[Path]:
    """Write model (in two parts), vocabulary and config; return the parts."""
    whole = ctranslate2_bytes(published_tensors(small_shape())) if model is None else model
    parts = [folder / "model.bin.part1", folder / "model.bin.part2"]
    half = len(whole) // 2
    parts[0].write_bytes(whole[:half])
    parts[1].write_bytes(whole[half:])
    (folder / "vocabulary.json").write_text(json.dumps(tokens() if said is None else said))
    (folder / "config.json").write_text(json.dumps(config() if listed is None else listed))
    return parts


def _name(name: str) -> bytes:
    raw = name.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw
