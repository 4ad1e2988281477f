"""Real-time factor of a spoken sentence: this library against the int8 export in onnxruntime, in turns.

`python tests/bench/kokoro.py EXPORT.onnx VOICE.bin` from the repository's root; needs numpy, onnxruntime, onnx,
gguf and a built library. The library gets the same int8 weights, converted on the spot. Both use the same number
of threads and speak in alternation, so that a busy machine slows both; the median of the pairs' ratios counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402
from tests.support.native_library import native_library  # noqa: E402

from eliza_catalog.convert.kokoro import SAMPLE_RATE_HZ, STYLE_ROWS, convert_onnx  # noqa: E402
from eliza_catalog.convert.kokoro_vocabulary import VOCABULARY  # noqa: E402
from eliza_native.context import Context  # noqa: E402
from eliza_native.speech import Speech  # noqa: E402

IPA = "həlˈO, wˈɜɹld. ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."

Speak = Callable[[], int]


def official(export: Path, voice: Path, threads: int) -> Speak:
    """Return a call that speaks with onnxruntime and answers how many samples came."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(export), options, providers=["CPUExecutionProvider"])
    table = np.fromfile(voice, dtype="<f4").reshape(STYLE_ROWS, -1)
    feeds = {
        "tokens": np.array([[0, *(VOCABULARY[one] for one in IPA), 0]], dtype=np.int64),
        "style": table[len(IPA) - 1][None],
        "speed": np.ones(1, dtype=np.float32),
    }
    return lambda: int(session.run(None, feeds)[0].size)


def alternate(ours: Speak, theirs: Speak, rounds: int) -> tuple[list[float], list[float]]:
    """Return both speakers' times in seconds, after one unmeasured turn each."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for speaker, taken in zip((ours, theirs), times, strict=True):
            begin = time.perf_counter()
            speaker()
            if turn > 0:
                taken.append(time.perf_counter() - begin)
    return times


def first_sound_s(speech: Speech) -> float:
    """Return how long a listener waits for the first block of the two sentences."""
    begin = time.perf_counter()
    heard: list[float] = []
    speech.stream_ipa(IPA, lambda _pcm, _is_final: heard.append(time.perf_counter()))
    return heard[0] - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("export", type=Path, help="the int8 ONNX export of the voice model")
    parser.add_argument("voice", type=Path, help="a style table, raw float32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--dtype", default="q8_0", choices=("q8_0", "f16", "f32"))
    arguments = parser.parse_args()
    os.environ["ELIZA_THREADS"] = str(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "kokoro.gguf"
        convert_onnx(arguments.export, model, arguments.dtype)
        with Context(native_library(), Path(folder)) as context:
            speech = Speech(context)
            speech.load(model, arguments.voice)
            seconds = len(speech.synthesize_ipa(IPA)) / SAMPLE_RATE_HZ
            theirs = official(arguments.export, arguments.voice, arguments.threads)
            times = alternate(lambda: len(speech.synthesize_ipa(IPA)), theirs, arguments.rounds)
            first = statistics.median(first_sound_s(speech) for _ in range(arguments.rounds))
    ours, rival = (statistics.median(one) for one in times)
    ratio = statistics.median(mine / other for mine, other in zip(*times, strict=True))
    print(json.dumps({
        "audio_s": round(seconds, 3), "threads": arguments.threads, "dtype": arguments.dtype,
        "real_time_factor": {"eliza": round(ours / seconds, 3), "onnxruntime_int8": round(rival / seconds, 3)},
        "first_sound_s": round(first, 3), "eliza_over_onnxruntime": round(ratio, 3),
    }, indent=2))  # fmt: skip


if __name__ == "__main__":
    main()
