"""The GGUF that `native/src/whisper` reads: what it is told, its tensors' names and shapes, and how it is written.

Matrices are f16; q8_0 packs those of the decoder only. What hears a whole window stays f16, for its rounding moves
every word (packed, two of nine English clips changed their spelling); the decoder spends its time reading matrices.
All else is f32. A convolution's weight lies as a matrix whose row holds tap after tap, each with all channels, so that
it is a plain product there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gguf
import numpy as np
import numpy.typing as npt

ARCHITECTURE = "whisper"
SAMPLE_RATE_HZ = 16_000
FFT_SAMPLES = 400
HOP_SAMPLES = 160
BLOCK = 32
"""Widths are multiples of this: the block of q8_0."""
AUDIO_CONTEXT = 1500
CONV_TAPS = 3

Dtype = Literal["q8_0", "f16", "f32"]
F32 = npt.NDArray[np.float32]
_TYPES = {"q8_0": gguf.GGMLQuantizationType.Q8_0, "f16": gguf.GGMLQuantizationType.F16}


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperShape:
    """The sizes of one network."""

    width: int
    heads: int
    feed_forward: int
    encoder_layers: int
    decoder_layers: int
    tokens: int
    mel_bands: int = 80
    text_context: int = 448

    def metadata(self) -> dict[str, int]:
        """Return what the file says about itself, without the architecture's name."""
        return {
            "sample_rate": SAMPLE_RATE_HZ,
            "mel.fft": FFT_SAMPLES,
            "mel.hop": HOP_SAMPLES,
            "mel.bands": self.mel_bands,
            "width": self.width,
            "heads": self.heads,
            "feed_forward": self.feed_forward,
            "encoder.context": AUDIO_CONTEXT,
            "encoder.layers": self.encoder_layers,
            "decoder.context": self.text_context,
            "decoder.layers": self.decoder_layers,
        }

    def tensors(self) -> dict[str, tuple[int, ...]]:
        """Return every tensor's name and shape, rows first."""
        wide = self.width
        named: dict[str, tuple[int, ...]] = {
            **_linear("encoder.conv1", wide, CONV_TAPS * self.mel_bands),
            **_linear("encoder.conv2", wide, CONV_TAPS * wide),
            "encoder.position": (AUDIO_CONTEXT, wide),
            "decoder.token": (self.tokens, wide),
            "decoder.position": (self.text_context, wide),
        }
        for layer in range(self.encoder_layers):
            named |= self._block(f"encoder.{layer}", ("self",))
        for layer in range(self.decoder_layers):
            named |= self._block(f"decoder.{layer}", ("self", "cross"))
        return named | _norm("encoder.norm", wide) | _norm("decoder.norm", wide)

    def _block(self, name: str, attentions: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
        wide = self.width
        named: dict[str, tuple[int, ...]] = {}
        for kind in attentions:
            named |= _norm(f"{name}.{kind}_norm", wide) | _linear(f"{name}.{kind}_out", wide, wide)
            if kind == "self":
                named |= _linear(f"{name}.self_qkv", 3 * wide, wide)
            else:
                named |= _linear(f"{name}.cross_q", wide, wide) | _linear(f"{name}.cross_kv", 2 * wide, wide)
        named |= _norm(f"{name}.feed_norm", wide)
        return named | _linear(f"{name}.up", self.feed_forward, wide) | _linear(f"{name}.down", wide, self.feed_forward)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhisperWords:
    """The vocabulary and what its special tokens mean.

    Attributes:
        tokens: by id, bytes spelled as GPT-2 spells them; everything from `end` on is special.
        end, start, transcribe, no_speech, no_timestamps: ids.
        languages: code to id.
        suppressed: ids that are never said.
        suppressed_first: ids that are not said first.
    """

    tokens: tuple[str, ...]
    end: int
    start: int
    transcribe: int
    no_speech: int
    no_timestamps: int
    languages: Mapping[str, int]
    suppressed: tuple[int, ...]
    suppressed_first: tuple[int, ...]


def write_whisper(
    shape: WhisperShape, words: WhisperWords, tensors: Mapping[str, npt.NDArray[Any]], out: Path, dtype: Dtype
) -> None:
    """Write the file; `out` appears whole or not at all. The same values give the same bytes."""
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.part")
    try:
        writer = gguf.GGUFWriter(partial, ARCHITECTURE)
        writer.add_name("Eliza-1 hearing")
        writer.add_license("MIT")
        for key, value in shape.metadata().items():
            writer.add_uint32(f"{ARCHITECTURE}.{key}", value)
        _add_words(writer, words)
        for name in shape.tensors():
            _add_tensor(writer, name, np.asarray(tensors[name], np.float32), dtype)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)


def _add_words(writer: gguf.GGUFWriter, words: WhisperWords) -> None:
    from eliza_catalog.convert.whisper_languages import LANGUAGES

    writer.add_array("tokenizer.ggml.tokens", list(words.tokens))
    for key in ("end", "start", "transcribe", "no_speech", "no_timestamps"):
        writer.add_uint32(f"{ARCHITECTURE}.token.{key}", getattr(words, key))
    writer.add_array(f"{ARCHITECTURE}.language.codes", list(words.languages))
    writer.add_array(f"{ARCHITECTURE}.language.names", [LANGUAGES[code] for code in words.languages])
    writer.add_array(f"{ARCHITECTURE}.language.tokens", list(words.languages.values()))
    writer.add_array(f"{ARCHITECTURE}.suppressed", list(words.suppressed))
    writer.add_array(f"{ARCHITECTURE}.suppressed_first", list(words.suppressed_first))


def _add_tensor(writer: gguf.GGUFWriter, name: str, values: F32, dtype: Dtype) -> None:
    if dtype == "f32" or values.ndim == 1 or name.endswith("position"):
        writer.add_tensor(name, np.ascontiguousarray(values))
        return
    hears = name.startswith("encoder.") or ".cross_kv." in name
    kind = _TYPES["f16" if hears else dtype]
    writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)


def _linear(name: str, out: int, inner: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (out, inner), f"{name}.bias": (out,)}


def _norm(name: str, size: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (size,), f"{name}.bias": (size,)}
