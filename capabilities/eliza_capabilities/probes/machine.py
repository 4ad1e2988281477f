"""What processor this is, which instructions it has, and whether a container or another system wraps it.

The instructions come from the system's own flags, never from a model name: `/proc/cpuinfo` on Linux and
Android, `sysctl` on Apple's systems, `IsProcessorFeaturePresent` on Windows. What a system does not tell is
`Absent` with the reason, never an empty set (contract section 7, rule 3).
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from eliza_capabilities.probes.features import WINDOWS_FEATURES, canonical_features
from eliza_capabilities.probes.reading import read_text, read_text_if_there, run_command, windows_kernel
from eliza_capabilities.probes.system import ROOT, THIS_ARCHITECTURE, THIS_SYSTEM
from eliza_capabilities.report import Absent, MachineReport, OperatingSystem

_CONTAINER_GROUP = re.compile(r"docker|kubepods|containerd|libpod|lxc|garden|machine\.slice", re.ASCII)
_CONTAINER_FILES = (".dockerenv", "run/.containerenv", "run/systemd/container")
_FEATURE_LINES = ("flags", "Features")
_MODEL_LINES = ("model name", "Model", "Hardware", "cpu model", "Processor")


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor:
    """What one source tells of the processor."""

    model: str | Absent
    physical_cores: int | Absent
    logical_cores: int | Absent
    features: frozenset[str] | Absent


def parse_cpuinfo(text: str) -> Processor:
    """Read `/proc/cpuinfo` of any architecture; features are those that every processor listed has."""
    blocks = [_fields(block) for block in re.split(r"\n\s*\n", text)]
    threads = [block for block in blocks if "processor" in block]
    flags = [canonical_features(block[name].split()) for block in blocks for name in _FEATURE_LINES if name in block]
    models = [block[name] for name in _MODEL_LINES for block in blocks if block.get(name)]
    cores = {(block["physical id"], block["core id"]) for block in threads if {"physical id", "core id"} <= set(block)}
    return Processor(
        model=models[0] if models else Absent("cpuinfo: no model name"),
        physical_cores=len(cores) or Absent("cpuinfo: no core ids"),
        logical_cores=len(threads) or Absent("cpuinfo: no processor"),
        features=frozenset.intersection(*flags) if flags else Absent("cpuinfo: no flags"),
    )


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in block.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def parse_sysctl(text: str) -> Processor:
    """Read Apple's `sysctl machdep.cpu hw`: words on Intel, one line per feature on Apple's processors."""
    fields = _fields(text)
    words = f"{fields.get('machdep.cpu.features', '')} {fields.get('machdep.cpu.leaf7_features', '')}".split()
    words += [match[1] for match in re.finditer(r"^hw\.optional\.arm\.FEAT_(\w+): 1$", text, re.ASCII | re.MULTILINE)]
    words += [match[1] for match in re.finditer(r"^hw\.optional\.(AdvSIMD|neon): 1$", text, re.ASCII | re.MULTILINE)]
    return Processor(
        model=fields.get("machdep.cpu.brand_string") or Absent("sysctl: no brand string"),
        physical_cores=_number(fields, "hw.physicalcpu"),
        logical_cores=_number(fields, "hw.logicalcpu"),
        features=canonical_features(words) if words else Absent("sysctl: no features"),
    )


def _number(fields: Mapping[str, str], name: str) -> int | Absent:
    word = fields.get(name, "")
    return int(word) if word.isascii() and word.isdigit() else Absent(f"sysctl: no {name}")


def is_container(root: Path) -> bool:
    """Whether the Linux below `root` is a container's.

    Its engine leaves a marker file, or its name in the process's group, or mounts a host table of its own.
    """
    if any((root / name).exists() for name in _CONTAINER_FILES):
        return True
    if _CONTAINER_GROUP.search(read_text_if_there(root / "proc/self/cgroup")):
        return True
    mounts = (line.split() for line in read_text_if_there(root / "proc/self/mountinfo").splitlines())
    return any(len(fields) > 4 and fields[4] == "/etc/hosts" for fields in mounts)


def is_wsl(root: Path) -> bool:
    """Whether the Linux below `root` runs under Windows."""
    return "microsoft" in read_text_if_there(root / "proc/version").lower()


def look_at_machine(
    root: Path = ROOT, system: OperatingSystem = THIS_SYSTEM, arch: str = THIS_ARCHITECTURE
) -> MachineReport:
    """Return the report of this machine; what a source does not tell is `Absent`.

    Args:
        root: `/`, or on Linux a tree that looks like one.
        system: whose sources to ask.
        arch: the architecture, under the report's name.
    """
    processor = _look(root, system)
    is_linux = system in (OperatingSystem.LINUX, OperatingSystem.ANDROID)
    return MachineReport(
        os=system,
        arch=arch,
        cpu_model=processor.model,
        physical_cores=processor.physical_cores,
        logical_cores=processor.logical_cores,
        cpu_features=processor.features,
        is_container=is_linux and is_container(root),
        is_wsl=is_linux and is_wsl(root),
    )


def unknown_machine(reason: str) -> MachineReport:
    """Return the report of a machine whose probe failed: what the interpreter knows, and the reason."""
    absent = Absent(reason)
    return MachineReport(
        os=THIS_SYSTEM,
        arch=THIS_ARCHITECTURE,
        cpu_model=absent,
        physical_cores=absent,
        logical_cores=absent,
        cpu_features=absent,
    )


def _look(root: Path, system: OperatingSystem) -> Processor:
    match system:
        case OperatingSystem.LINUX | OperatingSystem.ANDROID:
            return parse_cpuinfo(read_text(root / "proc/cpuinfo"))
        case OperatingSystem.MACOS:
            return parse_sysctl(run_command("sysctl", "machdep.cpu", "hw"))
        case OperatingSystem.WINDOWS:
            return _windows_processor()
        case _:
            return _plain_processor(Absent(f"{system} does not tell its processor's features"))


def _windows_processor() -> Processor:
    return _plain_processor(windows_features(windows_kernel().IsProcessorFeaturePresent))


def windows_features(is_present: Callable[[int], int]) -> frozenset[str] | Absent:
    """Return the features for whose numbers `IsProcessorFeaturePresent` says yes."""
    found = frozenset(name for number, name in WINDOWS_FEATURES.items() if is_present(number))
    # every processor this agent runs on has SSE3 or NEON, so nothing at all means that nothing was told
    return found or Absent("IsProcessorFeaturePresent knows none")


def _plain_processor(features: frozenset[str] | Absent) -> Processor:
    return Processor(
        model=platform.processor() or Absent("the system does not tell"),
        physical_cores=_psutil_cores(),
        logical_cores=os.cpu_count() or Absent("the system does not tell"),
        features=features,
    )


def _psutil_cores() -> int | Absent:
    try:
        import psutil  # here, not above: it has no phone wheels
    except ImportError:
        return Absent("psutil is not installed")
    return psutil.cpu_count(logical=False) or Absent("the system does not tell")
