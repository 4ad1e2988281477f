"""The C++ tests, built with address, leak and undefined-behaviour checks, each shown as a test of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "native-tests"
SOURCES = sorted((ROOT / "native" / "tests").glob("*_test.c*"))
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]


@pytest.fixture(scope="session")
def built() -> Path:
    """Configure and build the C++ tests once; llama.cpp's own objects come from the compiler cache."""
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(BUILD), "-G", "Ninja"]
    # With the other runtimes' places in, every story must end as it does without them.
    options = ("BUILD_TESTS", "SANITIZE", "ENABLE_LITERT", "ENABLE_MLX")
    flags = [*(f"-DELIZA_{option}=ON" for option in options), f"-DPython3_EXECUTABLE={sys.executable}"]
    for command in ([*configure, *flags], ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count() or 2)]):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return BUILD


def test_there_are_cpp_tests() -> None:
    assert SOURCES


@pytest.mark.parametrize("name", [*(path.stem for path in SOURCES), "native_verify", "talk"])
def test_cpp(built: Path, name: str) -> None:
    command = ["ctest", "--test-dir", str(built), "-R", f"^{name}$", "--output-on-failure", "--no-tests=error"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
