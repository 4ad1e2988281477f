"""Hosts that are not this one: reports to judge by, and the folder trees that probes read.

`host()` is a roomy x64 Linux whose library has everything; tests change what their story is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from eliza_capabilities.report import (
    Absent,
    BackendReport,
    ConditionsReport,
    DeviceReport,
    HostReport,
    MachineReport,
    MemoryReport,
    OperatingSystem,
    StorageReport,
)
from eliza_catalog.terms import Backend, Kernel

HOSTS = Path(__file__).parents[1] / "fixtures" / "hosts"
GIB_IN_MIB = 1024


def backend(name: Backend, *, usable: bool = True, memory_mib: int | Absent | None = None) -> BackendReport:
    """Return a backend's report, with one device unless `memory_mib` is None."""
    device = DeviceReport(
        name=f"{name}0",
        description="a device",
        memory_total_mib=memory_mib if memory_mib is not None else Absent("no device"),
        memory_free_mib=Absent("not asked"),
    )
    reason = "compiled in" if usable else "no device"
    return BackendReport(backend=name, devices=() if memory_mib is None else (device,), usable=usable, reason=reason)


MACHINE = MachineReport(
    os=OperatingSystem.LINUX,
    arch="x64",
    cpu_model="a processor",
    physical_cores=8,
    logical_cores=16,
    cpu_features=frozenset({"avx2", "fma", "f16c"}),
)


def host(
    *,
    total_mib: int = 64 * GIB_IN_MIB,
    available_mib: int | None = None,
    machine: MachineReport = MACHINE,
    backends: tuple[BackendReport, ...] = (backend(Backend.CPU),),
    kernels: frozenset[Kernel] = frozenset(Kernel),
    kernels_missing: Mapping[Kernel, str] | None = None,
    free_bytes: int = 1 << 40,
    limit_source: str = "host",
) -> HostReport:
    """Return a host's report."""
    return HostReport(
        machine=machine,
        memory=MemoryReport(
            total_mib=total_mib,
            available_mib=total_mib if available_mib is None else available_mib,
            limit_source=limit_source,
        ),
        storage=StorageReport(
            path="/state", free_bytes=free_bytes, total_bytes=1 << 41, hardlinks=True, sparse_files=True, writable=True
        ),
        backends=backends,
        kernels=kernels,
        kernels_missing=kernels_missing or {},
        conditions=ConditionsReport(on_battery=False, metered=Absent("not asked")),
        library="0.1.0",
        probed_at=datetime(2026, 11, 30, tzinfo=UTC),
        probe_ms=1,
    )


def apple() -> MachineReport:
    """Return the machine of an Apple computer with its own processor."""
    return replace(MACHINE, os=OperatingSystem.MACOS, arch="arm64", cpu_features=frozenset({"neon"}))


def phone() -> MachineReport:
    """Return the machine of an Android phone."""
    return replace(MACHINE, os=OperatingSystem.ANDROID, arch="arm64", cpu_features=frozenset({"neon", "dotprod"}))
