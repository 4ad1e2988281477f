"""Voice activity with the real weights: what the official model hears, this library hears."""

from __future__ import annotations

import array
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import vad_clip
from tests.support.silero_package import silero_data
from tests.support.vad_through_abi import Refused, Vad

from eliza_catalog.convert.silero import convert_silero

TOLERANCE = 1e-3  # issue: per-window probability equals the official model's


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundle")
    convert_silero(silero_data() / "silero_vad_16k_op15.onnx", folder / "vad" / "silero-vad-v5.gguf")
    return folder


@pytest.fixture
def vad(bundle: Path) -> Iterator[Vad]:
    with Vad(bundle) as opened:
        yield opened


def test_a_bundle_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="exactly one voice activity model"):
        Vad(tmp_path)


def test_another_sample_rate_is_refused(bundle: Path) -> None:
    with pytest.raises(Refused, match="16000"):
        Vad(bundle, sample_rate_hz=48_000)


def test_the_untouched_onnx_file_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "vad").mkdir()
    (tmp_path / "vad" / "model.gguf").write_bytes((silero_data() / "silero_vad_16k_op15.onnx").read_bytes())
    with pytest.raises(Refused, match="not a GGUF file"):
        Vad(tmp_path)


@pytest.mark.parametrize("size", [0, 1, 511, 513, 1024])
def test_a_window_of_another_size_is_refused(vad: Vad, size: int) -> None:
    with pytest.raises(Refused, match="-2: a window is exactly 512 samples"):
        vad.process(array.array("f", bytes(4 * max(size, 1)))[:size])


def test_the_recorded_speech_is_heard_as_the_official_model_hears_it(vad: Vad) -> None:
    heard = [vad.process(window) for window in vad_clip.windows()]
    wanted = vad_clip.expected()
    assert len(heard) == len(wanted) == 150
    assert max(abs(a - b) for a, b in zip(heard, wanted, strict=True)) < TOLERANCE
    assert sum(p > 0.5 for p in heard[:50]) > 40  # the clip's speech
    assert all(p < 0.5 for p in heard[52:75])  # and its silence


def test_after_a_reset_the_same_speech_is_heard_the_same(vad: Vad) -> None:
    windows = vad_clip.windows()[:20]
    first = [vad.process(window) for window in windows]
    assert [vad.process(window) for window in windows] != first
    vad.reset()
    assert [vad.process(window) for window in windows] == first


def test_two_detectors_of_one_bundle_do_not_hear_each_other(bundle: Path) -> None:
    windows = vad_clip.windows()[:20]
    with Vad(bundle) as alone:
        wanted = [alone.process(window) for window in windows]
    with Vad(bundle) as one, Vad(bundle) as other:
        heard = []
        for at, window in enumerate(windows):
            heard.append(one.process(window))
            other.process(windows[-at])
    assert heard == wanted
