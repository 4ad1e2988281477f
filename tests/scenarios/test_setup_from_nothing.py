"""The main job through the command line: from nothing to an answer, and every way it must refuse."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.native_library import native_library, tiny_bundle

from eliza_catalog.errors import ExitCode
from eliza_catalog.manifest import MANIFEST_NAME
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT

pytestmark = pytest.mark.timeout(240)


@dataclass(frozen=True)
class Done:
    code: int
    document: dict[str, Any]
    error: dict[str, Any]


def agent(state: Path, *words: str, env: dict[str, str] | None = None) -> Done:
    """Run the real command line in a process of its own, with `--json`."""
    command = [sys.executable, "-m", "eliza_agent", *words, "--json"]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "ELIZA_STATE_DIR": str(state), **(env or {})}
    environment["ELIZA_NATIVE_LIB"] = str(native_library().path)
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    error = json.loads(done.stderr) if done.returncode and done.stderr.startswith("{") else {}
    return Done(done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, error)


@pytest.fixture
def hub_folder(tmp_path: Path) -> Path:
    """A copy of the staged tiny bundle that a story may damage."""
    root, _ = tiny_bundle()
    folder = tmp_path / "hub"
    shutil.copytree(root, folder / "bundles" / root.name)
    return folder


@contextmanager
def hub(folder: Path, log: Path) -> Iterator[str]:
    command = [
        sys.executable,
        "-m",
        "eliza_agent",
        "hub",
        str(folder),
        "--port",
        "0",
        "--request-log",
        str(log),
        "--json",
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        try:
            yield json.loads(process.stderr.readline())["hub"]
        finally:
            process.kill()


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    (place,) = folder.rglob(MANIFEST_NAME)
    document = json.loads(place.read_bytes())
    change(document)
    place.write_text(json.dumps(document), "utf-8")


def asked_paths(log: Path) -> list[str]:
    return [json.loads(line)["path"] for line in log.read_text("utf-8").splitlines()]


def setup(state: Path, address: str, *more: str) -> Done:
    return agent(state, "setup", "--hub", address, "--allow-standin", "--yes", *more)


def test_from_nothing_to_a_spoken_answer(tmp_path: Path, hub_folder: Path) -> None:
    state = tmp_path / "Zoë's state"
    with hub(hub_folder, tmp_path / "log") as address:
        first = setup(state, address)
        before = len(asked_paths(tmp_path / "log"))
        second = setup(state, address)
        again = asked_paths(tmp_path / "log")[before:]
    assert first.code == second.code == 0
    assert first.document["status"]["state"] == "ready"
    assert [step["passed"] for step in first.document["report"]["steps"]] == [True] * 5
    assert all(path.endswith(MANIFEST_NAME) for path in again), "a second run fetches no weight again"
    assert agent(state, "status").document["active"]["standin"] is True
    answer = agent(state, "ask", "Hello?", "--speak", str(tmp_path / "a.wav"))
    assert answer.document["text"].strip() == TINY_TEXT
    with wave.open(str(tmp_path / "a.wav")) as sound:
        assert sound.getframerate() == 24_000
        assert sound.getnframes() > 24_000
    assert agent(state, "verify").document["passed"] is True
    assert agent(state, "rollback").code == ExitCode.NOT_SET_UP
    key = agent(state, "list").document["bundles"][0]["key"]
    assert agent(state, "remove", key).code == ExitCode.BUSY


def test_a_standin_is_refused_unless_it_was_asked_for(tmp_path: Path, hub_folder: Path) -> None:
    with hub(hub_folder, tmp_path / "log") as address:
        done = agent(tmp_path / "state", "setup", "--hub", address, "--yes")
    assert (done.code, done.error["code"]) == (ExitCode.REFUSED, "contract.standin_refused")
    assert all(path.endswith(MANIFEST_NAME) for path in asked_paths(tmp_path / "log"))


def want_another_kernel(document: dict[str, Any]) -> None:
    document["kernels"]["required"] = ["mtp", "warp_drive"]


def want_missing_kernel_and_memory(document: dict[str, Any]) -> None:
    document["kernels"]["required"] = ["mtp", "turboquant_q4"]
    document["ramBudgetMb"] = {"min": 99_000_000, "recommended": 99_000_000}


@pytest.mark.parametrize("change", [want_another_kernel, want_missing_kernel_and_memory])
def test_what_does_not_fit_is_refused_before_any_weight(
    change: Callable[[dict[str, Any]], None], tmp_path: Path, hub_folder: Path
) -> None:
    change_manifest(hub_folder, change)
    with hub(hub_folder, tmp_path / "log") as address:
        done = setup(tmp_path / "state", address)
    assert done.code == ExitCode.REFUSED
    if change is want_missing_kernel_and_memory:
        codes = {reason["code"] for reason in done.error["details"]["reasons"]}
        assert codes == {"fit.kernel_missing", "fit.ram_below_floor"}
    paths = asked_paths(tmp_path / "log")
    assert paths
    assert all(path.endswith(MANIFEST_NAME) for path in paths)


def test_one_flipped_byte_activates_nothing(tmp_path: Path, hub_folder: Path) -> None:
    (text,) = hub_folder.rglob("text/*.gguf")
    data = bytearray(text.read_bytes())
    data[len(data) // 2] ^= 1
    text.write_bytes(data)
    with hub(hub_folder, tmp_path / "log") as address:
        done = setup(tmp_path / "state", address)
    assert (done.code, done.error["code"]) == (ExitCode.INTEGRITY, "integrity.digest")
    assert agent(tmp_path / "state", "status").document["state"] == "not-set-up"


def test_a_hub_that_is_not_there_is_a_network_error(tmp_path: Path) -> None:
    done = setup(tmp_path / "state", "http://127.0.0.1:9")
    assert (done.code, done.error["code"]) == (ExitCode.NETWORK, "download.offline")


def test_a_size_that_is_none_is_usage(tmp_path: Path) -> None:
    assert agent(tmp_path / "state", "setup", "--tier", "3b").code == ExitCode.USAGE
