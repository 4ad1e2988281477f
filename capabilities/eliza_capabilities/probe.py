"""The one look at this host: a table of probes, one task group, a deadline for each.

A probe that fails or hangs costs its own line of the report; memory and storage alone are indispensable,
since nothing can be judged without them. Asks the library nothing (its facts are given, house section 4)
and judges no bundle (contract section 7, rules 1 and 3).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, TypeVar

import anyio

from eliza_capabilities.probes.conditions import look_at_conditions, unknown_conditions
from eliza_capabilities.probes.features import canonical_features, told_features
from eliza_capabilities.probes.machine import look_at_machine, unknown_machine
from eliza_capabilities.probes.memory import look_at_memory
from eliza_capabilities.probes.reading import ProbeFault
from eliza_capabilities.probes.storage import look_at_storage
from eliza_capabilities.report import (
    Absent,
    BackendReport,
    ConditionsReport,
    HostReport,
    LibraryFacts,
    MachineReport,
    MemoryReport,
    StorageReport,
)
from eliza_catalog.errors import FitError
from eliza_catalog.terms import Backend

DEFAULT_DEADLINE_S = 2.0
_GLANCE_S = 0.002

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """The table: one looker per part of the report. Each blocks, in a thread of its own."""

    machine: Callable[[], MachineReport] = look_at_machine
    memory: Callable[[], MemoryReport] = look_at_memory
    storage: Callable[[Path], StorageReport] = look_at_storage
    conditions: Callable[[], ConditionsReport] = look_at_conditions


PROBES = Probes()


class _Line(Generic[T]):
    """One part of the report while it is being looked at."""

    def __init__(self, name: str, look: Callable[[], T], deadline_s: float) -> None:
        self._name, self._look, self._deadline_s = name, look, deadline_s
        self._found: T | None = None
        self._fault = ""

    async def fill(self) -> None:
        try:
            with anyio.fail_after(self._deadline_s):
                self._found = await _in_own_thread(self._name, self._look)
        except TimeoutError:
            self._fault = f"no answer within {self._deadline_s} s"
        except (ProbeFault, OSError, ValueError, LookupError, AttributeError) as error:
            self._fault = f"{type(error).__name__}: {error}"

    def or_else(self, unknown: Callable[[str], T]) -> T:
        return unknown(self._fault) if self._found is None else self._found

    def needed(self) -> T:
        if self._found is None:
            raise FitError(
                "host_unreadable",
                f"This device does not tell its {self._name}, so nothing can be judged for it.",
                details={"part": self._name, "fault": self._fault},
            )
        return self._found


async def probe_host(
    library: LibraryFacts, state_dir: Path, *, deadline_s: float = DEFAULT_DEADLINE_S, probes: Probes = PROBES
) -> HostReport:
    """Look at this host.

    Args:
        library: what the inference library says of itself.
        state_dir: where bundles are to be kept; it need not exist.
        deadline_s: how long each probe may take; they run side by side.
        probes: the table of probes.

    Returns:
        The report. Parts that could not be had are `Absent` with the reason.

    Raises:
        FitError: `fit.host_unreadable`, memory or storage cannot be had.
    """
    started = time.perf_counter()
    machine = _Line("processor", probes.machine, deadline_s)
    memory = _Line("memory", probes.memory, deadline_s)
    storage = _Line("disk space", lambda: probes.storage(state_dir), deadline_s)
    conditions = _Line("conditions", probes.conditions, deadline_s)
    async with anyio.create_task_group() as group:
        for fill in (machine.fill, memory.fill, storage.fill, conditions.fill):
            group.start_soon(fill)
    seen = machine.or_else(unknown_machine)
    return HostReport(
        machine=seen,
        memory=memory.needed(),
        storage=storage.needed(),
        backends=tuple(judge_backend(report, library, seen) for report in library.backends),
        kernels=library.kernels,
        kernels_missing=library.kernels_missing,
        conditions=conditions.or_else(unknown_conditions),
        library=library.version,
        probed_at=datetime.now(UTC),
        probe_ms=round((time.perf_counter() - started) * 1000),
    )


def judge_backend(report: BackendReport, library: LibraryFacts, machine: MachineReport) -> BackendReport:
    """Return the library's report of a backend, unusable if this processor lacks what its code was compiled for."""
    if report.backend is not Backend.CPU or not report.usable or isinstance(machine.cpu_features, Absent):
        return report
    known_lack = told_features(machine.os) - machine.cpu_features
    missing = sorted(canonical_features(library.cpu_features) & known_lack)
    if not missing:
        return report
    return replace(report, usable=False, reason=f"the library needs what this processor lacks: {', '.join(missing)}")


async def _in_own_thread(name: str, look: Callable[[], T]) -> T:
    # A worker of anyio's pool must end before the interpreter may; a look that hangs in the kernel (a dead
    # network disk) never does. A daemon thread is simply left behind.
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(look())
        except BaseException as error:  # noqa: BLE001 - carried to the awaiting task, which raises it
            future.set_exception(error)

    threading.Thread(target=run, name=f"probe {name}", daemon=True).start()
    while not future.done():  # noqa: ASYNC110 - an event would tie the thread to a loop that may be gone
        await anyio.sleep(_GLANCE_S)
    return future.result()
