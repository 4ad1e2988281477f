"""The recorded speech clip of `tests/native/vad_clip` and what the official model hears in it."""

from __future__ import annotations

import array
import json
import sys
import wave
from pathlib import Path

from tests.support.silero_package import WINDOW_SAMPLES

FOLDER = Path(__file__).resolve().parents[1] / "native" / "vad_clip"


def windows() -> list[array.array[float]]:
    """Return the clip as windows of 512 float32 samples in [-1, 1)."""
    with wave.open(str(FOLDER / "clip.wav"), "rb") as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        pcm = array.array("h", file.readframes(file.getnframes()))
    if sys.byteorder == "big":
        pcm.byteswap()
    samples = array.array("f", (sample / 32768 for sample in pcm))
    return [samples[at : at + WINDOW_SAMPLES] for at in range(0, len(samples), WINDOW_SAMPLES)]


def expected() -> list[float]:
    """Return the official probability of each window, rounded to six places."""
    document = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
    return [float(value) for value in document["probabilities"]]
