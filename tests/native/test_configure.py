"""What the native build refuses before it compiles anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
pytestmark = pytest.mark.slow


def configure(source: Path, build: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", str(source), "-B", str(build), f"-DPython3_EXECUTABLE={sys.executable}", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})


def reason(done: subprocess.CompletedProcess[str]) -> str:
    """The message on one line, as CMake breaks it anywhere."""
    assert done.returncode != 0
    return " ".join(done.stderr.split())


def test_another_ggml_in_the_same_build_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.22)\nproject(host C CXX)\nadd_library(ggml INTERFACE)\n"
        f'add_subdirectory("{NATIVE.as_posix()}" eliza)\n'
    )
    assert "allows exactly one" in reason(configure(tmp_path, tmp_path / "build"))


def test_the_systems_ggml_is_refused(tmp_path: Path) -> None:
    assert "brings a second ggml" in reason(configure(NATIVE, tmp_path, "-DLLAMA_USE_SYSTEM_GGML=ON"))


def test_a_named_tree_that_is_none_is_refused(tmp_path: Path) -> None:
    done = configure(NATIVE, tmp_path / "build", ELIZA_LLAMA_CPP_DIR=str(tmp_path))
    assert "holds no llama.cpp tree" in reason(done)


@pytest.mark.parametrize("line", ["sha256=", "ggml="])
def test_a_pin_that_does_not_name_its_tree_is_refused(tmp_path: Path, line: str) -> None:
    # The pin alone is changed: everything else is the real source, by links.
    for each in NATIVE.iterdir():
        (tmp_path / each.name).symlink_to(each)
    (tmp_path / "llama.cpp.pin").unlink()
    lines = (NATIVE / "llama.cpp.pin").read_text().splitlines()
    assert any(each.startswith(line) for each in lines)
    changed = [line + ("0" * 64 if "sha" in line else "9.9.9") if each.startswith(line) else each for each in lines]
    (tmp_path / "llama.cpp.pin").write_text("\n".join(changed) + "\n")
    done = configure(tmp_path, tmp_path / "build", ELIZA_LLAMA_CPP_DIR="")
    assert done.returncode != 0
    assert ("could not be fetched" if "sha" in line else "the pin says 9.9.9") in reason(done)
