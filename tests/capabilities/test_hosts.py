"""Every fixture host is read as what it is."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.support.fake_host import HOSTS

from eliza_capabilities.probes.conditions import look_at_conditions
from eliza_capabilities.probes.machine import look_at_machine
from eliza_capabilities.probes.memory import look_at_memory
from eliza_capabilities.report import Absent, OperatingSystem

LINUX = OperatingSystem.LINUX
AVX2 = {"sse3", "ssse3", "sse41", "sse42", "avx", "avx2", "fma", "f16c", "bmi2"}
AVX512 = {"avx512f", "avx512bw", "avx512dq", "avx512vl"}


@dataclass(frozen=True, kw_only=True)
class Expected:
    total_mib: int
    available_mib: int
    source: str = "host"
    cores: tuple[int | None, int]
    features: frozenset[str] | set[str] = frozenset()
    container: bool = False
    wsl: bool = False
    battery: bool | None = None
    arch: str = "x64"
    system: OperatingSystem = LINUX


EXPECTED = {
    "laptop_x64": Expected(
        total_mib=16166912 // 1024,
        available_mib=9437184 // 1024,
        cores=(4, 8),
        features=AVX2 | AVX512 | {"avxvnni", "avx512vnni"},
        battery=True,
    ),
    # the pod's limit binds, not the container's larger one; 3 GiB used are 1.25 GiB without the cache
    "container_cgroup2_nested": Expected(
        total_mib=4096,
        available_mib=4096 - 1280,
        source="cgroup v2 /sys/fs/cgroup/kubepods.slice/pod7a.slice",
        cores=(2, 4),
        features=AVX2,
        container=True,
    ),
    "container_cgroup2_namespaced": Expected(
        total_mib=3 * 1024,
        available_mib=3 * 1024 - 768,
        source="cgroup v2 /sys/fs/cgroup",
        cores=(2, 4),
        features=AVX2 | {"avxvnni"},
        container=True,
    ),
    "container_cgroup1": Expected(
        total_mib=2048,
        available_mib=2048 - 500,
        source="cgroup v1 /sys/fs/cgroup/memory",
        cores=(2, 2),
        features=AVX2,
        container=True,
    ),
    "server_cgroup1_unlimited": Expected(
        total_mib=131899392 // 1024, available_mib=120000000 // 1024, cores=(8, 16), features=AVX2 | AVX512
    ),
    "server_arm64": Expected(
        total_mib=12 * 1024,
        available_mib=11 * 1024 + 200,
        source="cgroup v2 /sys/fs/cgroup/system.slice/eliza.service",
        cores=(None, 8),
        features={"neon", "fp16", "dotprod", "i8mm", "bf16", "sve", "sve2"},
        arch="arm64",
    ),
    "wsl2": Expected(
        total_mib=8016252 // 1024,
        available_mib=7300000 // 1024,
        cores=(8, 16),
        features=AVX2,
        wsl=True,
        battery=False,
    ),
    "vm_without_avx2": Expected(
        total_mib=16000,
        available_mib=15000000 // 1024,
        cores=(4, 4),
        features={"sse3", "ssse3", "sse41", "sse42"},
    ),
    "vm_cgroup_hybrid": Expected(
        total_mib=20 * 1024,
        available_mib=16 * 1024,
        source="cgroup v1 /sys/fs/cgroup/memory/jobs",
        cores=(2, 2),
        features=AVX2 | {"avxvnni", "avx512f", "avx512bf16", "amxtile", "amxint8", "amxbf16"},
        container=True,
    ),
    # no MemAvailable: free + (cache + buffers + reclaimable - shared)
    "board_tiny_ram": Expected(
        total_mib=443440 // 1024,
        available_mib=(100000 + 150000 + 20000 + 10000 - 30000) // 1024,
        cores=(None, 1),
        features=set(),
        arch="armv6l",
    ),
    # a feature of the large cores only is none: work moves between cores
    "phone_arm64": Expected(
        total_mib=11612160 // 1024,
        available_mib=4200000 // 1024,
        cores=(None, 8),
        features={"neon", "fp16", "dotprod"},
        arch="arm64",
        system=OperatingSystem.ANDROID,
    ),
}


def test_every_fixture_host_is_expected() -> None:
    assert {place.name for place in HOSTS.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_memory_is_what_this_process_may_use(name: str) -> None:
    expected = EXPECTED[name]
    seen = look_at_memory(HOSTS / name, expected.system)
    assert (seen.total_mib, seen.available_mib, seen.limit_source) == (
        expected.total_mib,
        expected.available_mib,
        expected.source,
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_the_processor_is_told_by_its_own_flags(name: str) -> None:
    expected = EXPECTED[name]
    seen = look_at_machine(HOSTS / name, expected.system, expected.arch)
    assert seen.cpu_features == frozenset(expected.features)
    assert (seen.is_container, seen.is_wsl) == (expected.container, expected.wsl)
    assert seen.logical_cores == expected.cores[1]
    if expected.cores[0] is None:
        assert isinstance(seen.physical_cores, Absent)
    else:
        assert seen.physical_cores == expected.cores[0]


@pytest.mark.parametrize("name", EXPECTED)
def test_battery_is_known_or_said_to_be_unknown(name: str) -> None:
    expected = EXPECTED[name]
    seen = look_at_conditions(HOSTS / name, expected.system).on_battery
    if expected.battery is None:
        assert isinstance(seen, Absent)
        assert "not shown" in seen.reason
    else:
        assert seen is expected.battery
