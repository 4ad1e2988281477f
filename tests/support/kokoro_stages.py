"""Runs the engine's `kokoro_dump` tool and reads back what every stage of one synthesis held.

Builds the tool with the same flags and in the same folder as the C++ tests, so both share their objects.
Compares nothing itself; needs numpy, cmake and a C++ compiler.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "native-tests"
BUILD_DEADLINE_S = 1500
RUN_DEADLINE_S = 300


def build_dump(tool: str = "kokoro_dump") -> Path:
    """Return a dump tool's path, built from the present sources.

    Raises:
        AssertionError: it cannot be built; the message ends with the compiler's words.
    """
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(BUILD), "-G", "Ninja"]
    flags = ["-DELIZA_BUILD_TESTS=ON", "-DELIZA_SANITIZE=ON", f"-DPython3_EXECUTABLE={sys.executable}"]
    build = ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count() or 2), "--target", tool]
    for command in ([*configure, *flags], build):
        done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_DEADLINE_S, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return BUILD / "tests" / tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One phrase to synthesise. `noise` scales the excitation's random part; 0 switches it off."""

    model: Path
    voice: Path
    ipa: str
    speed: float = 1.0
    noise: float = 0.0


def run_dump(tool: Path, said: Said, folder: Path) -> dict[str, Any]:
    """Return every stage by name as float32 `[time, channels]`; `wave` and `source` as `[samples]`.

    Raises:
        AssertionError: the tool failed; the message is what it said.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = [str(tool), str(said.model), str(said.voice), said.ipa, str(folder), str(said.speed), str(said.noise)]
    # two threads, so that the parts which threads share are shared on any machine
    environment = {**os.environ, "ELIZA_THREADS": "2"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_DEADLINE_S, check=False, env=environment)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    return {file.stem: _read_stage(file) for file in sorted(folder.glob("*.bin"))}


def _read_stage(file: Path) -> Any:
    raw = file.read_bytes()
    columns, rows = (int(one) for one in np.frombuffer(raw[:8], "<i4"))
    values = np.frombuffer(raw[8:], "<f4").reshape(rows, columns)
    return values.reshape(-1) if file.stem in ("wave", "source") else values


def units_of(durations: Any, speed: float = 1.0) -> Any:
    """Return how many units each phoneme lasts, from the duration logits `[phonemes, max_duration]`."""
    seconds = (1.0 / (1.0 + np.exp(-durations.astype(np.float64)))).sum(axis=1) / speed
    return np.maximum(1, np.rint(seconds)).astype(np.int32)


def relative_rms(got: Any, wanted: Any) -> float:
    """Return the root mean square of the difference over that of what was wanted."""
    assert got.shape == wanted.shape, (got.shape, wanted.shape)
    error = np.sqrt(np.mean(np.square(got.astype(np.float64) - wanted)))
    return float(error / max(1e-12, float(np.sqrt(np.mean(np.square(wanted.astype(np.float64)))))))
