"""The whole recording, window by window, against the official model in onnxruntime."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import vad_clip
from tests.support.silero_package import OfficialDetector, silero_data
from tests.support.vad_through_abi import Vad

pytestmark = pytest.mark.parity

TOLERANCE = 1e-3


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from eliza_catalog.convert.silero import convert_silero

    folder = tmp_path_factory.mktemp("bundle")
    convert_silero(silero_data() / "silero_vad_16k_op15.onnx", folder / "vad" / "silero-vad-v5.gguf")
    return folder


@pytest.mark.parametrize("gain", [1.0, 0.1, 4.0])
def test_every_window_of_the_clip_has_the_official_probability(bundle: Path, gain: float) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("onnxruntime")
    official = OfficialDetector(silero_data() / "silero_vad.onnx")
    with Vad(bundle) as vad:
        for window in vad_clip.windows():
            samples = np.clip(np.array(window, dtype=np.float32) * gain, -1, 1).astype(np.float32)
            assert vad.process(samples) == pytest.approx(official.process(samples), abs=TOLERANCE)


def test_noise_is_judged_alike_for_a_minute(bundle: Path) -> None:
    np = pytest.importorskip("numpy")
    pytest.importorskip("onnxruntime")
    official = OfficialDetector(silero_data() / "silero_vad.onnx")
    random = np.random.default_rng(3)
    with Vad(bundle) as vad:
        for at in range(1875):
            window = random.normal(0, 0.02 + 0.1 * (at % 7 == 0), 512).astype(np.float32)
            assert vad.process(window) == pytest.approx(official.process(window), abs=TOLERANCE)
