"""The C++ tests, built twice: with address, leak and undefined-behaviour checks, and with data-race checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILDS = ROOT / "build"
SOURCES = sorted((ROOT / "native" / "tests").glob("*_test.c*"))
FUZZERS = sorted((ROOT / "native" / "fuzz").glob("*_fuzz.cpp"))
# Threads meet in these; the others would only be slow there.
THREADED = ("race_test", "lifecycle_test", "slots_test")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def build(folder: Path, *flags: str, targets: tuple[str, ...] = ()) -> Path:
    """Configure and build; llama.cpp's own objects come from the compiler cache."""
    options = ["-DELIZA_BUILD_TESTS=ON", f"-DPython3_EXECUTABLE={sys.executable}", *flags]
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(folder), "-G", "Ninja", *options]
    wanted = ["--target", *targets] if targets else []
    for command in (configure, ["cmake", "--build", str(folder), "-j", str(os.cpu_count() or 2), *wanted]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return folder


def run(folder: Path, name: str) -> None:
    command = ["ctest", "--test-dir", str(folder), "-R", f"^{name}$", "--output-on-failure", "--no-tests=error"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


@pytest.fixture(scope="session")
def built() -> Path:
    # With the other runtimes' places in, every story must end as it does without them.
    options = ("SANITIZE", "ENABLE_LITERT", "ENABLE_MLX")
    return build(BUILDS / "native-tests", *(f"-DELIZA_{option}=ON" for option in options))


@pytest.fixture(scope="session")
def watched() -> Path:
    return build(BUILDS / "native-threads", "-DELIZA_SANITIZE_THREADS=ON", targets=THREADED)


def test_there_are_cpp_tests() -> None:
    assert SOURCES
    assert {path.stem for path in SOURCES} > set(THREADED)


@pytest.mark.parametrize("name", [*(path.stem for path in (*SOURCES, *FUZZERS)), "native_verify", "talk", "reopen"])
def test_cpp(built: Path, name: str) -> None:
    run(built, name)


@pytest.mark.parametrize("name", THREADED)
def test_threads_meet_without_a_race(watched: Path, name: str) -> None:
    run(watched, name)
