"""From a barge-in to silence: how long after `cancel` the last sample or token comes, in milliseconds.

`python tests/bench/interruption.py BUNDLE [--rounds N]` from the repository's root. Speech and text are interrupted at
moments spread over a phrase or answer; the peer is the same call left alone, whose whole length is what a listener
would wait without a cancel. Aim: a p99 of 20 ms or less on the tiny bundle.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.native_library import native_library  # noqa: E402

from eliza_native.context import Context  # noqa: E402
from eliza_native.seam import Cancelled  # noqa: E402
from eliza_native.speech import Speech  # noqa: E402
from eliza_native.text import StreamConfig, TextStream  # noqa: E402

PHRASE = "həlˈoʊ ðˈɛɹ, aɪ hˈæv ɐ lˈɔŋ θˈɪŋ tə sˈeɪ, ænd aɪ sˈeɪ ɪt slˈoʊli. "


def interrupted(run: Callable[[], None], cancel: Callable[[], None], after_s: float) -> float | None:
    """Return the seconds from the cancel to the end of `run`; None when it had ended before."""
    asked_at: list[float] = []

    def ask() -> None:
        asked_at.append(time.perf_counter())
        cancel()

    timer = threading.Timer(after_s, ask)
    timer.start()
    try:
        run()
    except Cancelled:
        return time.perf_counter() - asked_at[0]
    finally:
        timer.cancel()
        timer.join()
    return None


def spread(run: Callable[[], None], cancel: Callable[[], None], rounds: int) -> dict[str, float]:
    """Interrupt at `rounds` moments of a run; return what the waits were, and the whole length."""
    begin = time.perf_counter()
    run()
    whole_s = time.perf_counter() - begin
    waits = [interrupted(run, cancel, whole_s * place / rounds) for place in range(rounds)]
    found = sorted(1000 * wait for wait in waits if wait is not None)
    if len(found) < rounds // 2:
        raise SystemExit("most runs ended before they could be interrupted")
    cuts = statistics.quantiles(found, n=100)
    figures = {"p50_ms": cuts[49], "p99_ms": cuts[98], "most_ms": found[-1], "whole_ms": 1000 * whole_s}
    return {name: round(value, 2) for name, value in figures.items()} | {"interrupted": len(found)}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    asked = parser.parse_args()
    voice = asked.bundle / "tts" / "kokoro"
    with Context(native_library(), asked.bundle) as context:
        speech = Speech(context)
        speech.load(next(voice.glob("*.gguf")), sorted((voice / "voices").glob("*.bin"))[0])
        said = spread(lambda: speech.stream_ipa(PHRASE * 3, lambda _pcm, _last: None), speech.cancel, asked.rounds)
        with TextStream(context, StreamConfig(context_size=2048)) as stream:

            def write() -> None:
                stream.reset()
                stream.prefill([11 + place % 200 for place in range(1500)])
                while not stream.next().final:
                    pass

            written = spread(write, stream.cancel, asked.rounds)
    print(json.dumps({"rounds": asked.rounds, "speech": said, "text": written}, indent=2))


if __name__ == "__main__":
    main()
