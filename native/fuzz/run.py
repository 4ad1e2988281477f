"""Runs every fuzz target for a while: `python native/fuzz/run.py [--seconds N]`, or `make fuzz`.

Builds them with clang in `build/fuzz` first. The committed seeds are copied, so that what the fuzzer finds stays out of
the sources; a find is left beside the build, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
BUILD = HERE.parents[1] / "build" / "fuzz"


def clang() -> tuple[str, str]:
    """Return the newest clang and clang++ of the path."""
    for suffix in ("", *(f"-{version}" for version in range(22, 13, -1))):
        pair = shutil.which(f"clang{suffix}"), shutil.which(f"clang++{suffix}")
        if pair[0] and pair[1]:
            return pair[0], pair[1]
    sys.exit("please install clang and its runtime first (Debian: clang libclang-rt-dev)")


def built() -> list[Path]:
    """Build the targets and return them."""
    c, cxx = clang()
    options = [f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}", f"-DPython3_EXECUTABLE={sys.executable}"]
    switches = ["-DELIZA_BUILD_TESTS=ON", "-DELIZA_FUZZ=ON", "-DGGML_OPENMP=OFF", "-DELIZA_WARNINGS_AS_ERRORS=OFF"]
    names = [path.stem for path in sorted(HERE.glob("*_fuzz.cpp"))]
    configure = ["cmake", "-S", str(HERE.parent), "-B", str(BUILD), "-G", "Ninja", *options, *switches]
    build = ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count() or 2), "--target", *names]
    for command in (configure, build):
        subprocess.run(command, check=True)
    return [BUILD / "fuzz" / name for name in names]


def run(target: Path, seconds: int) -> bool:
    """Fuzz one target; return whether it found nothing."""
    name = target.name.removesuffix("_fuzz")
    corpus = BUILD / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_total_time={seconds}", "-max_len=65536", "-rss_limit_mb=4096", "-print_final_stats=1"]
    found = ["-artifact_prefix=" + str(BUILD / f"{name}-")]
    return subprocess.run([str(target), *limits, *found, corpus, HERE / "corpus" / name], check=False).returncode == 0


def main() -> int:
    """Build, then fuzz each target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    asked = parser.parse_args()
    failed = [target.name for target in built() if not run(target, asked.seconds)]
    if failed:
        print("found something: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
