"""What changes by the minute: whether the device runs on its battery, and whether the network is metered.

Asks the system once and watches nothing; what a system does not tell is `Absent` with the reason. Decides
nothing: setup may warn, the voice may hold back (contract section 4, optimistic start on battery).
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from eliza_capabilities.probes.reading import ProbeFault, read_text_if_there, run_command, windows_kernel
from eliza_capabilities.probes.system import ROOT, THIS_SYSTEM
from eliza_capabilities.report import Absent, ConditionsReport, OperatingSystem

_SUPPLIES = "sys/class/power_supply"
_NETWORK_QUESTION = (
    "busctl",
    "get-property",
    "org.freedesktop.NetworkManager",
    "/org/freedesktop/NetworkManager",
    "org.freedesktop.NetworkManager",
    "Metered",
)
# NMMetered: 0 is unknown; the guesses count, as the desktop itself trusts them
_METERED_WORDS: Mapping[str, bool] = {"1": True, "2": False, "3": True, "4": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerSupply:
    """One entry of Linux's power supply class, in its own words; empty where it does not say."""

    kind: str
    online: str
    status: str
    scope: str


def judge_supplies(supplies: Iterable[PowerSupply]) -> bool:
    """Whether these supplies mean battery: none feeds the device, and a battery of its own is discharging."""
    own = [supply for supply in supplies if supply.scope != "Device"]
    if any(supply.kind != "Battery" and supply.online == "1" for supply in own):
        return False
    return any(supply.kind == "Battery" and supply.status == "Discharging" for supply in own)


def read_supplies(root: Path) -> tuple[PowerSupply, ...]:
    """Return the power supplies of the Linux below `root`.

    Raises:
        ProbeFault: the system does not show them (a container, an old kernel).
    """
    folder = root / _SUPPLIES
    try:
        places = sorted(folder.iterdir())
    except OSError as error:
        raise ProbeFault(f"power supplies are not shown: {error.strerror}") from error
    return tuple(
        PowerSupply(
            kind=read_text_if_there(place / "type").strip(),
            online=read_text_if_there(place / "online").strip(),
            status=read_text_if_there(place / "status").strip(),
            scope=read_text_if_there(place / "scope").strip(),
        )
        for place in places
    )


def parse_metered(text: str) -> bool | Absent:
    """Read the network service's answer, `u <number>`."""
    match = re.fullmatch(r"u (\d+)\s*", text, re.ASCII)
    known = _METERED_WORDS.get(match[1]) if match else None
    return Absent("the network service does not know") if known is None else known


def parse_pmset(text: str) -> bool | Absent:
    """Read macOS's `pmset -g batt`."""
    match = re.search(r"'(AC|Battery|UPS) Power'", text)
    return match[1] != "AC" if match else Absent("pmset: no power source")


def judge_power_status(line_status: int) -> bool | Absent:
    """Read Windows's `ACLineStatus`: 0 is battery, 1 is mains, 255 is unknown."""
    return {0: True, 1: False}.get(line_status, Absent("Windows does not know"))


def look_at_conditions(root: Path = ROOT, system: OperatingSystem = THIS_SYSTEM) -> ConditionsReport:
    """Return what holds right now; each of the two may be `Absent`.

    Args:
        root: `/`, or on Linux a tree that looks like one.
        system: whose sources to ask.
    """
    return ConditionsReport(on_battery=_on_battery(root, system), metered=_metered(system))


def unknown_conditions(reason: str) -> ConditionsReport:
    """Return the report of conditions whose probe failed."""
    return ConditionsReport(on_battery=Absent(reason), metered=Absent(reason))


def _on_battery(root: Path, system: OperatingSystem) -> bool | Absent:
    try:
        match system:
            case OperatingSystem.LINUX | OperatingSystem.ANDROID:
                return judge_supplies(read_supplies(root))
            case OperatingSystem.MACOS:
                return parse_pmset(run_command("pmset", "-g", "batt"))
            case OperatingSystem.WINDOWS:
                return judge_power_status(_windows_line_status())
            case _:
                return Absent(f"{system} does not tell")
    except ProbeFault as fault:
        return Absent(str(fault))


def _metered(system: OperatingSystem) -> bool | Absent:
    if system is not OperatingSystem.LINUX:
        return Absent(f"{system} does not tell without a permission or a window")
    try:
        return parse_metered(run_command(*_NETWORK_QUESTION))
    except ProbeFault as fault:
        return Absent(str(fault))


class _PowerStatus(ctypes.Structure):
    _fields_ = (
        ("ACLineStatus", ctypes.c_uint8),
        ("BatteryFlag", ctypes.c_uint8),
        ("BatteryLifePercent", ctypes.c_uint8),
        ("SystemStatusFlag", ctypes.c_uint8),
        ("BatteryLifeTime", ctypes.c_uint32),
        ("BatteryFullLifeTime", ctypes.c_uint32),
    )


def _windows_line_status() -> int:
    status = _PowerStatus()
    if not windows_kernel().GetSystemPowerStatus(ctypes.byref(status)):
        raise ProbeFault("GetSystemPowerStatus failed")
    return int(status.ACLineStatus)
