"""Real recognition weights: the encoder's states and the greedy text against CTranslate2 and the official front end.

Tolerances are relative root mean squares over a window's 1500 states. With f32 matrices both sides compute in float32
and only the order of sums differs (3e-6 to 4e-6 measured). What ships has f16 matrices in the encoder: what goes into
each product is rounded to 11 bits (6e-4 to 1.6e-3 measured), or, where the processor multiplies bfloat16, to 8 bits
(8e-3 to 1.1e-2). f16 files give the official text letter by letter. The decoder's q8_0, which ships, does so for clean
speech; where the official model hesitates between two spellings (`1-2-3`, `1, 2, 3`) it may choose the other one.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("ctranslate2", reason="the official weights run in ctranslate2")
pytest.importorskip("transformers", reason="the official front end is in transformers")

import numpy as np
from tests.support.kokoro_stages import build_dump, relative_rms
from tests.support.native_library import native_library
from tests.support.whisper_package import (
    CLIP_NAMES,
    RATE_HZ,
    OfficialRecogniser,
    Samples,
    english_clip,
    real_hearing,
    real_hearing_bundle,
)

from eliza_catalog.convert.whisper_layout import Dtype
from eliza_native.context import Context
from eliza_native.hearing import Hearing

pytestmark = [pytest.mark.parity, pytest.mark.timeout(1500)]

TOLERANCES: dict[Dtype, float] = {"f32": 1e-5, "q8_0": 2e-2}


@pytest.fixture(scope="module")
def official() -> OfficialRecogniser:
    return OfficialRecogniser(threads=1)


@pytest.fixture(scope="module")
def dump_tool() -> Path:
    return build_dump("whisper_dump")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hearing]:
    yield from opened(tmp_path_factory.mktemp("q8_0"), "q8_0")


@pytest.fixture(scope="module")
def in_half(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hearing]:
    yield from opened(tmp_path_factory.mktemp("f16"), "f16")


def opened(folder: Path, dtype: Dtype) -> Iterator[Hearing]:
    with Context(native_library(), real_hearing_bundle(folder, dtype)) as context:
        yield Hearing(context)


def manners(name: str) -> dict[str, Samples]:
    """Return a clip as it is, quieter, and with noise 14 dB below it."""
    samples = english_clip(name).samples
    noise = np.random.default_rng(7).standard_normal(len(samples)) * samples.std() * 0.2
    return {
        "clean": samples,
        "quiet": (samples * 0.05).astype(np.float32),
        "noisy": (samples + noise).astype(np.float32),
    }


def states(tool: Path, dtype: Dtype, samples: Samples, folder: Path) -> Samples:
    samples.tofile(folder / "samples.f32")
    command = [str(tool), str(real_hearing(dtype)), str(folder / "samples.f32"), str(folder / "states.f32")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.fromfile(folder / "states.f32", np.float32).reshape(1500, -1)


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("name", CLIP_NAMES)
def test_the_encoder_ends_in_the_official_states(
    official: OfficialRecogniser, dump_tool: Path, tmp_path: Path, dtype: Dtype, name: str
) -> None:
    samples = english_clip(name).samples
    assert relative_rms(states(dump_tool, dtype, samples, tmp_path), official.encode(samples)) < TOLERANCES[dtype]


def test_a_full_window_ends_in_the_official_states(
    official: OfficialRecogniser, dump_tool: Path, tmp_path: Path
) -> None:
    samples = np.resize(english_clip("counting").samples, 30 * RATE_HZ)
    assert relative_rms(states(dump_tool, "f32", samples, tmp_path), official.encode(samples)) < TOLERANCES["f32"]


@pytest.mark.parametrize("manner", ["clean", "quiet", "noisy"])
@pytest.mark.parametrize("name", CLIP_NAMES)
def test_english_is_heard_letter_by_letter_as_officially(
    official: OfficialRecogniser, in_half: Hearing, shipped: Hearing, name: str, manner: str
) -> None:
    samples = manners(name)[manner]
    wanted, heard = official.transcribe(samples), shipped.transcribe(samples.data)
    assert in_half.transcribe(samples.data) == wanted
    assert words(heard) == words(wanted)
    assert manner != "clean" or heard == wanted


@pytest.mark.parametrize("name", ["hello_world", "quick_brown_fox"])
def test_what_was_said_is_what_is_heard(shipped: Hearing, name: str) -> None:
    clip = english_clip(name)
    assert words(shipped.transcribe(clip.samples.data)) == words(clip.text)


def test_a_minute_of_speech_loses_no_word_where_it_is_parted(shipped: Hearing) -> None:
    pause = np.zeros(RATE_HZ // 4, np.float32)
    names = ("hello_world", "counting", "quick_brown_fox")
    once = np.concatenate([part for name in names for part in (english_clip(name).samples, pause)])
    told = np.tile(once, 8)
    assert len(told) > 60 * RATE_HZ
    fox = words(english_clip("quick_brown_fox").text)
    numbers = [str(number) for number in range(1, 11)]
    assert words(shipped.transcribe(told.data)) == ["hello", "world", *numbers, *fox] * 8


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
