"""What evicting gives back: resident memory before, with, and after each memory region of a bundle, in MiB.

`python tests/bench/regions.py BUNDLE [--rounds N]` from the repository's root, on Linux. The peer is the size of the
region's files: what was acquired must be given back nearly whole.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.native_library import native_library  # noqa: E402

from eliza_native.context import Context  # noqa: E402
from eliza_native.text import StreamConfig, TextStream  # noqa: E402

FOLDERS = {"text": "text", "mtp": "mtp", "tts": "tts", "asr": "asr", "vad": "vad"}


def resident_mib() -> float:
    """Return this process's resident memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def touch(context: Context, region: str) -> None:
    """Use what the region holds, so that its pages are really there."""
    if region == "text":
        with TextStream(context, StreamConfig(context_size=256)) as stream:
            stream.prefill([5, 6, 7])


def round_trip(context: Context, region: str, folder: Path) -> dict[str, float]:
    """Acquire, use and evict one region; return the resident memory at each point."""
    before = resident_mib()
    context.acquire(region)
    touch(context, region)
    held = resident_mib()
    context.evict(region)
    after = resident_mib()
    files = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / (1 << 20)
    given = held - before and (held - after) / (held - before)
    figures = {"files": files, "before": before, "held": held, "after": after, "given_back": given}
    return {name: round(value, 2) for name, value in figures.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    shown = {}
    with Context(native_library(), asked.bundle) as context:
        for region, name in FOLDERS.items():
            if (asked.bundle / name).is_dir():
                shown[region] = [round_trip(context, region, asked.bundle / name) for _ in range(asked.rounds)]
    print(json.dumps(shown, indent=2))


if __name__ == "__main__":
    main()
