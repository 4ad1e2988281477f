"""Writes the seed corpus of the fuzz targets: `python native/fuzz/seeds.py`.

The seeds are committed; rerun it when a format changes. Needs the `publisher` extra.
"""

from __future__ import annotations

import struct
from pathlib import Path

import gguf
import numpy as np

from eliza_catalog.parts.preset import Phrase, VoicePreset, encode_preset

CORPUS = Path(__file__).parent / "corpus"


def presets() -> dict[str, bytes]:
    """Return presets of both versions, empty and full."""
    full = VoicePreset(
        embedding=(0.5, -0.5),
        phrases=(Phrase(text="sure", sample_rate_hz=24000, pcm_f32=struct.pack("<3f", 0.0, 0.5, -0.5)),),
        metadata={"backend": "kokoro", "voice": "af_heart"},
    )
    tokens = struct.pack("<II8i", 8, 1, *range(8))
    parts = (b"", b"", tokens, "sí".encode(), b"softly", b"{}")
    header, body = b"ELZ1" + struct.pack("<I", 2), b""
    for part in parts:
        header += struct.pack("<II", 64 + len(body) if part else 0, len(part))
        body += part
    old = b"ELZ1" + struct.pack("<IIIII", 1, 24, 8, 0, 0) + struct.pack("<2f", 1.0, 2.0)
    return {
        "empty": encode_preset(VoicePreset()),
        "full": encode_preset(full),
        "tokens": header + bytes(8) + body,
        "version1": old,
    }


def models() -> dict[str, bytes]:
    """Return small model files with every kind of value in their headers."""
    path = CORPUS / "made.gguf"
    writer = gguf.GGUFWriter(path, "gemma4")
    writer.add_uint32("gemma4.block_count", 2)
    writer.add_array("tokenizer.ggml.tokens", ["a", "bé", ""])
    writer.add_array("gemma4.attention.head_count_kv", [1, 2])
    writer.add_float32("gemma4.rope.freq_base", 1e4)
    writer.add_bool("tokenizer.ggml.add_bos_token", True)
    writer.add_tensor("token_embd.weight", np.zeros((4, 32), np.float32))
    writer.add_tensor("blk.1.nextn.eh_proj.weight", np.zeros((2, 32), np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    made = path.read_bytes()
    path.unlink()
    return {"small": made, "header": made[: made.index(b"token_embd.weight") + 60]}


def folders() -> dict[str, bytes]:
    """Return listings, one name a line."""
    return {
        "named": b"eliza-1-asr.gguf\neliza-1-asr-mmproj.gguf\nextra.gguf\n",
        "published": b"mmproj-audio-e2b-bf16.gguf\n",
        "found": b"model-q4.gguf\nMMPROJ-model.gguf\ntokenizer.gguf\n",
        "crowded": b"a.gguf\nb.gguf\nmmproj-a.gguf\nmmproj-b.gguf\n\xff\xfe.gguf\n",
    }


def checksum(data: bytes) -> int:
    """Return what `llm/checksum.h` computes."""
    total = 14695981039346656037
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at : at + 8], "little")
        total = ((total ^ word) * 1099511628211) & (2**64 - 1)
        total ^= total >> 29
    return total


def slots() -> dict[str, bytes]:
    """Return one slot as `llm/slot.cpp` writes it."""
    owner, tokens, state = b"1:2 tree f16 f16", struct.pack("<3i", 5, 6, 7), bytes(range(20))
    rest = struct.pack("<Ii6Q", 1, 9, len(owner), 3, len(state), 0, 4, 2) + owner + tokens + state + b"\1\2\3\4"
    return {"small": b"ELIZSLOT" + struct.pack("<Q", checksum(rest)) + rest}


if __name__ == "__main__":
    for target, seeds in (("preset", presets()), ("gguf", models()), ("folder", folders()), ("slot", slots())):
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (CORPUS / target / name).write_bytes(data)
