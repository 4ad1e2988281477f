"""The shape of a Kokoro voice model, and how its weights lie in the bundle's GGUF.

Takes "canonical" weights: float32 arrays under their PyTorch names with weight norm already folded, and
arranges them for the engine (convolutions as matrices over [tap, channel], channels padded to 32).
Reads and writes no file; keeps what `native/src/kokoro/model.cpp` expects.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
Tensors = dict[str, F32]

CHANNEL_ALIGN = 32
HARMONICS = 9
_ALBERT_LAYER = "bert.encoder.albert_layer_groups.0.albert_layers.0."


@dataclass(frozen=True, slots=True, kw_only=True)
class KokoroShape:
    """Hyper-parameters; the defaults are those of Kokoro-82M v1.0."""

    hidden: int = 512
    style: int = 128
    layers: int = 3
    tokens: int = 178
    max_duration: int = 50
    text_kernel: int = 5
    bert_embedding: int = 128
    bert_hidden: int = 768
    bert_heads: int = 12
    bert_ffn: int = 2048
    bert_layers: int = 12
    bert_context: int = 512
    decoder_hidden: int = 1024
    decoder_residual: int = 64
    upsample_channels: int = 512
    upsample_rates: tuple[int, ...] = (10, 6)
    resblock_kernels: tuple[int, ...] = (3, 7, 11)
    resblock_dilations: tuple[int, ...] = (1, 3, 5)
    fft: int = 20
    hop: int = 5
    vocabulary: dict[str, int] = field(default_factory=dict)

    @property
    def samples_per_frame(self) -> int:
        """Samples of one F0 frame; a duration unit is two of them."""
        return math.prod(self.upsample_rates) * self.hop

    def metadata(self) -> dict[str, int | list[int]]:
        """The numbers of the GGUF header, without the `kokoro.` prefix."""
        return {
            "hidden": self.hidden,
            "style": self.style,
            "layers": self.layers,
            "tokens": self.tokens,
            "max_duration": self.max_duration,
            "text_kernel": self.text_kernel,
            "bert.embedding": self.bert_embedding,
            "bert.hidden": self.bert_hidden,
            "bert.heads": self.bert_heads,
            "bert.ffn": self.bert_ffn,
            "bert.layers": self.bert_layers,
            "bert.context": self.bert_context,
            "decoder.hidden": self.decoder_hidden,
            "decoder.residual": self.decoder_residual,
            "generator.channels": self.upsample_channels,
            "generator.fft": self.fft,
            "generator.hop": self.hop,
            "generator.rates": list(self.upsample_rates),
            "generator.kernels": list(self.resblock_kernels),
            "generator.dilations": list(self.resblock_dilations),
        }

    def phonemes(self) -> list[str]:
        """The alphabet by token id; an id without a phoneme is an empty string."""
        by_id = {token: phoneme for phoneme, token in self.vocabulary.items()}
        return [by_id.get(token, "") for token in range(self.tokens)]


def fold_weight_norm(gain: F32, direction: F32) -> F32:
    """W = g * v / |v|, the norm over everything but the first axis (as torch's weight_norm, dim 0)."""
    axes = tuple(range(1, direction.ndim))
    norm = np.sqrt(np.sum(np.square(direction.astype(np.float64)), axis=axes, keepdims=True))
    folded: F32 = (direction * (gain.astype(np.float64) / norm)).astype(np.float32)
    return folded


def _padded(channels: int) -> int:
    return -(-channels // CHANNEL_ALIGN) * CHANNEL_ALIGN


def conv_matrix(weight: F32) -> F32:
    """[out, in, tap] -> [out, tap * padded in]."""
    out, inner, taps = weight.shape
    laid = np.zeros((out, taps, _padded(inner)), dtype=np.float32)
    laid[:, :, :inner] = weight.transpose(0, 2, 1)
    return laid.reshape(out, -1)


def upsample_matrix(weight: F32, rate: int) -> F32:
    """A transposed convolution with kernel 2 * rate, as a matrix from (x[n-1], x[n]) to `rate` outputs."""
    inner, out, taps = weight.shape
    if taps != 2 * rate:
        raise ValueError(f"kernel {taps} is not twice the rate {rate}")
    laid = np.zeros((rate, out, 2, _padded(inner)), dtype=np.float32)
    laid[:, :, 0, :inner] = weight[:, :, rate:].transpose(2, 1, 0)
    laid[:, :, 1, :inner] = weight[:, :, :rate].transpose(2, 1, 0)
    return laid.reshape(rate * out, -1)


class Arranger:
    """Moves canonical weights into the GGUF's names and layouts, and knows what was left over."""

    def __init__(self, source: Tensors) -> None:
        self._source = dict(source)
        self.out: Tensors = {}

    def take(self, name: str) -> F32:
        """Remove and return one canonical tensor.

        Raises:
            KeyError: the weights lack it.
        """
        return np.ascontiguousarray(self._source.pop(name), dtype=np.float32)

    def left_over(self) -> list[str]:
        """Canonical tensors that nothing asked for."""
        return sorted(self._source)

    def plain(self, to: str, name: str, parts: tuple[str, ...] = ("weight", "bias")) -> None:
        """Copy as is; size-1 axes go."""
        for part in parts:
            self.out[f"{to}.{part}"] = np.atleast_1d(self.take(f"{name}.{part}").squeeze())

    def linear(self, to: str, name: str) -> None:
        """A fully connected layer; its matrix keeps two axes."""
        self.out[f"{to}.weight"] = self.take(f"{name}.weight")
        self.out[f"{to}.bias"] = self.take(f"{name}.bias")

    def conv(self, to: str, name: str, *, bias: bool = True) -> None:
        """A convolution as a matrix."""
        self.out[f"{to}.weight"] = conv_matrix(self.take(f"{name}.weight"))
        if bias:
            self.out[f"{to}.bias"] = self.take(f"{name}.bias")

    def lstm(self, to: str, name: str) -> None:
        """A bidirectional LSTM: both directions' rows one after the other, the two biases added."""
        ends = ("", "_reverse")
        for part in ("ih", "hh"):
            rows = [self.take(f"{name}.weight_{part}_l0{end}") for end in ends]
            self.out[f"{to}.{part}"] = np.concatenate(rows)
        biases = [self.take(f"{name}.bias_ih_l0{end}") + self.take(f"{name}.bias_hh_l0{end}") for end in ends]
        self.out[f"{to}.bias"] = np.concatenate(biases)

    def adain(self, to: str, name: str) -> None:
        """Style to (gamma, beta); an affine instance norm, where the source has one, is folded in."""
        weight, bias = self.take(f"{name}.fc.weight"), self.take(f"{name}.fc.bias")
        half = len(bias) // 2
        scale = self._source.pop(f"{name}.norm.weight", np.ones(half, np.float32))
        shift = self._source.pop(f"{name}.norm.bias", np.zeros(half, np.float32))
        gamma_w, gamma_b, beta_w, beta_b = weight[:half], bias[:half], weight[half:], bias[half:]
        rows = [gamma_w * scale[:, None], beta_w + gamma_w * shift[:, None]]
        offsets = [scale * (1 + gamma_b) - 1, beta_b + shift * (1 + gamma_b)]
        self.out[f"{to}.weight"] = np.concatenate(rows).astype(np.float32)
        self.out[f"{to}.bias"] = np.concatenate(offsets).astype(np.float32)

    def res_block(self, to: str, name: str) -> None:
        """AdainResBlk1d."""
        for norm in ("norm1", "norm2"):
            self.adain(f"{to}.{norm}", f"{name}.{norm}")
        for conv in ("conv1", "conv2"):
            self.conv(f"{to}.{conv}", f"{name}.{conv}")
        if f"{name}.conv1x1.weight" in self._source:
            self.conv(f"{to}.conv1x1", f"{name}.conv1x1", bias=False)
        if f"{name}.pool.weight" in self._source:
            self.out[f"{to}.pool.weight"] = np.ascontiguousarray(self.take(f"{name}.pool.weight")[:, 0, :].T)
            self.out[f"{to}.pool.bias"] = self.take(f"{name}.pool.bias")

    def snake_block(self, to: str, name: str, layers: int) -> None:
        """AdaINResBlock1 of the generator."""
        for i in range(layers):
            for n in (1, 2):
                self.adain(f"{to}.adain{n}.{i}", f"{name}.adain{n}.{i}")
                self.conv(f"{to}.convs{n}.{i}", f"{name}.convs{n}.{i}")
                self.out[f"{to}.alpha{n}.{i}"] = self.take(f"{name}.alpha{n}.{i}").reshape(-1)


def arrange(shape: KokoroShape, canonical: Tensors) -> Tensors:
    """All tensors of the GGUF, in a fixed order.

    Raises:
        KeyError: a weight is missing.
        ValueError: a weight is left over or has an impossible shape.
    """
    mover = Arranger({k: v for k, v in canonical.items() if not k.startswith("bert.pooler.")})
    _arrange_text(mover, shape)
    _arrange_predictor(mover, shape)
    _arrange_decoder(mover, shape)
    _arrange_generator(mover, shape)
    if mover.left_over():
        raise ValueError(f"weights that no layer takes: {', '.join(mover.left_over()[:5])}")
    return mover.out


def _arrange_text(mover: Arranger, shape: KokoroShape) -> None:
    embeddings = "bert.embeddings."
    mover.out["bert.tokens"] = mover.take(embeddings + "word_embeddings.weight")
    segment = mover.take(embeddings + "token_type_embeddings.weight")[0]
    mover.out["bert.positions"] = mover.take(embeddings + "position_embeddings.weight") + segment
    mover.plain("bert.embedding_norm", embeddings + "LayerNorm")
    mover.linear("bert.map", "bert.encoder.embedding_hidden_mapping_in")
    for ours, theirs in (("q", "query"), ("k", "key"), ("v", "value"), ("out", "dense")):
        mover.linear(f"bert.attention.{ours}", f"{_ALBERT_LAYER}attention.{theirs}")
    mover.plain("bert.attention_norm", _ALBERT_LAYER + "attention.LayerNorm")
    mover.linear("bert.ffn_up", _ALBERT_LAYER + "ffn")
    mover.linear("bert.ffn_down", _ALBERT_LAYER + "ffn_output")
    mover.plain("bert.ffn_norm", _ALBERT_LAYER + "full_layer_layer_norm")
    mover.linear("bert.project", "bert_encoder")
    mover.out["text.tokens"] = mover.take("text_encoder.embedding.weight")
    for i in range(shape.layers):
        mover.conv(f"text.cnn.{i}", f"text_encoder.cnn.{i}.0")
        mover.out[f"text.norm.{i}.weight"] = mover.take(f"text_encoder.cnn.{i}.1.gamma")
        mover.out[f"text.norm.{i}.bias"] = mover.take(f"text_encoder.cnn.{i}.1.beta")
    mover.lstm("text.lstm", "text_encoder.lstm")


def _arrange_predictor(mover: Arranger, shape: KokoroShape) -> None:
    for i in range(shape.layers):
        mover.lstm(f"predictor.lstm.{i}", f"predictor.text_encoder.lstms.{2 * i}")
        mover.linear(f"predictor.norm.{i}", f"predictor.text_encoder.lstms.{2 * i + 1}.fc")
    mover.lstm("predictor.duration", "predictor.lstm")
    mover.linear("predictor.duration_out", "predictor.duration_proj.linear_layer")
    mover.lstm("predictor.shared", "predictor.shared")
    for curve in ("F0", "N"):
        for i in range(3):
            mover.res_block(f"predictor.{curve}.{i}", f"predictor.{curve}.{i}")
        mover.conv(f"predictor.{curve}_out", f"predictor.{curve}_proj")


def _arrange_decoder(mover: Arranger, shape: KokoroShape) -> None:
    mover.res_block("decoder.encode", "decoder.encode")
    for i in range(4):
        mover.res_block(f"decoder.decode.{i}", f"decoder.decode.{i}")
    mover.plain("decoder.F0", "decoder.F0_conv")
    mover.plain("decoder.N", "decoder.N_conv")
    mover.conv("decoder.residual", "decoder.asr_res.0")


def _arrange_generator(mover: Arranger, shape: KokoroShape) -> None:
    theirs = "decoder.generator."
    mover.plain("generator.source", theirs + "m_source.l_linear")
    depth = len(shape.resblock_dilations)
    for i, rate in enumerate(shape.upsample_rates):
        mover.out[f"generator.up.{i}.weight"] = upsample_matrix(mover.take(f"{theirs}ups.{i}.weight"), rate)
        mover.out[f"generator.up.{i}.bias"] = mover.take(f"{theirs}ups.{i}.bias")
        mover.conv(f"generator.noise.{i}", f"{theirs}noise_convs.{i}")
        mover.snake_block(f"generator.noise_block.{i}", f"{theirs}noise_res.{i}", depth)
        for j in range(len(shape.resblock_kernels)):
            n = i * len(shape.resblock_kernels) + j
            mover.snake_block(f"generator.block.{n}", f"{theirs}resblocks.{n}", depth)
    mover.conv("generator.out", theirs + "conv_post")
