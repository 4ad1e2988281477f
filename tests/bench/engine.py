"""Load time, speed and peak memory of the library itself against llama.cpp's own bench, on one model, in turns.

`python tests/bench/engine.py MODEL.gguf LLAMA_BENCH MEASURE [--threads N] [--rounds N]` from the repository's root;
LLAMA_BENCH and MEASURE (`native/examples/measure.c`) come from the same build folder. No Python is in what is measured:
both are programs of their own, `start_s` is the whole run of one that reads and writes a single token. Aims: 0.98 or
more of the speed, 1.02 or less of the memory.
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

PROMPT_TOKENS = 512
GENERATED_TOKENS = 64


def run(command: list[str]) -> tuple[str, float, int]:
    """Run a program; return what it printed, how long it took in seconds, and the most memory it held in KiB."""
    read_end, write_end = os.pipe()
    begin = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write_end, 1)])
    os.close(write_end)
    with os.fdopen(read_end) as stream:
        told = stream.read()
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"{command[0]} ended with status {status}")
    return told, time.perf_counter() - begin, used.ru_maxrss


def ours(measure: Path, bundle: Path) -> dict[str, float]:
    """Return the figures of one run of our program."""
    told, _, peak_kib = run([str(measure), str(bundle), str(PROMPT_TOKENS), str(GENERATED_TOKENS)])
    figures = json.loads(told)
    start_s = run([str(measure), str(bundle), "1", "1"])[1]
    return {"prefill": figures["prefill"], "generate": figures["generate"], "peak_kib": peak_kib, "start_s": start_s}


def theirs(llama_bench: Path, model: Path, threads: int) -> dict[str, float]:
    """Return the figures of one run of llama-bench."""
    common = [str(llama_bench), "-m", str(model), "-t", str(threads), "-r", "1", "-o", "json"]
    told, _, peak_kib = run([*common, "-p", str(PROMPT_TOKENS), "-n", str(GENERATED_TOKENS)])
    speeds = {"prefill" if each["n_prompt"] else "generate": each["avg_ts"] for each in json.loads(told)}
    start_s = run([*common, "-p", "1", "-n", "1", "--no-warmup"])[1]
    return {**speeds, "peak_kib": peak_kib, "start_s": start_s}


def compared(found: dict[str, list[dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Return the median of every figure for both, and the ratio."""
    shown = {}
    for part in ("start_s", "prefill", "generate", "peak_kib"):
        each = {name: statistics.median([figures[part] for figures in rounds]) for name, rounds in found.items()}
        shown[part] = {**{name: round(value, 3) for name, value in each.items()}}
        shown[part]["ratio"] = round(each["eliza"] / each["llama-bench"], 3)
    return shown


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("llama_bench", type=Path)
    parser.add_argument("measure", type=Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    os.environ["ELIZA_THREADS"] = str(asked.threads)
    found: dict[str, list[dict[str, float]]] = {"eliza": [], "llama-bench": []}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "text").mkdir()
        (Path(folder) / "text" / "model.gguf").symlink_to(asked.model.resolve())
        contenders: dict[str, Callable[[], dict[str, float]]] = {
            "eliza": lambda: ours(asked.measure, Path(folder)),
            "llama-bench": lambda: theirs(asked.llama_bench, asked.model, asked.threads),
        }
        for place in range(asked.rounds):
            for name in sorted(contenders, reverse=place % 2 == 1):
                print(f"round {place + 1}: {name}", file=sys.stderr)
                found[name].append(contenders[name]())
    print(json.dumps({"threads": asked.threads, "rounds": asked.rounds, **compared(found)}, indent=2))


if __name__ == "__main__":
    main()
