"""One look at the host: complete here, and no probe can spoil it for the others."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Never

import anyio
import pytest
from blockbuster import blockbuster_ctx
from tests.support.fake_host import MACHINE, backend
from tests.support.manifests import decoded, document

from eliza_capabilities.fit import Refusal, judge_fit
from eliza_capabilities.probe import PROBES, Probes, judge_backend, probe_host
from eliza_capabilities.probes.memory import look_at_memory
from eliza_capabilities.probes.reading import ProbeFault
from eliza_capabilities.report import Absent, HostReport, LibraryFacts, OperatingSystem
from eliza_catalog.contract import judge_manifest
from eliza_catalog.errors import FitError
from eliza_catalog.terms import Backend, Kernel

LIBRARY = LibraryFacts(
    version="0.1.0", backends=(backend(Backend.CPU),), kernels=frozenset({Kernel.MTP}), cpu_features=frozenset()
)


def look(state_dir: Path, *, probes: Probes = PROBES, deadline_s: float = 2.0, loop: str = "asyncio") -> HostReport:
    async def once() -> HostReport:
        return await probe_host(LIBRARY, state_dir, probes=probes, deadline_s=deadline_s)

    return anyio.run(once, backend=loop)


def failing(*_: object) -> Never:
    raise ProbeFault("the source is gone")


def hanging(*_: object) -> Never:
    threading.Event().wait(30)
    raise AssertionError("nobody waits that long")


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
@pytest.mark.parametrize(("fault", "words"), [(failing, "the source is gone"), (hanging, "no answer within 0.1 s")])
def test_a_probe_that_fails_or_hangs_costs_its_own_line_only(
    tmp_path: Path, fault: object, words: str, loop: str
) -> None:
    probes = replace(PROBES, machine=fault, conditions=fault)  # type: ignore[arg-type]
    report = look(tmp_path, probes=probes, deadline_s=0.1, loop=loop)
    for absent in (report.machine.cpu_features, report.machine.cpu_model, report.conditions.on_battery):
        assert isinstance(absent, Absent)
        assert words in absent.reason
    assert report.memory.total_mib > 0
    assert report.storage.free_bytes > 0


@pytest.mark.parametrize("part", ["memory", "storage"])
@pytest.mark.parametrize("fault", [failing, hanging])
def test_without_memory_or_storage_nothing_can_be_judged(tmp_path: Path, part: str, fault: object) -> None:
    probes = replace(PROBES, **{part: fault})  # type: ignore[arg-type]
    with pytest.raises(FitError) as caught:
        look(tmp_path, probes=probes, deadline_s=0.1)
    assert caught.value.code == "fit.host_unreadable"
    assert caught.value.details["fault"]


def test_a_mistake_of_ours_in_a_probe_is_not_hidden(tmp_path: Path) -> None:
    def mistaken() -> Never:
        raise TypeError("ours")

    with pytest.raises(ExceptionGroup) as caught:
        look(tmp_path, probes=replace(PROBES, conditions=mistaken))
    assert caught.group_contains(TypeError, match="ours")


def test_a_hanging_probe_does_not_keep_the_program_from_ending(tmp_path: Path) -> None:
    call = f"look_with_a_hang(Path({str(tmp_path)!r}))"
    program = f"from pathlib import Path; from tests.capabilities.test_probe import *; {call}"
    started = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), str(Path.cwd())])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - started < 15


def look_with_a_hang(state_dir: Path) -> None:
    look(state_dir, probes=replace(PROBES, conditions=hanging), deadline_s=0.1)


def test_a_state_folder_whose_place_is_a_file_cannot_be_judged(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(FitError) as caught:
        look(tmp_path / "taken" / "state")
    assert "taken by a file" in caught.value.details["fault"]


# --- this host ------------------------------------------------------------------------------------


def test_this_host_is_seen_whole_and_fast(tmp_path: Path) -> None:
    report = look(tmp_path / "not" / "there" / "yet")
    assert report.memory.total_mib >= report.memory.available_mib > 0
    assert report.memory == replace(look_at_memory(), available_mib=report.memory.available_mib)
    assert report.storage.total_bytes >= report.storage.free_bytes > 0
    assert report.storage.writable
    assert not isinstance(report.machine.cpu_features, Absent)
    assert report.machine.cpu_features
    assert report.machine.logical_cores == os.cpu_count()
    assert report.kernels == LIBRARY.kernels
    assert report.library == "0.1.0"
    assert report.probe_ms < 1000
    assert not list(tmp_path.iterdir()), "a probe leaves nothing behind"


def test_the_loop_is_never_blocked(tmp_path: Path) -> None:
    with blockbuster_ctx():
        assert look(tmp_path).memory.total_mib > 0


def test_a_cancelled_look_ends_at_once(tmp_path: Path) -> None:
    async def cancelled() -> bool:
        with anyio.move_on_after(0.05) as scope:
            await probe_host(LIBRARY, tmp_path, probes=replace(PROBES, memory=hanging), deadline_s=20)
        return scope.cancelled_caught

    started = time.monotonic()
    assert anyio.run(cancelled)
    assert time.monotonic() - started < 5


def test_the_report_is_versioned_json(tmp_path: Path) -> None:
    document = json.loads(json.dumps(look(tmp_path).as_json(), allow_nan=False))
    assert document["schema"] == 1
    assert document["backends"][0] == {
        "backend": "cpu",
        "devices": [],
        "usable": True,
        "reason": "compiled in",
    }
    assert document["kernels"] == ["mtp"]
    assert document["probed_at"].endswith("+00:00")


def test_todays_official_bundles_are_refused_here_by_their_kernels(tmp_path: Path) -> None:
    verdict = judge_fit(look(tmp_path), judge_manifest(decoded(document())))
    assert isinstance(verdict, Refusal)
    assert verdict.reasons[0].code == "fit.kernel_missing"


# --- the library's needs against the processor ----------------------------------------------------


@pytest.mark.parametrize("spelling", ["AVX512_VNNI", "avx512vnni", "avx512_vnni"])
def test_code_made_for_another_processor_is_unusable(spelling: str) -> None:
    library = replace(LIBRARY, cpu_features=frozenset({"AVX2", spelling}))
    judged = judge_backend(backend(Backend.CPU), library, MACHINE)
    assert not judged.usable
    assert "avx512vnni" in judged.reason


def test_an_unknown_processor_is_not_held_against_the_library() -> None:
    library = replace(LIBRARY, cpu_features=frozenset({"AVX2"}))
    unknown = replace(MACHINE, cpu_features=Absent("the system does not tell"))
    assert judge_backend(backend(Backend.CPU), library, unknown).usable
    assert judge_backend(backend(Backend.VULKAN), library, MACHINE).usable
    assert judge_backend(backend(Backend.CPU), library, MACHINE).usable


def test_what_windows_does_not_tell_is_not_held_against_the_library() -> None:
    windows = replace(MACHINE, os=OperatingSystem.WINDOWS, cpu_features=frozenset({"avx2"}))
    silent = replace(LIBRARY, cpu_features=frozenset({"AVX2", "FMA", "F16C", "BMI2"}))
    assert judge_backend(backend(Backend.CPU), silent, windows).usable
    told = replace(LIBRARY, cpu_features=frozenset({"AVX512"}))
    assert not judge_backend(backend(Backend.CPU), told, windows).usable
