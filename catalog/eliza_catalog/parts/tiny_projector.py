"""The tiny projector: turns pictures and sound into the tiny text model's embeddings, without an encoder.

Architecture clip, of the encoder-free gemma4 kinds for vision and audio. Its weights are noise: what it makes the
model "see" means nothing, that it reaches the model at all is what tests look at (contract section 2, vision).
"""

from __future__ import annotations

from pathlib import Path

from eliza_catalog.parts.tiny_file import TinyFile
from eliza_catalog.parts.tiny_text import TEXT_WIDTH

_PATCH = 16
_MERGE = 3
_WIDTH = 32
_SOUND_WIDTH = 640


def write_tiny_projector(path: Path) -> None:
    """Write the projector (`mmproj`)."""
    area = (_PATCH * _MERGE) ** 2 * 3
    with TinyFile(path, "clip", seed=4) as file:
        _put_sizes(file)
        file.put_noise("v.patch_embd.weight", _WIDTH, area)
        file.put_flat("v.patch_embd.bias", _WIDTH, 0.0)
        for index, size in ((1, area), (2, _WIDTH), (3, _WIDTH)):
            file.put_flat(f"v.patch_norm.{index}.weight", size)
            file.put_flat(f"v.patch_norm.{index}.bias", size, 0.0)
        file.put_noise("v.position_embd.weight", 2, 256, _WIDTH)
        file.put_noise("mm.input_projection.weight", TEXT_WIDTH, _WIDTH)
        file.put_noise("mm.a.input_projection.weight", TEXT_WIDTH, _SOUND_WIDTH)


def _put_sizes(file: TinyFile) -> None:
    header = file.header
    header.add_clip_has_vision_encoder(True)
    header.add_clip_has_audio_encoder(True)
    header.add_bool("clip.use_gelu", True)
    for sense, projector, width in (("vision", "gemma4uv", _WIDTH), ("audio", "gemma4ua", _SOUND_WIDTH)):
        header.add_string(f"clip.{sense}.projector_type", projector)
        header.add_uint32(f"clip.{sense}.embedding_length", width)
        header.add_uint32(f"clip.{sense}.projection_dim", TEXT_WIDTH)
        header.add_float32(f"clip.{sense}.attention.layer_norm_epsilon", 1e-6)
        for absent in ("feed_forward_length", "block_count", "attention.head_count"):
            header.add_uint32(f"clip.{sense}.{absent}", 0)
    header.add_uint32("clip.vision.image_size", 224)
    header.add_uint32("clip.vision.patch_size", _PATCH)
    header.add_uint32("clip.vision.projector.scale_factor", _MERGE)
    header.add_uint32("clip.audio.num_mel_bins", 128)
    header.add_array("clip.vision.image_mean", [0.0] * 3)
    header.add_array("clip.vision.image_std", [1.0] * 3)
