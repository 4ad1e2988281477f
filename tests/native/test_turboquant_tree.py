"""A llama.cpp tree with further quantised types, named by `ELIZA_LLAMA_CPP_DIR`: found, tried and reported.

The tree is the pinned one with our own references behind the types' names, so this shows that the library finds and
proves whatever a tree brings, not how good a fork's device code is. Built by `make backends` only: minutes long.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.native.test_backends import ROOT, attempt, run
from tests.support.tiny_models import NOISE
from tests.support.turboquant_tree import make_tree, write_products

from eliza_catalog.parts.tiny_text import TARGET, write_tiny_text

BUILDS = ROOT / "build" / "turboquant"
pytestmark = [pytest.mark.backends, pytest.mark.timeout(3600)]

REPORT = """
import json
from eliza_native.library import open_library
report = open_library(None).report()
print(json.dumps({"ready": sorted(report.kernels), "missing": dict(report.kernels_missing),
                  "kv_types": report.kv_types}))
"""
TURN = """
import json, sys
from pathlib import Path
from tests.support.text_turns import run
from eliza_native.context import Context
from eliza_native.library import open_library
from eliza_native.text import StreamConfig
from eliza_catalog.errors import NativeError
with Context(open_library(None), Path(sys.argv[1])) as context:
    prompt = [11 + place * 37 % 250 for place in range(60)]
    config = StreamConfig(context_size=256, max_tokens=8, cache_type_k=sys.argv[2])
    try:
        print(json.dumps(run(context, prompt, config).tokens))
    except NativeError as error:
        sys.exit(error.details["said"])
"""


def pinned_tree() -> Path:
    """Return the unpacked tree that every other build here uses."""
    native = ROOT / "native"
    command = [sys.executable, str(native / "cmake" / "fetch_llama.py"), str(native / "llama.cpp.pin")]
    return Path(subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip())


def build(into: Path, *, spoiled: str = "") -> Path:
    """Build once for all stories, but for the file that is spoiled, and return a folder with a copy of the library."""
    tree = BUILDS / "tree"
    if not tree.is_dir():
        make_tree(pinned_tree(), tree)
    write_products(tree, spoiled=spoiled)
    folder = BUILDS / "build"
    environment = {**os.environ, "ELIZA_LLAMA_CPP_DIR": str(tree)}
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(folder), "-G", "Ninja"]
    compiling = ["cmake", "--build", str(folder), "-j", str(os.cpu_count() or 2), "--target", "elizainference"]
    for command in ([*configure, f"-DPython3_EXECUTABLE={sys.executable}"], compiling):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    shutil.copy(folder / "lib" / "libelizainference.so", into)
    return into


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("right"))


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a bundle whose heads are whole blocks of these types."""
    folder = tmp_path_factory.mktemp("wide")
    (folder / "text").mkdir()
    write_tiny_text(folder / "text" / "text.gguf", damp=NOISE, layers=replace(TARGET, sliding_head=TARGET.full_head))
    return folder


@pytest.fixture(scope="module")
def report(library: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads(run(library, REPORT))
    return told


def test_types_that_a_graph_multiplies_rightly_are_ready(report: dict[str, object]) -> None:
    assert report["ready"] == ["mtp", "polarquant", "turboquant_q3", "turboquant_q4"]
    assert report["kv_types"][-3:] == ["tbq3_0", "tbq4_0", "q4_polar"]  # type: ignore[index]


def test_types_that_nothing_multiplies_are_told_with_that_reason(report: dict[str, object]) -> None:
    missing = report["missing"]
    assert isinstance(missing, dict)
    assert set(missing) == {"qjl", "turbo3_tcq"}
    assert all("is there, but no graph operation" in reason for reason in missing.values())


@pytest.mark.parametrize("name", ["tbq3_0", "tbq4_0"])
def test_a_stream_remembers_in_a_type_that_is_proven(library: Path, wide: Path, name: str) -> None:
    plain = json.loads(run(library, TURN, str(wide), "f16"))
    assert json.loads(run(library, TURN, str(wide), name))[:1] == plain[:1]


@pytest.mark.parametrize("name", ["qjl1_256", "tbq3_tcq"])
def test_a_stream_refuses_a_type_that_nothing_multiplies(library: Path, wide: Path, name: str) -> None:
    done = attempt(library, TURN, str(wide), name)
    assert done.returncode == 1
    assert f"cache type '{name}' is not in this build; accepted: f16" in done.stderr


def test_a_type_that_multiplies_wrongly_is_not_ready(tmp_path: Path) -> None:
    told = json.loads(run(build(tmp_path, spoiled="tbq4_0"), REPORT))
    assert told["ready"] == ["mtp", "polarquant", "turboquant_q3"]
    assert "computes something else" in told["missing"]["turboquant_q4"]
