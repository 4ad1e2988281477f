"""What was seen of this host, as frozen values; a thing that is absent is a value with its reason.

Every probe fills one part of a `HostReport`, every judge reads it, and neither knows the other.
Looks at nothing itself: no I/O, no clock, no rule about bundles (contract section 7, rules 1 and 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import PurePath
from typing import Any

from eliza_catalog.terms import Backend, Kernel

REPORT_SCHEMA = 1
"""Version of the JSON form; it grows by new keys only, and a changed meaning raises it."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A fact that could not be had, and why (developer text)."""

    reason: str


class OperatingSystem(StrEnum):
    """The operating systems the agent knows."""

    LINUX = "linux"
    MACOS = "macos"
    WINDOWS = "windows"
    ANDROID = "android"
    IOS = "ios"
    OTHER = "other"

    @property
    def is_mobile(self) -> bool:
        """Whether this is a phone's or tablet's system."""
        return self in (OperatingSystem.ANDROID, OperatingSystem.IOS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineReport:
    """The processor and what runs on it.

    `arch` is `x64`, `arm64` or the system's own word. `cpu_features` holds canonical names
    (`probes.features`), of the instructions a compute library may use only.
    """

    os: OperatingSystem
    arch: str
    cpu_model: str | Absent
    physical_cores: int | Absent
    logical_cores: int | Absent
    cpu_features: frozenset[str] | Absent
    is_container: bool = False
    is_wsl: bool = False

    @property
    def is_apple_silicon(self) -> bool:
        """Whether CPU and GPU share one memory, as on Apple's own processors."""
        return self.os in (OperatingSystem.MACOS, OperatingSystem.IOS) and self.arch == "arm64"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryReport:
    """RAM in whole MiB, rounded down, so that comparing with a whole number of MiB is exact.

    `total_mib` is the smaller of the machine's RAM and every limit set on this process; `available_mib`
    counts reclaimable page cache as available. `limit_source` names what set the total.
    """

    total_mib: int
    available_mib: int
    limit_source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageReport:
    """The disk under the state folder; `path` need not exist yet. `free_bytes` is what we may use."""

    path: str
    free_bytes: int
    total_bytes: int
    hardlinks: bool
    sparse_files: bool
    writable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceReport:
    """One compute device of a backend."""

    name: str
    description: str
    memory_total_mib: int | Absent
    memory_free_mib: int | Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendReport:
    """One backend of the library on this host; `reason` says why it is usable or why not."""

    backend: Backend
    devices: tuple[DeviceReport, ...]
    usable: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionsReport:
    """What changes by the minute."""

    on_battery: bool | Absent
    metered: bool | Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFacts:
    """What the inference library says of itself, in catalog terms.

    `kernels` are those ready for graph dispatch, never merely shipped (contract section 3), and
    `kernels_missing` says why each of the others is not;
    `cpu_features` are the instructions its CPU code was compiled to use, in any spelling.
    """

    version: str
    backends: tuple[BackendReport, ...]
    kernels: frozenset[Kernel]
    kernels_missing: Mapping[Kernel, str] = field(default_factory=dict)
    cpu_features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostReport:
    """Everything a fit is judged by. `library` is the library's version, `probed_at` is in UTC."""

    machine: MachineReport
    memory: MemoryReport
    storage: StorageReport
    backends: tuple[BackendReport, ...]
    kernels: frozenset[Kernel]
    kernels_missing: Mapping[Kernel, str]
    conditions: ConditionsReport
    library: str
    probed_at: datetime
    probe_ms: int

    @property
    def usable_backends(self) -> frozenset[Backend]:
        """The backends that can compute on this host."""
        return frozenset(report.backend for report in self.backends if report.usable)

    def as_json(self) -> dict[str, Any]:
        """Return the report as JSON values, with the form's version under `schema`."""
        return {"schema": REPORT_SCHEMA, **as_json(self)}


def as_json(value: Any) -> Any:
    """Return a report value as JSON values: sets sorted, `Absent` as `{"absent": reason}`.

    Raises:
        TypeError: the value is of a kind that reports do not hold.
    """
    match value:
        case Absent(reason=reason):
            return {"absent": reason}
        case StrEnum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.isoformat()
        case PurePath():
            return str(value)
        case AbstractSet():
            return sorted(as_json(item) for item in value)
        case Mapping():
            return {str(as_json(key)): as_json(item) for key, item in sorted(value.items())}
        case tuple() | list():
            return [as_json(item) for item in value]
        case _ if is_dataclass(value):
            return {each.name: as_json(getattr(value, each.name)) for each in fields(value)}
    raise TypeError(f"a report does not hold {type(value).__name__}")
