"""Tokens per second through the C border and this package against llama.cpp's own bench, on one model, in turns.

`python tests/bench/llm.py MODEL.gguf LLAMA_BENCH [--threads N] [--rounds N]` from the repository's root; needs a
built library (ELIZA_NATIVE_LIB or the installed one) and llama-bench of the same build folder (configure with
-DELIZA_BUILD_BENCH=ON, build the targets elizainference and llama-bench).
The two run in alternation, so that a busy machine slows both. The median and the best round of each are shown: on a
busy machine only the best say something, and only with few threads. Aim: a ratio of 0.98 or more.
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

from tests.support.native_library import native_library  # noqa: E402

from eliza_native.context import Context  # noqa: E402
from eliza_native.text import StreamConfig, TextStream  # noqa: E402

PROMPT_TOKENS = 512
GENERATED_TOKENS = 64


def bench_tokens_per_s(llama_bench: Path, model: Path, threads: int) -> dict[str, float]:
    """Run llama-bench once over prompt and generation, one measured repetition each after its own warm-up."""
    sizes = ["-p", str(PROMPT_TOKENS), "-n", str(GENERATED_TOKENS)]
    command = [str(llama_bench), "-m", str(model), *sizes, "-t", str(threads), "-r", "1", "-o", "json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {"prefill" if each["n_prompt"] else "generate": each["avg_ts"] for each in told}


def prefill_s(stream: TextStream) -> float:
    """Return the time of a prompt of PROMPT_TOKENS."""
    stream.reset()
    begin = time.perf_counter()
    stream.prefill([1000 + place for place in range(PROMPT_TOKENS)])
    return time.perf_counter() - begin


def generate_s(stream: TextStream) -> float:
    """Return the time of GENERATED_TOKENS steps, each of which decodes one token; an ended turn is begun anew."""
    steps, elapsed_s = 0, 0.0
    while steps < GENERATED_TOKENS:
        stream.reset()
        stream.prefill([1])
        is_final = stream.next().final  # samples from the prefill's logits: no decoding in it
        begin = time.perf_counter()
        while steps < GENERATED_TOKENS and not is_final:
            is_final = stream.next().final
            steps += 1
        elapsed_s += time.perf_counter() - begin
    return elapsed_s


def ours_tokens_per_s(context: Context) -> dict[str, float]:
    """Do what llama-bench does: a prompt of its length, then single tokens, each in a context just large enough."""
    with TextStream(context, StreamConfig(context_size=PROMPT_TOKENS, n_gpu_layers=0)) as stream:
        prefill_s(stream)  # llama-bench warms up with the whole prompt too
        measured_s = prefill_s(stream)
    with TextStream(context, StreamConfig(context_size=GENERATED_TOKENS + 8, n_gpu_layers=0)) as stream:
        return {"prefill": PROMPT_TOKENS / measured_s, "generate": GENERATED_TOKENS / generate_s(stream)}


def in_turns(rounds: int, contenders: dict[str, Callable[[], dict[str, float]]]) -> dict[str, list[dict[str, float]]]:
    """Return all figures of each contender, which take turns at going first."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in contenders}
    for place in range(rounds):
        for name in sorted(contenders, reverse=place % 2 == 1):
            found[name].append(contenders[name]())
    return found


def compared(
    found: dict[str, list[dict[str, float]]], choose: Callable[[list[float]], float]
) -> dict[str, dict[str, float]]:
    """Return what `choose` makes of the rounds, and the ratio."""
    compared = {}
    for part in ("prefill", "generate"):
        each = {name: choose([figures[part] for figures in rounds]) for name, rounds in found.items()}
        ratio = round(each["eliza"] / each["llama-bench"], 3)
        compared[part] = {**{name: round(value, 2) for name, value in each.items()}, "ratio": ratio}
    return compared


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("llama_bench", type=Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    os.environ["ELIZA_THREADS"] = str(asked.threads)
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text"
        text.mkdir()
        (text / "model.gguf").symlink_to(asked.model.resolve())
        with Context(native_library(), Path(folder)) as context:
            ours_tokens_per_s(context)  # warm-up: pages the weights in
            contenders = {
                "eliza": lambda: ours_tokens_per_s(context),
                "llama-bench": lambda: bench_tokens_per_s(asked.llama_bench, asked.model, asked.threads),
            }
            found = in_turns(asked.rounds, contenders)
    shown = {"median": compared(found, statistics.median), "best": compared(found, max)}
    print(json.dumps({"threads": asked.threads, "rounds": asked.rounds, "tokens_per_s": shown}, indent=2))


if __name__ == "__main__":
    main()
