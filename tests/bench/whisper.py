"""Seconds for ten seconds of English speech, and memory: this library against CTranslate2 int8, in turns.

`python tests/bench/whisper.py` from the repository's root; needs numpy, gguf, ctranslate2, transformers and a built
library. Both read the same published weights (here as q8_0), pad to 30 s as the official model does, choose greedily
and use the same number of threads. They listen in alternation, so that a busy machine slows both; the median of the
pairs' ratios counts. Memory is what loading and one listening add to a process of their own.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import psutil  # noqa: E402
from tests.support.native_library import native_library  # noqa: E402
from tests.support.whisper_package import (  # noqa: E402
    CLIP_NAMES,
    RATE_HZ,
    OfficialRecogniser,
    Samples,
    english_clip,
    real_hearing_bundle,
)

from eliza_native.context import Context  # noqa: E402
from eliza_native.hearing import Hearing  # noqa: E402

SECONDS = 10
_MIB = 1 << 20

Listen = Callable[[], str]


def speech() -> Samples:
    """Return ten seconds: the clips one after the other with short pauses, from the start again."""
    pause = np.zeros(RATE_HZ // 4, np.float32)
    told = np.concatenate([part for name in CLIP_NAMES for part in (english_clip(name).samples, pause)])
    return np.resize(told, SECONDS * RATE_HZ)


def alternate(listeners: tuple[Listen, Listen], rounds: int) -> tuple[list[float], list[float]]:
    """Return both listeners' times in seconds, after one unmeasured turn each."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for listen, taken in zip(listeners, times, strict=True):
            begin = time.perf_counter()
            listen()
            if turn > 0:
                taken.append(time.perf_counter() - begin)
    return times


def listener(who: str, threads: int, bundle: Path) -> Listen:
    """Load one of the two and return what makes it listen."""
    samples = speech()
    if who == "theirs":
        official = OfficialRecogniser("int8", threads)
        return lambda: official.transcribe(samples)
    hearing = Hearing(Context(native_library(), bundle))
    return lambda: hearing.transcribe(samples.data)


def tell_memory(who: str, threads: int, bundle: Path) -> None:
    """Print what loading and one listening add to this process."""
    speech()
    if who == "theirs":
        import ctranslate2  # noqa: F401  both start with their code loaded
        import transformers

        transformers.WhisperFeatureExtractor()
    else:
        native_library()
    this = psutil.Process()
    before = this.memory_info().rss
    listen = listener(who, threads, bundle)
    listen()
    print(round((this.memory_info().rss - before) / _MIB))


def memory_mib(who: str, threads: int, bundle: Path) -> int:
    """Return what `tell_memory` prints in a process of its own."""
    command = [sys.executable, __file__, "--alone", who, "--threads", str(threads), "--bundle", str(bundle)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    return int(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--alone", choices=("ours", "theirs"), help=argparse.SUPPRESS)
    parser.add_argument("--bundle", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    os.environ["ELIZA_THREADS"] = str(asked.threads)
    if asked.alone:
        tell_memory(asked.alone, asked.threads, asked.bundle)
        return
    with tempfile.TemporaryDirectory() as folder:
        bundle = real_hearing_bundle(Path(folder))
        both = (listener("ours", asked.threads, bundle), listener("theirs", asked.threads, bundle))
        times = alternate(both, asked.rounds)
        texts = [listen() for listen in both]
        memory = {who: memory_mib(who, asked.threads, bundle) for who in ("ours", "theirs")}
    ours, rival = (statistics.median(one) for one in times)
    ratio = statistics.median(mine / other for mine, other in zip(*times, strict=True))
    print(json.dumps({
        "audio_s": SECONDS, "threads": asked.threads, "text": texts[0], "same_text": texts[0] == texts[1],
        "seconds": {"eliza_q8_0": round(ours, 3), "ctranslate2_int8": round(rival, 3)},
        "memory_mib": {"eliza_q8_0": memory["ours"], "ctranslate2_int8": memory["theirs"]},
        "eliza_over_ctranslate2": round(ratio, 3),
    }, indent=2))  # fmt: skip


if __name__ == "__main__":
    main()
