"""Runs the official Kokoro PyTorch code, stage by stage, with weights of any size.

The package's own `__init__` pulls a phonemiser with heavy dependencies, so only its model modules are loaded.
The decoder's widths are constants in the official class; `shrink_decoder` swaps its blocks for narrower ones
of the same official classes, the forward code stays untouched. The excitation's random draws become zeros.
"""

from __future__ import annotations

import importlib.util
import sys
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from eliza_catalog.convert.kokoro_layout import KokoroShape


def load_official() -> Any:
    """The modules `model`, `istftnet`, `modules` of the installed package, without its `__init__`."""
    if "kokoro" not in sys.modules:
        spec = importlib.util.find_spec("kokoro")
        assert spec is not None
        assert spec.origin is not None
        package = types.ModuleType("kokoro")
        package.__path__ = [str(Path(spec.origin).parent)]
        sys.modules["kokoro"] = package
    return importlib.import_module("kokoro.model")


def build_model(shape: KokoroShape) -> Any:
    """An official KModel of this shape with torch's own start weights, in evaluation mode."""
    with warnings.catch_warnings():
        # the official code uses torch's older weight norm, and dropout in one-layer LSTMs
        warnings.simplefilter("ignore")
        return _build(shape)


def _build(shape: KokoroShape) -> Any:
    import torch
    from transformers import AlbertConfig

    official = load_official()
    modules = importlib.import_module("kokoro.modules")
    istftnet = importlib.import_module("kokoro.istftnet")
    model = official.KModel.__new__(official.KModel)
    torch.nn.Module.__init__(model)
    model.vocab = dict(shape.vocabulary)
    model.bert = modules.CustomAlbert(
        AlbertConfig(
            vocab_size=shape.tokens, embedding_size=shape.bert_embedding, hidden_size=shape.bert_hidden,
            num_attention_heads=shape.bert_heads, intermediate_size=shape.bert_ffn,
            max_position_embeddings=shape.bert_context, num_hidden_layers=shape.bert_layers,
            attn_implementation="eager",
        )
    )  # fmt: skip
    model.bert_encoder = torch.nn.Linear(shape.bert_hidden, shape.hidden)
    model.context_length = shape.bert_context
    model.predictor = modules.ProsodyPredictor(
        style_dim=shape.style, d_hid=shape.hidden, nlayers=shape.layers, max_dur=shape.max_duration
    )
    model.text_encoder = modules.TextEncoder(
        channels=shape.hidden, kernel_size=shape.text_kernel, depth=shape.layers, n_symbols=shape.tokens
    )
    model.decoder = istftnet.Decoder(
        dim_in=shape.hidden, style_dim=shape.style, dim_out=80,
        resblock_kernel_sizes=list(shape.resblock_kernels), upsample_rates=list(shape.upsample_rates),
        upsample_initial_channel=shape.upsample_channels,
        resblock_dilation_sizes=[list(shape.resblock_dilations)] * len(shape.resblock_kernels),
        upsample_kernel_sizes=[2 * rate for rate in shape.upsample_rates],
        gen_istft_n_fft=shape.fft, gen_istft_hop_size=shape.hop,
    )  # fmt: skip
    _shrink_decoder(model.decoder, shape, istftnet)
    return model.eval()


def _shrink_decoder(decoder: Any, shape: KokoroShape, istftnet: Any) -> None:
    import torch
    from torch.nn.utils import weight_norm

    joined = shape.decoder_hidden + 2 + shape.decoder_residual
    block = istftnet.AdainResBlk1d
    decoder.encode = block(shape.hidden + 2, shape.decoder_hidden, shape.style)
    inner = [block(joined, shape.decoder_hidden, shape.style) for _ in range(3)]
    decoder.decode = torch.nn.ModuleList([*inner, block(joined, shape.upsample_channels, shape.style, upsample=True)])
    decoder.asr_res = torch.nn.Sequential(weight_norm(torch.nn.Conv1d(shape.hidden, shape.decoder_residual, 1)))


def seeded_model(shape: KokoroShape, seed: int, f0_hz: float = 140.0) -> Any:
    """An official KModel whose every weight is drawn from `seed`, loud enough that no stage is near zero.

    Norms, snake slopes and weight norm's gains are drawn too: a mistake in any of them must show.
    """
    import torch

    torch.manual_seed(seed)
    model = build_model(shape)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "alpha" in name:
                weight.uniform_(0.5, 2.0)
            elif name.endswith(("norm.weight", "gamma", "LayerNorm.weight", "layer_norm.weight")):
                weight.uniform_(0.7, 1.3)
            elif name.endswith(("bias", "beta")):
                weight.uniform_(-0.1, 0.1)
            elif name.endswith("weight_g"):
                weight.uniform_(0.6, 1.0)
            elif name.endswith("weight_v"):
                weight.normal_()
        model.predictor.F0_proj.bias.fill_(f0_hz)
        model.predictor.F0_proj.weight.mul_(40.0)
        # a phoneme lasts about four units, some more and some less
        model.predictor.duration_proj.linear_layer.weight.mul_(6.0)
        model.predictor.duration_proj.linear_layer.bias.fill_(float(np.log(4.0 / (shape.max_duration - 4.0))))
        model.decoder.F0_conv.weight_g.fill_(0.01)
        model.decoder.generator.conv_post.weight_g.mul_(0.5)
    return model


def load_canonical(model: Any, canonical: dict[str, Any]) -> None:
    """Put canonical (folded) weights into an official model: direction = weight, gain = its norm."""
    import torch

    state = model.state_dict()
    for name in list(state):
        stem, _, part = name.rpartition(".")
        if part in ("weight_v", "weight_g"):
            weight = canonical[f"{stem}.weight"]
            axes = tuple(range(1, weight.ndim))
            gain = np.sqrt(np.square(weight).sum(axis=axes, keepdims=True))
            # a row of zeros has no direction: any will do under a gain of zero
            direction = np.where(gain == 0, np.float32(1), weight)
            state[name] = torch.as_tensor(np.array(gain if part == "weight_g" else direction))
        elif name in canonical:
            state[name] = torch.as_tensor(np.array(canonical[name])).reshape(state[name].shape)
        elif "norm.weight" not in name and "norm.bias" not in name and "pooler" not in name:
            raise KeyError(name)
    model.load_state_dict(state)


def run_official(
    model: Any, ids: list[int], style_row: Any, speed: float = 1.0, excitation: Any = None
) -> dict[str, Any]:
    """Every stage of one synthesis as float32 arrays, time by channels as the engine writes them.

    With `excitation` the generator hears those samples instead of its own source, which is recorded all the
    same: without noise a source has still stretches, and the phase of nothing is rounding error on both sides.
    """
    import torch

    stages: dict[str, Any] = {}
    half = style_row.shape[0] // 2
    real = {name: getattr(torch, name) for name in ("rand", "randn_like")}
    sine_gen = sys.modules["kokoro.istftnet"].SineGen
    in_float = sine_gen._f02sine

    def keep(name: str) -> Any:
        return lambda _module, _inputs, out: stages.__setitem__(name, out)

    def hear(_module: Any, _inputs: Any, out: Any) -> Any:
        stages["source"] = out[0]
        return None if excitation is None else (torch.as_tensor(np.array(excitation)).reshape(1, -1, 1), *out[1:])

    hooks = [
        model.bert.register_forward_hook(keep("bert")),
        model.predictor.text_encoder.register_forward_hook(keep("encoded")),
        model.predictor.duration_proj.register_forward_hook(keep("durations")),
        model.predictor.F0_proj.register_forward_hook(keep("f0")),
        model.predictor.N_proj.register_forward_hook(keep("n")),
        model.text_encoder.register_forward_hook(keep("content")),
        model.decoder.decode[-1].register_forward_hook(keep("decoder")),
        model.decoder.generator.m_source.register_forward_hook(hear),
        model.decoder.generator.conv_post.register_forward_hook(keep("spectrum")),
    ]
    # the engine keeps the sines' phase in double; the official formula is run in double too
    stft = model.decoder.generator.stft
    stft.transform = lambda heard: _settled(type(stft).transform(stft, heard))
    sine_gen._f02sine = lambda self, f0: in_float(self, f0.double()).float()
    torch.rand = lambda *size, **_: torch.zeros(*size)
    torch.randn_like = lambda x: torch.zeros_like(x)
    try:
        style = torch.as_tensor(np.array(style_row))[None]
        # the official pipeline takes timbre from the first 128 numbers; here the halves are `style` wide
        padded = torch.cat([style[:, :half], torch.zeros(1, max(0, 128 - half)), style[:, half:]], dim=1)
        wave, pred = _forward(model, torch.tensor([[0, *ids, 0]]), style, padded, speed)
    finally:
        for name, function in real.items():
            setattr(torch, name, function)
        for hook in hooks:
            hook.remove()
        sine_gen._f02sine = in_float
        del stft.transform
    out = {name: _rows(name, value) for name, value in stages.items()}
    out["source"] = out["source"].reshape(-1)
    out["wave"] = np.atleast_1d(wave.numpy())
    out["units"] = np.atleast_1d(pred.numpy()).astype(np.int32)
    return out


def _settled(spectrum: Any) -> Any:
    """The first frame is mirrored around its middle and so real: whether its phase is pi or -pi is rounding error."""
    import torch

    magnitude, phase = spectrum
    phase[..., 0] = torch.where(phase[..., 0].abs() > torch.pi / 2, torch.pi, 0.0)
    return magnitude, phase


def _forward(model: Any, tokens: Any, style: Any, padded: Any, speed: float) -> Any:
    """The official forward; where the style is not 128 wide its slices are mended, nothing else."""
    half = style.shape[1] // 2
    if half == 128:
        return model.forward_with_tokens(tokens, style, speed)
    decoder = model.decoder.forward
    model.decoder.forward = lambda asr, f0, n, s: decoder(asr, f0, n, s[:, :half])
    try:
        return model.forward_with_tokens(tokens, padded, speed)
    finally:
        del model.decoder.forward


def _rows(name: str, value: Any) -> Any:
    """[1, channels, time] -> [time, channels]; what is already time first stays."""
    array = value.detach().numpy()[0]
    time_first = name in ("bert", "encoded", "durations", "source")
    return np.ascontiguousarray(array if time_first else array.T).astype(np.float32)
