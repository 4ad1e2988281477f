"""The tiny voice: the speech model's real graph with few channels and seeded weights.

It hums: each phoneme lasts a few frames and has its own loudness, the sound is neither silent nor clipped, and no
word can be understood. A few weights are laid for that, so that who judges the sound need not be lenient with it;
all else is noise; converted by the same `convert` code as real weights.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from eliza_catalog.convert.kokoro import STYLE_ROWS, write_kokoro, write_voice
from eliza_catalog.convert.kokoro_layout import HARMONICS, KokoroShape, Tensors
from eliza_catalog.convert.kokoro_vocabulary import VOCABULARY

SHAPE = KokoroShape(
    hidden=64,
    layers=1,
    bert_embedding=32,
    bert_hidden=64,
    bert_heads=2,
    bert_ffn=64,
    bert_layers=2,
    decoder_hidden=64,
    decoder_residual=32,
    upsample_channels=64,
    resblock_kernels=(3,),
    vocabulary=VOCABULARY,
)
_NOISE_KERNELS = (7, 11)
_FRAMES_PER_PHONEME = 4.0
_LOG_LOUDNESS = 0.5
_LOG_SILENCE = -4.0
_CONSTANT_BINS = 2  # under the window, the two lowest bins of a still spectrum add up to a constant
_ALBERT = "bert.encoder.albert_layer_groups.0.albert_layers.0."


def write_tiny_voice_model(path: Path, seed: int) -> None:
    """Write the speech model's GGUF."""
    write_kokoro(SHAPE, _Weights(seed).all(), path, "f32")


def write_tiny_voice_table(path: Path, seed: int) -> None:
    """Write a voice: one style row per phrase length."""
    drawn = np.random.default_rng(seed).standard_normal((STYLE_ROWS, 2 * SHAPE.style)) * 0.1
    write_voice(np.asarray(drawn, dtype=np.float32), path)


class _Weights:
    """Draws every canonical tensor of `SHAPE` in a fixed order."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._out: Tensors = {}

    def all(self) -> Tensors:
        """Return the tensors by their canonical names."""
        self._bert()
        self._text_encoder()
        self._predictor()
        self._decoder()
        self._generator()
        return self._out

    def _put(self, name: str, *shape: int, gain: float = 1.0) -> None:
        inner = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        drawn = self._random.standard_normal(shape) * gain / np.sqrt(inner)
        self._out[name] = np.asarray(drawn, dtype=np.float32)

    def _held(self, name: str, inner: int, outer: int, taps: int) -> None:
        """An upsampling that holds each frame's level: the same weights at every tap, two of which overlap."""
        drawn = self._random.standard_normal((inner, outer, 1)) / np.sqrt(2 * inner)
        self._out[name] = np.repeat(drawn, taps, axis=2).astype(np.float32)

    def _flat(self, name: str, *shape: int, value: float = 0.0) -> None:
        self._out[name] = np.full(shape, value, np.float32)

    def _dense(self, name: str, out: int, *inner: int, gain: float = 1.0) -> None:
        self._put(f"{name}.weight", out, *inner, gain=gain)
        self._flat(f"{name}.bias", out)

    def _norm(self, name: str, size: int, words: tuple[str, str] = ("weight", "bias")) -> None:
        self._flat(f"{name}.{words[0]}", size, value=1.0)
        self._flat(f"{name}.{words[1]}", size)

    def _lstm(self, name: str, inner: int) -> None:
        half = SHAPE.hidden // 2
        for end in ("", "_reverse"):
            self._put(f"{name}.weight_ih_l0{end}", 4 * half, inner)
            self._put(f"{name}.weight_hh_l0{end}", 4 * half, half)
            self._flat(f"{name}.bias_ih_l0{end}", 4 * half)
            self._flat(f"{name}.bias_hh_l0{end}", 4 * half)

    def _block(self, name: str, inner: int, out: int, *, pooled: bool = False) -> None:
        for norm, size in (("norm1", inner), ("norm2", out)):
            self._dense(f"{name}.{norm}.fc", 2 * size, SHAPE.style, gain=0.1)
        self._dense(f"{name}.conv1", out, inner, 3)
        self._dense(f"{name}.conv2", out, out, 3)
        if inner != out:
            self._put(f"{name}.conv1x1.weight", out, inner, 1)
        if pooled:
            self._dense(f"{name}.pool", inner, 1, 3)

    def _snake(self, name: str, channels: int, taps: int) -> None:
        for layer in range(len(SHAPE.resblock_dilations)):
            for half in (1, 2):
                self._dense(f"{name}.adain{half}.{layer}.fc", 2 * channels, SHAPE.style, gain=0.1)
                gain = 0.3 if half == 1 else 0.03  # what is added to a phoneme's own level stays small
                self._dense(f"{name}.convs{half}.{layer}", channels, channels, taps, gain=gain)
                self._flat(f"{name}.alpha{half}.{layer}", 1, channels, 1, value=1.0)

    def _bert(self) -> None:
        narrow, wide = SHAPE.bert_embedding, SHAPE.bert_hidden
        for kind, rows in (("word", SHAPE.tokens), ("token_type", 2), ("position", SHAPE.bert_context)):
            self._put(f"bert.embeddings.{kind}_embeddings.weight", rows, narrow)
        self._norm("bert.embeddings.LayerNorm", narrow)
        self._dense("bert.encoder.embedding_hidden_mapping_in", wide, narrow)
        for part in ("query", "key", "value", "dense"):
            self._dense(f"{_ALBERT}attention.{part}", wide, wide)
        self._norm(f"{_ALBERT}attention.LayerNorm", wide)
        self._dense(f"{_ALBERT}ffn", SHAPE.bert_ffn, wide)
        self._dense(f"{_ALBERT}ffn_output", wide, SHAPE.bert_ffn)
        self._norm(f"{_ALBERT}full_layer_layer_norm", wide)
        self._dense("bert_encoder", SHAPE.hidden, wide)

    def _text_encoder(self) -> None:
        self._put("text_encoder.embedding.weight", SHAPE.tokens, SHAPE.hidden)
        for layer in range(SHAPE.layers):
            self._dense(f"text_encoder.cnn.{layer}.0", SHAPE.hidden, SHAPE.hidden, SHAPE.text_kernel)
            self._norm(f"text_encoder.cnn.{layer}.1", SHAPE.hidden, ("gamma", "beta"))
        self._lstm("text_encoder.lstm", SHAPE.hidden)

    def _predictor(self) -> None:
        styled, hidden = SHAPE.hidden + SHAPE.style, SHAPE.hidden
        for layer in range(SHAPE.layers):
            self._lstm(f"predictor.text_encoder.lstms.{2 * layer}", styled)
            self._dense(f"predictor.text_encoder.lstms.{2 * layer + 1}.fc", 2 * hidden, SHAPE.style, gain=0.1)
        self._lstm("predictor.lstm", styled)
        self._lstm("predictor.shared", styled)
        self._dense("predictor.duration_proj.linear_layer", SHAPE.max_duration, hidden, gain=0.1)
        share = _FRAMES_PER_PHONEME / SHAPE.max_duration  # a phoneme lasts the sum of these sigmoids, in frames
        bias = "predictor.duration_proj.linear_layer.bias"
        self._flat(bias, SHAPE.max_duration, value=float(np.log(share / (1.0 - share))))
        for curve in ("F0", "N"):
            self._block(f"predictor.{curve}.0", hidden, hidden)
            self._block(f"predictor.{curve}.1", hidden, hidden // 2, pooled=True)
            self._block(f"predictor.{curve}.2", hidden // 2, hidden // 2)
            self._dense(f"predictor.{curve}_proj", 1, hidden // 2, 1)
        self._flat("predictor.F0_proj.bias", 1, value=150.0)

    def _decoder(self) -> None:
        wide, joined = SHAPE.decoder_hidden, SHAPE.decoder_hidden + 2 + SHAPE.decoder_residual
        self._block("decoder.encode", SHAPE.hidden + 2, wide)
        for index in range(3):
            self._block(f"decoder.decode.{index}", joined, wide)
        self._block("decoder.decode.3", joined, SHAPE.upsample_channels, pooled=True)
        for curve in ("F0", "N"):
            self._dense(f"decoder.{curve}_conv", 1, 1, 3, gain=0.01)
        self._dense("decoder.asr_res.0", SHAPE.decoder_residual, SHAPE.hidden, 1)

    def _generator(self) -> None:
        room, spectrum = "decoder.generator.", SHAPE.fft + 2
        self._dense(f"{room}m_source.l_linear", 1, HARMONICS)
        for index, rate in enumerate(SHAPE.upsample_rates):
            inner = SHAPE.upsample_channels >> index
            self._held(f"{room}ups.{index}.weight", inner, inner // 2, 2 * rate)
            self._flat(f"{room}ups.{index}.bias", inner // 2)
            later = int(np.prod(SHAPE.upsample_rates[index + 1 :]))
            taps = 2 * later if later > 1 else 1
            self._dense(f"{room}noise_convs.{index}", inner // 2, spectrum, taps, gain=0.1)
            self._snake(f"{room}noise_res.{index}", inner // 2, _NOISE_KERNELS[index])
            for kernel_index, taps in enumerate(SHAPE.resblock_kernels):
                block = index * len(SHAPE.resblock_kernels) + kernel_index
                self._snake(f"{room}resblocks.{block}", inner // 2, taps)
        last = SHAPE.upsample_channels >> len(SHAPE.upsample_rates)
        self._dense(f"{room}conv_post", spectrum, last, 7, gain=0.5)
        bias = self._out[f"{room}conv_post.bias"]
        bias[: SHAPE.fft // 2 + 1] = _LOG_LOUDNESS
        bias[:_CONSTANT_BINS] = _LOG_SILENCE
