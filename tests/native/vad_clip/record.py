"""Makes `clip.wav` and `expected.json`: speech and what the official voice activity model hears in it.

Run by hand when the pinned model changes, with numpy, av and onnxruntime installed:
`python tests/native/vad_clip/record.py LLAMA_CPP_TREE`, where the tree is the one that `native/llama.cpp.pin`
names (MIT; its `tools/mtmd/test-2.mp3` is a person reading). Never run by a test.
"""

from __future__ import annotations

import json
import sys
import wave
from pathlib import Path

import av  # type: ignore[import-not-found]  # a tool of this script alone
import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from tests.support.silero_package import REQUIREMENT, SAMPLE_RATE_HZ, WINDOW_SAMPLES, OfficialDetector, silero_data

HERE = Path(__file__).resolve().parent


def main() -> None:
    speech = decode(Path(sys.argv[1]) / "tools" / "mtmd" / "test-2.mp3")
    clip = compose(speech)
    with wave.open(str(HERE / "clip.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes(clip.tobytes())
    detector = OfficialDetector(silero_data() / "silero_vad.onnx")
    windows = (clip.astype(np.float32) / 32768).reshape(-1, WINDOW_SAMPLES)
    expected = [round(detector.process(window), 6) for window in windows]
    document = {"model": f"{REQUIREMENT} silero_vad.onnx", "probabilities": expected}
    (HERE / "expected.json").write_text(json.dumps(document, indent=0) + "\n", encoding="utf-8")


def decode(path: Path) -> npt.NDArray[np.int16]:
    """Return the recording as mono int16 at 16 kHz."""
    resampler = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
    with av.open(str(path)) as container:
        parts: list[npt.NDArray[np.int16]] = [
            part.to_ndarray().ravel() for frame in container.decode(audio=0) for part in resampler.resample(frame)
        ]
    return np.concatenate(parts)


def compose(speech: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Return 150 windows: speech, silence, faint noise, then speech so faint that the model is unsure."""
    w = WINDOW_SAMPLES
    noise = np.random.default_rng(5).normal(0, 60, 25 * w)
    faint = speech[50 * w : 100 * w] * 0.03 + np.random.default_rng(6).normal(0, 40, 50 * w)
    return (
        np.concatenate([speech[: 50 * w].astype(np.float64), np.zeros(25 * w), noise, faint]).round().astype(np.int16)
    )


if __name__ == "__main__":
    main()
