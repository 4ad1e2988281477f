"""The main job through the command line: from nothing to an answer, and every way it must refuse."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.hostile_hub import hostile_hub
from tests.support.native_library import native_library, tiny_bundle

from eliza_catalog.errors import ExitCode
from eliza_catalog.manifest import MANIFEST_NAME
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


@dataclass(frozen=True)
class Done:
    code: int
    document: dict[str, Any]
    error: dict[str, Any]


def started(state: Path, *words: str) -> subprocess.Popen[str]:
    """Start the real command line in a process of its own, with `--json`."""
    command = [sys.executable, "-m", "eliza_agent", *words, "--json"]
    paths = os.pathsep.join(path for path in sys.path if path)
    environment = {**os.environ, "PYTHONPATH": paths, "ELIZA_STATE_DIR": str(state)}
    environment["ELIZA_NATIVE_LIB"] = str(native_library().path)
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def agent(state: Path, *words: str) -> Done:
    """Run the real command line to its end."""
    with started(state, *words) as process:
        out, err = process.communicate()
    error = json.loads(err) if process.returncode and err.startswith("{") else {}
    return Done(process.returncode, json.loads(out) if out.strip() else {}, error)


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
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["hub"]
        finally:
            process.kill()


def change_manifest(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    (place,) = folder.rglob(MANIFEST_NAME)
    document = json.loads(place.read_bytes())
    change(document)
    place.write_text(json.dumps(document), "utf-8")


def asked_paths(log: Path) -> list[str]:
    return [json.loads(line)["path"] for line in log.read_text("utf-8").splitlines()]


def setup_words(address: str) -> list[str]:
    return ["setup", "--hub", address, "--allow-standin", "--yes"]


def setup(state: Path, address: str) -> Done:
    return agent(state, *setup_words(address))


def test_from_nothing_to_a_spoken_answer(tmp_path: Path, hub_folder: Path) -> None:
    state = tmp_path / "Zoë's state"
    with hub(hub_folder, tmp_path / "log") as address:
        first = setup(state, address)
        before = len(asked_paths(tmp_path / "log"))
        second = setup(state, address)
        again = asked_paths(tmp_path / "log")[before:]
    assert first.code == second.code == 0
    assert first.document["status"]["state"] == "ready"
    assert [step["passed"] for step in first.document["report"]["steps"]] == [True] * 6
    assert all(path.endswith(MANIFEST_NAME) for path in again), "a second run fetches no weight again"
    assert agent(state, "status").document["active"]["standin"] is True
    answer = agent(state, "ask", "Hello?", "--speak", str(tmp_path / "a.wav"))
    assert answer.document["text"].strip() == TINY_TEXT
    assert answer.document["was_cut"] is False
    short = agent(state, "ask", "Hello?", "--max-tokens", "2").document
    assert (short["tokens"], short["was_cut"]) == (2, True)
    with wave.open(str(tmp_path / "a.wav")) as sound:
        assert sound.getframerate() == 24_000
        assert sound.getnframes() > 24_000
    assert agent(state, "verify").document["passed"] is True
    interrupt_a_proof(state)
    assert agent(state, "rollback").code == ExitCode.NOT_SET_UP
    key = agent(state, "list").document["bundles"][0]["key"]
    assert agent(state, "remove", key).code == ExitCode.BUSY
    lose_a_file(state)
    with hub(hub_folder, tmp_path / "log") as address:
        repaired = setup(state, address)
    assert (repaired.code, repaired.document["status"]["state"]) == (0, "ready")


def interrupt_a_proof(state: Path) -> None:
    """Ctrl-C at many moments of the device pass ends in order and leaves the proof as it was."""
    for moment_s in (0.2, 0.6, 1.0, 1.2, 1.4, 1.8):
        with started(state, "verify") as process:
            time.sleep(moment_s)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate()
        assert process.returncode in (0, 130, -signal.SIGINT), told  # the last: before a verb ran
        assert "Traceback" not in told
    assert agent(state, "status").document["state"] == "ready"


def lose_a_file(state: Path) -> None:
    """A file that is gone is an integrity error with a way out, for asking and for proving."""
    (preset,) = state.rglob("bundles/*/cache/*.bin")
    preset.unlink()
    assert agent(state, "status").document["state"] == "broken"
    for words in (["ask", "Hello?"], ["verify"]):
        done = agent(state, *words)
        assert (done.code, done.error["code"]) == (ExitCode.INTEGRITY, "integrity.missing")


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


@pytest.mark.parametrize("moment", [0.3, 0.8])
def test_sigkill_in_mid_download_costs_nothing(tmp_path: Path, moment: float) -> None:
    root, manifest = tiny_bundle()
    files = {f"bundles/{root.name}/{path.relative_to(root).as_posix()}": path.read_bytes() for path in files_of(root)}
    wanted = {one.path.text: one.sha256.hex for group in manifest.files.values() for one in group}
    total = sum((root / path).stat().st_size for path in wanted)
    state = tmp_path / "state"
    with hostile_hub(files) as hub:
        hub.bytes_per_s = total / 4
        with started(state, *setup_words(hub.url)) as process:
            while hub.bytes_sent() < moment * total:
                assert process.poll() is None, "it was killed too late to show anything"
                time.sleep(0.01)
            process.kill()
        hub.bytes_per_s = None
        done = setup(state, hub.url)
        served = hub.bytes_sent()
    assert (done.code, done.document["status"]["state"]) == (0, "ready")
    assert served <= 1.05 * total
    (place,) = [path.parent for path in state.rglob(MANIFEST_NAME) if "bundles" in path.parts]
    assert {path: hashlib.sha256((place / path).read_bytes()).hexdigest() for path in wanted} == wanted


def files_of(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_hub_that_is_not_there_is_a_network_error(tmp_path: Path) -> None:
    done = setup(tmp_path / "state", "http://127.0.0.1:9")
    assert (done.code, done.error["code"]) == (ExitCode.NETWORK, "download.offline")


def test_a_size_that_is_none_is_usage(tmp_path: Path) -> None:
    assert agent(tmp_path / "state", "setup", "--tier", "3b").code == ExitCode.USAGE
