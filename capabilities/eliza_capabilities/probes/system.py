"""Which operating system and architecture this is, under the report's names.

Every probe chooses its sources by these two words, given as arguments, so that tests may stand on another
system. Asks the interpreter only.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from eliza_capabilities.report import OperatingSystem

_SYSTEMS = {
    "linux": OperatingSystem.LINUX,
    "android": OperatingSystem.ANDROID,
    "darwin": OperatingSystem.MACOS,
    "ios": OperatingSystem.IOS,
    "win32": OperatingSystem.WINDOWS,
}
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64", "arm64e": "arm64"}


def operating_system(name: str, *, has_android_api: bool = False) -> OperatingSystem:
    """Return the system that `sys.platform` names; older Pythons on Android call it Linux."""
    if has_android_api:
        return OperatingSystem.ANDROID
    return _SYSTEMS.get(name, OperatingSystem.OTHER)


def architecture(machine: str) -> str:
    """Return `x64` or `arm64` for the many names of these two, any other name in lower case."""
    name = machine.strip().lower()
    return _ARCHITECTURES.get(name, name or "unknown")


THIS_SYSTEM = operating_system(sys.platform, has_android_api=hasattr(sys, "getandroidapilevel"))
THIS_ARCHITECTURE = architecture(platform.machine())
ROOT = Path("/")
