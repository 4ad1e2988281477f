"""How long a program waits for `eliza-agent status --json`, with and without an active bundle.

`python tests/bench/status.py [--runs N]` from the repository's root, with the package installed in this Python.
The peer is a Python that starts and does nothing, in turns with ours. Aim: 95 of 100 answers within 100 ms.
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
from datetime import UTC, datetime
from pathlib import Path

from eliza_agent.store.active import ActiveFile
from eliza_agent.store.atomic import prepare_folders, write_json
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.registry import InstalledBundle, Registry
from eliza_catalog.terms import Sha256, Tier

KEY = "eliza-1-e2b@1.0.0+000000000000"
AIM_MS = 100.0


def active_state(folder: Path) -> Path:
    """Write the state of a device whose bundle is installed, proven and active; its files are there and empty."""
    layout = StateLayout(folder)
    prepare_folders(layout)
    files = [layout.bundle(KEY) / f"{number}.gguf" for number in range(13)]
    layout.bundle(KEY).mkdir(parents=True)
    for file in files:
        file.touch()
    write_json(layout.tree_record(KEY), {"schema": 1, "files": {file.name: "0" * 64 for file in files}})
    now = datetime.now(UTC)
    bundle = InstalledBundle(
        key=KEY, id="eliza-1-e2b", tier=Tier.T2B, version="1.0.0", manifest_sha256=Sha256("0" * 64),
        size_bytes=4_000_000_000, installed_at=now, is_standin=False, hub="https://hub.example", revision="main",
        proven_at=now,
    )  # fmt: skip
    Registry(layout).add(bundle)
    ActiveFile(layout).activate(KEY)
    return folder


def answer_ms(command: list[str], state: Path, expected_code: int) -> float:
    """Run one command to its end and return the time."""
    environment = {**os.environ, "ELIZA_STATE_DIR": str(state)}
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    elapsed_ms = (time.perf_counter() - begin) * 1e3
    assert done.returncode == expected_code, done.stderr.decode()
    return elapsed_ms


def summary(times_ms: list[float]) -> dict[str, float]:
    """Return the median and the time that 95 of 100 stay below."""
    ordered = sorted(times_ms)
    late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {"median_ms": round(statistics.median(ordered), 1), "p95_ms": round(late, 1)}


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    runs = parser.parse_args().runs
    ours = [str(Path(sys.executable).parent / "eliza-agent"), "status", "--json"]
    with tempfile.TemporaryDirectory() as name:
        state = active_state(Path(name) / "active")
        cases = {
            "active": (ours, state, 0),
            "not_set_up": (ours, Path(name) / "empty", 9),
            "python_that_does_nothing": ([sys.executable, "-c", ""], state, 0),
        }
        times: dict[str, list[float]] = {case: [] for case in cases}
        for run in range(runs + 1):
            for case, (command, folder, code) in cases.items():
                elapsed_ms = answer_ms(command, folder, code)
                if run > 0:  # the first run compiles and warms the disk's cache
                    times[case].append(elapsed_ms)
    shown = {case: summary(each) for case, each in times.items()}
    ratio = shown["active"]["median_ms"] / shown["python_that_does_nothing"]["median_ms"]
    is_met = all(shown[case]["p95_ms"] <= AIM_MS for case in ("active", "not_set_up"))
    print(json.dumps({"runs": runs, **shown, "active_over_python": round(ratio, 2), "aim_met": is_met}, indent=2))


if __name__ == "__main__":
    main()
