"""The tiny ears: a recognition model's real graph with few channels, for tests.

What it says is laid into its weights: embeddings do not overlap and each place's position names the next token, so it
says one sentence whatever it hears. `muddled` weights are noise instead: their text depends on every sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from eliza_catalog.convert.whisper_layout import F32, Dtype, WhisperShape, WhisperWords, write_whisper

TINY_SENTENCE = ("Ġeliza", "Ġhears", "Ġthe", "Ġcaf", "Ã", "©", ".")
"""Token by token; `é` has its two bytes in two of them."""
TINY_HEARD = "eliza hears the café."
_SPELLED = ("Ġ", "Ġnothing", *TINY_SENTENCE)
_SPECIAL = ("end", "start", "en", "de", "transcribe", "no_speech", "no_timestamps")
_TOKENS = (*_SPELLED, *(f"<|{name}|>" for name in _SPECIAL))
_PROMPT = 4
_SURE = 6.0
_DAMP = 0.01

SHAPE = WhisperShape(
    width=32, heads=2, feed_forward=64, encoder_layers=1, decoder_layers=2, tokens=len(_TOKENS), text_context=128
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TinyHearing:
    """What sets one tiny recogniser apart from another.

    Attributes:
        said: its tokens; those after the last are the end.
        is_unsure: it believes that nobody spoke, and likes every word as much as any other.
        muddled: noise in every layer and place, so that what it hears decides.
        dtype: of the matrices.
    """

    said: Sequence[str] = TINY_SENTENCE
    is_unsure: bool = False
    muddled: bool = False
    dtype: Dtype = "f32"


def write_tiny_hearing(path: Path, wanted: TinyHearing = TinyHearing(), seed: int = 1) -> None:
    """Write one tiny recogniser; the same bytes every time."""
    random = np.random.default_rng(seed)
    damp = 1.0 if wanted.muddled else _DAMP
    tensors = {name: _weight(random, name, shape, damp) for name, shape in SHAPE.tensors().items()}
    if not wanted.muddled:
        tensors["decoder.token"] = np.eye(SHAPE.tokens, SHAPE.width, dtype=np.float32)
        tensors["decoder.position"] = _places(wanted, tensors["decoder.token"])
    write_whisper(SHAPE, _words(), tensors, path, wanted.dtype)


def _words() -> WhisperWords:
    ids = {name: len(_SPELLED) + place for place, name in enumerate(_SPECIAL)}
    return WhisperWords(
        tokens=_TOKENS,
        end=ids["end"],
        start=ids["start"],
        transcribe=ids["transcribe"],
        no_speech=ids["no_speech"],
        no_timestamps=ids["no_timestamps"],
        languages={"en": ids["en"], "de": ids["de"]},
        suppressed=(_TOKENS.index("Ġnothing"), *(ids[name] for name in _SPECIAL if name != "end")),
        suppressed_first=(_TOKENS.index("Ġ"), ids["end"]),
    )


def _places(wanted: TinyHearing, embeddings: F32) -> F32:
    first = "<|no_speech|>" if wanted.is_unsure else "<|en|>"
    names = [first, *["Ġ"] * (_PROMPT - 2), *wanted.said]
    names += ["<|end|>"] * (SHAPE.text_context - len(names))
    rows = embeddings[[_TOKENS.index(name) for name in names[: SHAPE.text_context]]]
    if wanted.is_unsure:
        rows[1:] = embeddings[: len(_SPELLED)].sum(axis=0)
    return np.asarray(rows * _SURE, np.float32)


def _weight(random: np.random.Generator, name: str, shape: tuple[int, ...], damp: float) -> npt.NDArray[np.float32]:
    if "norm." in name:
        return np.full(shape, 1.0 if name.endswith("weight") else 0.0, np.float32)
    drawn = random.standard_normal(shape) / np.sqrt(shape[-1])
    is_decided = name.startswith("decoder.") and name.split(".")[1].isdigit()
    return np.asarray(drawn * (damp if is_decided else 1.0), np.float32)
