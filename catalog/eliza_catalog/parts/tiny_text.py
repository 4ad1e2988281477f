"""The tiny text model and its drafter: real graphs of the shipped architectures, with laid-out weights.

Row `following(t)` of the head points along the embedding of `t`, and layers are damped, so greedy output is
`TINY_TEXT` and the drafter agrees with it. The drafter shares its target's attention state, so their head sizes match
and their widths differ (contract section 3, point 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eliza_catalog.parts.tiny_file import DAMP, F32, TinyFile
from eliza_catalog.parts.tiny_vocabulary import tiny_vocabulary

CONTEXT_TOKENS = 4096
TEXT_WIDTH = 64
_PER_LAYER = 8
_OUTSIDER_MARK = 1.5
_HEAD_GAIN = 4.0
_FIRST_WORD_GAIN = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Sizes of a stack of layers; `sliding[i]` tells a windowed layer from a full one."""

    sliding: tuple[bool, ...]
    width: int
    feed_forward: int
    heads: int = 4
    state_heads: int = 2
    full_head: int = 32
    sliding_head: int = 16

    def head_size(self, index: int) -> int:
        """Return the head size of one layer."""
        return self.sliding_head if self.sliding[index] else self.full_head


# The target's last layer must be full and the one before it sliding: those two the drafter attends to.
TARGET = Layers(sliding=(True, False, True, False), width=TEXT_WIDTH, feed_forward=128)
DRAFTER = Layers(sliding=(True, False), width=32, feed_forward=64)


def write_tiny_text(path: Path, *, damp: float = DAMP, layers: Layers = TARGET) -> None:
    """Write the target model (architecture gemma4)."""
    vocabulary, embeddings = tiny_vocabulary(), _embeddings()
    with TinyFile(path, "gemma4", seed=1, damp=damp) as file:
        _put_sizes(file, layers)
        file.put_vocabulary()
        file.header.add_shared_kv_layers(0)
        file.header.add_embedding_length_per_layer_input(_PER_LAYER)
        file.header.add_final_logit_softcapping(30.0)
        file.put("token_embd.weight", embeddings)
        file.put("output.weight", _head(embeddings, np.eye(TEXT_WIDTH, dtype=np.float32)))
        file.put_flat("output_norm.weight", TEXT_WIDTH)
        file.put_noise("per_layer_token_embd.weight", len(vocabulary.tokens), _PER_LAYER * len(layers.sliding))
        file.put_noise("per_layer_model_proj.weight", _PER_LAYER * len(layers.sliding), TEXT_WIDTH)
        file.put_flat("per_layer_proj_norm.weight", _PER_LAYER)
        file.put_flat("rope_freqs.weight", layers.full_head // 2)
        for index in range(len(layers.sliding)):
            _put_layer(file, layers, index)
            _put_own_state(file, layers, index)


def write_tiny_drafter(path: Path, *, damp: float = DAMP) -> None:
    """Write the drafter (architecture gemma4-assistant)."""
    with TinyFile(path, "gemma4-assistant", seed=2, damp=damp) as file:
        _put_sizes(file, DRAFTER)
        file.put_vocabulary()
        file.header.add_shared_kv_layers(len(DRAFTER.sliding))
        file.header.add_embedding_length_out(TEXT_WIDTH)
        file.header.add_nextn_predict_layers(len(DRAFTER.sliding))
        down = file.noise(DRAFTER.width, TEXT_WIDTH)
        of_state = file.noise(DRAFTER.width, TEXT_WIDTH) * damp * 0.1
        file.put("token_embd.weight", _head(_embeddings(), down))
        file.put_flat("output_norm.weight", DRAFTER.width)
        file.put_flat("rope_freqs.weight", DRAFTER.full_head // 2)
        # input: the target's token embedding, then its hidden state
        file.put("nextn.pre_projection.weight", np.concatenate([down, of_state], axis=1))
        file.put_noise("nextn.post_projection.weight", TEXT_WIDTH, DRAFTER.width)
        for index in range(len(DRAFTER.sliding)):
            _put_layer(file, DRAFTER, index)


def _put_sizes(file: TinyFile, layers: Layers) -> None:
    header = file.header
    header.add_block_count(len(layers.sliding))
    header.add_context_length(CONTEXT_TOKENS)
    header.add_embedding_length(layers.width)
    header.add_feed_forward_length(layers.feed_forward)
    header.add_head_count(layers.heads)
    header.add_head_count_kv(layers.state_heads)
    header.add_layer_norm_rms_eps(1e-6)
    for add_full, add_sliding in (
        (header.add_key_length, header.add_key_length_swa),
        (header.add_value_length, header.add_value_length_swa),
        (header.add_rope_dimension_count, header.add_rope_dimension_count_swa),
    ):
        add_full(layers.full_head)
        add_sliding(layers.sliding_head)
    header.add_rope_freq_base(10000.0)
    header.add_rope_freq_base_swa(10000.0)
    header.add_sliding_window(64)
    header.add_sliding_window_pattern(list(layers.sliding))


def _put_layer(file: TinyFile, layers: Layers, index: int) -> None:
    """Put what both models have: queries, attention output, feed-forward and their norms."""
    block, head, width = f"blk.{index}.", layers.head_size(index), layers.width
    file.put_flat(f"{block}attn_norm.weight", width)
    file.put_noise(f"{block}attn_q.weight", head * layers.heads, width)
    file.put_noise(f"{block}attn_output.weight", width, head * layers.heads)
    file.put_flat(f"{block}attn_q_norm.weight", head)
    file.put_flat(f"{block}post_attention_norm.weight", width, file.damp)
    file.put_flat(f"{block}layer_output_scale.weight", 1)
    file.put_flat(f"{block}ffn_norm.weight", width)
    file.put_noise(f"{block}ffn_gate.weight", layers.feed_forward, width)
    file.put_noise(f"{block}ffn_up.weight", layers.feed_forward, width)
    file.put_noise(f"{block}ffn_down.weight", width, layers.feed_forward)
    file.put_flat(f"{block}post_ffw_norm.weight", width, file.damp)


def _put_own_state(file: TinyFile, layers: Layers, index: int) -> None:
    """Put what only the target has: keys, values and the per-layer embedding's way in."""
    block, head = f"blk.{index}.", layers.head_size(index)
    file.put_noise(f"{block}attn_k.weight", head * layers.state_heads, TEXT_WIDTH)
    file.put_noise(f"{block}attn_v.weight", head * layers.state_heads, TEXT_WIDTH)
    file.put_flat(f"{block}attn_k_norm.weight", head)
    file.put_noise(f"{block}inp_gate.weight", _PER_LAYER, TEXT_WIDTH)
    file.put_noise(f"{block}proj.weight", TEXT_WIDTH, _PER_LAYER)
    file.put_flat(f"{block}post_norm.weight", TEXT_WIDTH, file.damp)


def _embeddings() -> F32:
    """Return the token embeddings; dimension 0 marks every token outside the text."""
    vocabulary = tiny_vocabulary()
    drawn = np.random.default_rng(7).standard_normal((len(vocabulary.tokens), TEXT_WIDTH))
    rows = np.asarray(drawn / 8, dtype=np.float32)
    rows[:, 0] = _OUTSIDER_MARK
    rows[list(vocabulary.spoken), 0] = 0.0
    return rows


def _head(embeddings: F32, projection: F32) -> F32:
    """Return head rows that answer each token of the text with the one that follows it."""
    vocabulary = tiny_vocabulary()
    width = projection.shape[0]
    drawn = np.random.default_rng(9).standard_normal((len(vocabulary.tokens), width))
    rows = np.asarray(drawn * 0.01, dtype=np.float32)
    for token in vocabulary.spoken:
        rows[vocabulary.following[token]] += projection @ embeddings[token] * _HEAD_GAIN
    rows[vocabulary.spoken[0]] += projection[:, 0] * _FIRST_WORD_GAIN
    return rows
