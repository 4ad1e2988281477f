"""The library's own report in catalog terms, for the probe.

The one bridge between the native face and the capabilities, which do not know each other: the library is asked
once, and its kernels and backends are handed on (house rules, section 4). Pure.
"""

from __future__ import annotations

from eliza_capabilities.report import Absent, BackendReport, DeviceReport, LibraryFacts
from eliza_native.library import LibraryReport, NativeBackend, NativeDevice

_MIB = 1 << 20


def library_facts(report: LibraryReport) -> LibraryFacts:
    """Return what the probe needs to know of the library; backends the catalog has no word for are left out."""
    return LibraryFacts(
        version=f"{report.version}+abi{report.abi}.{report.llama_commit[:9]}",
        backends=tuple(_backend(backend) for backend in report.backends if backend.term is not None),
        kernels=report.kernels,
        kernels_missing=report.kernels_missing,
        cpu_features=frozenset(report.cpu_features),
    )


def _backend(backend: NativeBackend) -> BackendReport:
    assert backend.term is not None
    devices = tuple(_device(device) for device in backend.devices)
    reason = "compiled in, with a device" if devices else "compiled in, but no device answers"
    return BackendReport(backend=backend.term, devices=devices, usable=bool(devices), reason=reason)


def _device(device: NativeDevice) -> DeviceReport:
    return DeviceReport(
        name=device.name,
        description=device.description,
        memory_total_mib=_mib(device.memory_total_bytes),
        memory_free_mib=_mib(device.memory_free_bytes),
    )


def _mib(size_bytes: int) -> int | Absent:
    return size_bytes // _MIB if size_bytes > 0 else Absent("the device does not say")
