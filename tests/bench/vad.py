"""Time per 32 ms window: this library against the official model in onnxruntime, one thread each, in turns.

`python tests/bench/vad.py` from the repository's root; needs numpy, onnxruntime, onnx, gguf and a built library.
The two are timed in alternating blocks, so that a busy machine slows both; the median of the blocks counts.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
from tests.support import vad_clip  # noqa: E402
from tests.support.silero_package import OfficialDetector, silero_data  # noqa: E402
from tests.support.vad_through_abi import Vad  # noqa: E402

from eliza_catalog.convert.silero import convert_silero  # noqa: E402

BLOCKS = 30
OFFICIAL = ("silero_vad.onnx", "silero_vad_16k_op15.onnx")


def block_ms(process: Callable[[Any], float], windows: list[Any]) -> float:
    """Return the mean time of one window over the whole clip, in milliseconds."""
    begin = time.perf_counter()
    for window in windows:
        process(window)
    return (time.perf_counter() - begin) / len(windows) * 1e3


def main() -> None:
    data = silero_data()
    windows = [np.array(window, dtype=np.float32) for window in vad_clip.windows()]
    rivals = {name: OfficialDetector(data / name) for name in OFFICIAL}
    with tempfile.TemporaryDirectory() as folder:
        convert_silero(data / "silero_vad_16k_op15.onnx", Path(folder) / "vad" / "silero-vad-v5.gguf")
        with Vad(Path(folder)) as vad:
            contenders = {"eliza": vad.process, **{name: rival.process for name, rival in rivals.items()}}
            times: dict[str, list[float]] = {name: [] for name in contenders}
            for _ in range(BLOCKS):
                for name, process in contenders.items():
                    times[name].append(block_ms(process, windows))
    medians = {name: round(statistics.median(values), 4) for name, values in times.items()}
    ratios = {name: round(medians["eliza"] / medians[name], 3) for name in OFFICIAL}
    print(json.dumps({"ms_per_window": medians, "eliza_over_onnxruntime": ratios}, indent=2))


if __name__ == "__main__":
    main()
