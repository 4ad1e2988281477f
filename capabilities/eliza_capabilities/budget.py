"""How far this host's memory reaches: its RAM class, what is usable, and the context that fits.

Counts in whole MiB and bytes and never rounds before comparing, so that no host is judged by a figure it
does not have. Measures nothing and refuses nothing; `fit` does (contract sections 2 and 3; facts 4.1-4.3).

Three amounts of memory, kept apart:

* *total* - the device's RAM, or the limit this process lives under; the bundle's floor is compared with it.
* *usable* - total less a headroom for the system and other programs; decides fits or tight, and the context.
* *effective* - what the RAM class is made of: all of a shared memory, else the larger of the video memory
  and half the RAM.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from eliza_capabilities.report import Absent, HostReport, MachineReport
from eliza_catalog.terms import Backend, Tier
from eliza_catalog.tiers import kv_bytes_per_token

DEFAULT_HEADROOM_MIB = 1536
MIN_CONTEXT_TOKENS = 8192
"""The smallest context we serve; a bundle's RAM floor is taken to include it (facts 4.3, device-fit picker)."""
CONTEXT_STEP_TOKENS = 4096

_MIB = 1 << 20
_GIB_IN_MIB = 1024
_MIN_CORES = 4


class RamClass(StrEnum):
    """The memory classes of the contract (section 2), best first."""

    MAX = "max"
    GOOD = "good"
    OKAY = "okay"
    POOR = "poor"

    def lowered_to(self, ceiling: RamClass) -> RamClass:
        """Return this class, or `ceiling` where that is the lower one."""
        order = tuple(RamClass)
        return order[max(order.index(self), order.index(ceiling))]

    @property
    def next_lower(self) -> RamClass:
        """The class below; the lowest is its own."""
        order = tuple(RamClass)
        return order[min(order.index(self) + 1, len(order) - 1)]


_CLASS_FLOORS_GIB: Mapping[RamClass, tuple[int, int]] = {
    RamClass.MAX: (24, 16),
    RamClass.GOOD: (12, 8),
    RamClass.OKAY: (6, 3),
}
"""Per class, best first: the least effective and the least free memory (facts 4.2)."""


def usable_mib(host: HostReport, headroom_mib: int = DEFAULT_HEADROOM_MIB) -> int:
    """Return the RAM a bundle may take, in MiB: the total less the headroom, never below 0."""
    return max(0, host.memory.total_mib - headroom_mib)


def video_memory_mib(host: HostReport) -> int:
    """Return the largest memory of one device of a usable graphics backend, in MiB; 0 without any."""
    return max(
        (
            device.memory_total_mib
            for report in host.backends
            if report.usable and report.backend is not Backend.CPU
            for device in report.devices
            if not isinstance(device.memory_total_mib, Absent)
        ),
        default=0,
    )


def effective_mib(host: HostReport) -> int:
    """Return the memory the RAM class is made of, in MiB (facts 4.1)."""
    total_mib = host.memory.total_mib
    if host.machine.is_apple_silicon:
        return total_mib
    return max(video_memory_mib(host), total_mib // 2)


def ram_class(host: HostReport) -> RamClass:
    """Return the host's memory class (contract section 2; thresholds and order of steps: facts 4.2)."""
    reached = _class_by_memory(host)
    if _is_slow(host.machine):
        return RamClass.POOR
    # the field's cap for Apple machines of 9 GiB and less needs no step: their effective memory is below GOOD's
    if host.machine.os.is_mobile:
        reached = reached.lowered_to(RamClass.OKAY)
    if host.memory.available_mib * 4 < host.memory.total_mib:
        reached = reached.next_lower
    return reached


def _class_by_memory(host: HostReport) -> RamClass:
    effective, free = effective_mib(host), host.memory.available_mib
    for candidate, (least_effective_gib, least_free_gib) in _CLASS_FLOORS_GIB.items():
        reaches = effective >= least_effective_gib * _GIB_IN_MIB and free >= least_free_gib * _GIB_IN_MIB
        if reaches and _is_strong_enough(host, candidate):
            return candidate
    return RamClass.POOR


def _is_strong_enough(host: HostReport, candidate: RamClass) -> bool:
    total_gib, video_gib = host.memory.total_mib / _GIB_IN_MIB, video_memory_mib(host) / _GIB_IN_MIB
    apple_gib = total_gib if host.machine.is_apple_silicon else 0
    is_plain_pc = host.machine.arch == "x64" and host.usable_backends <= {Backend.CPU}
    match candidate:
        case RamClass.MAX:
            return video_gib >= 16 or apple_gib >= 32
        case RamClass.GOOD:
            return video_gib >= 8 or apple_gib >= 16 or (is_plain_pc and total_gib >= 32)
        case _:
            return total_gib >= (12 if host.machine.os.is_mobile else 16)


def _is_slow(machine: MachineReport) -> bool:
    # The field tells a slow processor by its cores and architecture; where the real flags are known, an
    # x64 processor without AVX2 is one as well.
    if machine.arch not in ("x64", "arm64"):
        return True
    if not isinstance(machine.logical_cores, Absent) and machine.logical_cores < _MIN_CORES:
        return True
    known = machine.cpu_features
    return machine.arch == "x64" and not isinstance(known, Absent) and "avx2" not in known


def kv_mib(tier: Tier, context_tokens: int) -> int:
    """Return the attention cache of a whole context in MiB, rounded up."""
    return -(-context_tokens * kv_bytes_per_token(tier) // _MIB)


def largest_context_tokens(tier: Tier, *, ceiling_tokens: int, spare_mib: int) -> int:
    """Return the largest context that fits, in tokens.

    Args:
        tier: decides the bytes per token.
        ceiling_tokens: what the text artifact was made for.
        spare_mib: usable memory above the bundle's RAM floor; negative in the band where the floor is met
            by the total but not by the usable memory.

    Returns:
        `ceiling_tokens` if all of it fits, else a multiple of `CONTEXT_STEP_TOKENS`, and at least
        `MIN_CONTEXT_TOKENS` (the floor covers it) unless the ceiling is lower.
    """
    spare_tokens = max(0, spare_mib) * _MIB // kv_bytes_per_token(tier)
    reach = MIN_CONTEXT_TOKENS + spare_tokens
    if reach >= ceiling_tokens:
        return ceiling_tokens
    return reach // CONTEXT_STEP_TOKENS * CONTEXT_STEP_TOKENS
