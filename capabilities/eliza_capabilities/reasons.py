"""Each reason for which a bundle does not fit a host, judged alone.

`fit` asks all of them of one bundle and `recommend` asks them of the tier table; neither stops at the first.
Compares whole MiB and bytes, never a rounded figure, and reads nothing but its arguments (contract section 7,
rules 1 and 3; contract section 3: what is not ready does not count).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eliza_capabilities.report import HostReport, MemoryReport, as_json
from eliza_catalog.manifest import RamBudget
from eliza_catalog.terms import Backend, Kernel

_BACKENDS_BY_MERIT = (Backend.METAL, Backend.CUDA, Backend.ROCM, Backend.VULKAN, Backend.CPU)
_GIB = 1 << 30
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FitReason:
    """One reason for a refusal: `message` and `remedy` for the user, `details` JSON for developers."""

    code: str
    message: str
    remedy: str
    details: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the reason as JSON values, in the shape of an error document."""
        return {"code": self.code, "message": self.message, "remedy": self.remedy, "details": dict(self.details)}


def judge_disk(host: HostReport, needed_bytes: int) -> FitReason | None:
    """Return `fit.disk_short` if `needed_bytes` (reserve included) are more than is free, else None."""
    free_bytes = host.storage.free_bytes
    if free_bytes >= needed_bytes:
        return None
    return FitReason(
        code="fit.disk_short",
        message=f"Eliza-1 needs {_size(needed_bytes)} of disk space; {_size(free_bytes)} are free.",
        remedy=f"Free at least {_size(needed_bytes - free_bytes)}, or choose another state folder.",
        details={"needed_bytes": needed_bytes, "free_bytes": free_bytes, "path": host.storage.path},
    )


def judge_kernels(host: HostReport, needed: frozenset[Kernel]) -> FitReason | None:
    """Return `fit.kernel_missing` if the library is not ready for every kernel needed, else None."""
    missing = sorted(needed - host.kernels)
    if not missing:
        return None
    what = "one operation" if len(missing) == 1 else f"{len(missing)} operations"
    return FitReason(
        code="fit.kernel_missing",
        message=f"The Eliza-1 library on this device lacks {what} that this version needs.",
        remedy="Update eliza-agent, or choose an Eliza-1 version made for this library.",
        details={
            "missing": [kernel.value for kernel in missing],
            "reasons": {kernel.value: host.kernels_missing.get(kernel, "not told") for kernel in missing},
            "needed": sorted(kernel.value for kernel in needed),
            "ready": sorted(kernel.value for kernel in host.kernels),
            "library": host.library,
        },
    )


def judge_ram(memory: MemoryReport, ram: RamBudget) -> FitReason | None:
    """Return `fit.ram_below_floor` if the total is below the bundle's floor, to the MiB, else None."""
    if memory.total_mib >= ram.min_mib:
        return None
    limited = memory.limit_source != "host"
    has = "Eliza-1 may use" if limited else "This device has"
    return FitReason(
        code="fit.ram_below_floor",
        message=f"{has} {memory.total_mib} MiB of memory; this version needs at least {ram.min_mib} MiB.",
        remedy="Raise the memory limit set for it." if limited else "Choose a smaller Eliza-1 size.",
        details={
            "total_mib": memory.total_mib,
            "min_mib": ram.min_mib,
            "short_mib": ram.min_mib - memory.total_mib,
            "limit_source": memory.limit_source,
        },
    )


def judge_backends(host: HostReport, accepted: frozenset[Backend], details: Mapping[str, Any]) -> Backend | FitReason:
    """Return the best usable backend among `accepted`, or `fit.backend_missing` with `details` added."""
    for backend in _BACKENDS_BY_MERIT:
        if backend in accepted and backend in host.usable_backends:
            return backend
    return FitReason(
        code="fit.backend_missing",
        message="This version was not proven on anything this device can compute with.",
        remedy="Choose another Eliza-1 version, or install the graphics driver this device needs.",
        details={"accepted": sorted(accepted), "host": as_json(host.backends), **details},
    )


def _size(size_bytes: int) -> str:
    # rounded up, so that a user who frees what is shown has freed enough; nothing compares these
    unit, name = (_GIB, "GiB") if size_bytes >= _GIB else (_MIB, "MiB")
    tenths = -(-size_bytes * 10 // unit)
    return f"{tenths // 10}.{tenths % 10} {name}"
