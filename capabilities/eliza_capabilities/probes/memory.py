"""How much RAM this process may use, and how much of it is free now.

On Linux and Android from `/proc` and the control groups, on Windows and iOS from the system's own calls, on
macOS from psutil where it is installed and else from `sysctl` and `vm_stat`. Page cache counts as free,
swap does not count at all, and nothing is rounded up (contract section 7, rule 1).
"""

from __future__ import annotations

import ctypes
import os
import re
from dataclasses import dataclass
from pathlib import Path

from eliza_capabilities.probes.cgroup import GroupLimit, read_group_limits
from eliza_capabilities.probes.reading import ProbeFault, read_text, run_command, windows_kernel
from eliza_capabilities.probes.system import ROOT, THIS_SYSTEM
from eliza_capabilities.report import MemoryReport, OperatingSystem

_MIB = 1 << 20
_MEMINFO_LINE = re.compile(r"(\w+(?:\(\w+\))?):\s+(\d+)(?:\s+kB)?\s*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ram:
    """The machine's RAM in bytes, before any limit."""

    total_bytes: int
    available_bytes: int


def parse_meminfo(text: str) -> Ram:
    """Read `/proc/meminfo`.

    Raises:
        ProbeFault: the total is missing or zero.
    """
    matches = (_MEMINFO_LINE.fullmatch(line) for line in text.splitlines())
    kib = {match[1]: int(match[2]) for match in matches if match}
    total_kib = kib.get("MemTotal", 0)
    if not total_kib:
        raise ProbeFault("meminfo: no MemTotal")
    available_kib = kib.get("MemAvailable", _old_available_kib(kib))
    return Ram(total_bytes=total_kib * 1024, available_bytes=min(available_kib, total_kib) * 1024)


def _old_available_kib(kib: dict[str, int]) -> int:
    # kernels before 3.14 do not say; what can be dropped is the cache without the shared memory in it
    cache = kib.get("Cached", 0) + kib.get("Buffers", 0) + kib.get("SReclaimable", 0) - kib.get("Shmem", 0)
    return kib.get("MemFree", 0) + max(0, cache)


def parse_vm_stat(text: str, total_bytes: int) -> Ram:
    """Read macOS's `vm_stat`: free, inactive, speculative and purgeable pages are available.

    Raises:
        ProbeFault: the page size is missing.
    """
    page = re.search(r"page size of (\d+) bytes", text, re.ASCII)
    if not page:
        raise ProbeFault("vm_stat: no page size")
    lines = re.findall(r"^Pages (free|inactive|speculative|purgeable):\s+(\d+)\.", text, re.ASCII | re.MULTILINE)
    available_bytes = sum(int(count) for _, count in lines) * int(page[1])
    return Ram(total_bytes=total_bytes, available_bytes=min(available_bytes, total_bytes))


def limit_ram(ram: Ram, limits: tuple[GroupLimit, ...]) -> MemoryReport:
    """Return the report of a machine's RAM under limits: the smallest total, the smallest available."""
    tightest = min(limits, key=lambda limit: limit.limit_bytes, default=None)
    limited = tightest is not None and tightest.limit_bytes < ram.total_bytes
    total_bytes = tightest.limit_bytes if tightest is not None and limited else ram.total_bytes
    available_bytes = min([ram.available_bytes, total_bytes, *(limit.available_bytes for limit in limits)])
    return MemoryReport(
        total_mib=total_bytes // _MIB,
        available_mib=available_bytes // _MIB,
        limit_source=tightest.source if tightest is not None and limited else "host",
    )


def look_at_memory(root: Path = ROOT, system: OperatingSystem = THIS_SYSTEM) -> MemoryReport:
    """Return this process's memory report.

    Args:
        root: `/`, or on Linux a tree that looks like one.
        system: whose sources to ask.

    Raises:
        ProbeFault: no source of this system answers.
    """
    match system:
        case OperatingSystem.LINUX | OperatingSystem.ANDROID:
            return limit_ram(parse_meminfo(read_text(root / "proc/meminfo")), read_group_limits(root))
        case OperatingSystem.WINDOWS:
            return limit_ram(_windows_ram(), ())
        case OperatingSystem.IOS:
            return limit_ram(_ios_ram(), ())
        case _:
            return limit_ram(_desktop_ram(), ())


def _desktop_ram() -> Ram:
    try:
        import psutil  # here, not above: it has no phone wheels
    except ImportError:
        return parse_vm_stat(run_command("vm_stat"), int(run_command("sysctl", "-n", "hw.memsize")))
    seen = psutil.virtual_memory()
    return Ram(total_bytes=seen.total, available_bytes=seen.available)


def _ios_ram() -> Ram:
    # what the system lets one app take counts, not what the phone has
    system = ctypes.CDLL(None)
    system.os_proc_available_memory.restype = ctypes.c_size_t
    total_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return Ram(total_bytes=total_bytes, available_bytes=system.os_proc_available_memory())


class _MemoryStatus(ctypes.Structure):
    _fields_ = (
        ("dwLength", ctypes.c_uint32),
        ("dwMemoryLoad", ctypes.c_uint32),
        ("ullTotalPhys", ctypes.c_uint64),
        ("ullAvailPhys", ctypes.c_uint64),
        ("ullTotalPageFile", ctypes.c_uint64),
        ("ullAvailPageFile", ctypes.c_uint64),
        ("ullTotalVirtual", ctypes.c_uint64),
        ("ullAvailVirtual", ctypes.c_uint64),
        ("ullAvailExtendedVirtual", ctypes.c_uint64),
    )


def _windows_ram() -> Ram:
    status = _MemoryStatus(dwLength=ctypes.sizeof(_MemoryStatus))
    if not windows_kernel().GlobalMemoryStatusEx(ctypes.byref(status)):
        raise ProbeFault("GlobalMemoryStatusEx failed")
    return Ram(total_bytes=status.ullTotalPhys, available_bytes=status.ullAvailPhys)
