"""Parsers meet anything a system may write, and files meet anything a disk may do."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_capabilities.probes import conditions, machine, memory, storage
from eliza_capabilities.probes.cgroup import (
    GroupLimit,
    GroupMount,
    group_folders,
    parse_group_mounts,
    parse_group_paths,
    parse_limit_bytes,
    parse_stat,
    read_group_limits,
)
from eliza_capabilities.probes.features import canonical_features
from eliza_capabilities.probes.reading import ProbeFault, read_text, run_command
from eliza_capabilities.probes.system import architecture, operating_system
from eliza_capabilities.report import Absent, OperatingSystem

KIB_PAIRS = st.fixed_dictionaries(
    {"MemTotal": st.integers(1, 1 << 34)},
    optional={name: st.integers(0, 1 << 34) for name in ("MemFree", "MemAvailable", "Cached", "Shmem", "Buffers")},
)


def meminfo(kib: dict[str, int]) -> str:
    return "".join(f"{name}: {value:>8} kB\n" for name, value in kib.items())


# --- memory ---------------------------------------------------------------------------------------


@given(KIB_PAIRS)
def test_available_memory_is_never_more_than_there_is(kib: dict[str, int]) -> None:
    ram = memory.parse_meminfo(meminfo(kib))
    assert ram.total_bytes == kib["MemTotal"] * 1024
    assert 0 <= ram.available_bytes <= ram.total_bytes


@given(st.text())
def test_a_meminfo_of_any_text_is_read_or_a_fault(text: str) -> None:
    try:
        ram = memory.parse_meminfo(text)
    except ProbeFault:
        return
    assert ram.total_bytes > 0


@given(
    total=st.integers(1, 1 << 45),
    limits=st.lists(st.tuples(st.integers(0, 1 << 46), st.integers(0, 1 << 46)), max_size=5),
)
def test_every_limit_binds(total: int, limits: list[tuple[int, int]]) -> None:
    made = tuple(
        GroupLimit(source=f"limit {index}", limit_bytes=max(pair), available_bytes=min(pair))
        for index, pair in enumerate(limits)
    )
    report = memory.limit_ram(memory.Ram(total_bytes=total, available_bytes=total), made)
    mib = 1 << 20
    assert report.total_mib == min([total, *(limit.limit_bytes for limit in made)]) // mib
    assert report.available_mib == min([total, *(limit.available_bytes for limit in made)]) // mib
    assert (report.limit_source == "host") == all(limit.limit_bytes >= total for limit in made)


def test_vm_stat_counts_what_can_be_dropped() -> None:
    text = (
        "Mach Virtual Memory Statistics: (page size of 16384 bytes)\nPages free:     1000.\nPages active:   9000.\n"
        "Pages inactive:  500.\nPages speculative: 20.\nPages wired down: 700.\nPages purgeable: 3.\n"
    )
    ram = memory.parse_vm_stat(text, 16 << 30)
    assert ram.available_bytes == 1523 * 16384
    with pytest.raises(ProbeFault):
        memory.parse_vm_stat("nothing", 1)


def test_a_desktop_without_proc_tells_its_memory_through_the_second_source() -> None:
    seen = memory.look_at_memory(system=OperatingSystem.OTHER)
    assert seen.total_mib >= seen.available_mib > 0


def test_without_the_second_source_the_systems_own_commands_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(ProbeFault, match="vm_stat is not there"):
        memory.look_at_memory(system=OperatingSystem.MACOS)
    seen = machine.look_at_machine(system=OperatingSystem.OTHER)
    assert seen.physical_cores == Absent("psutil is not installed")


def test_another_systems_calls_are_faults_here() -> None:
    with pytest.raises(ProbeFault, match="Windows"):
        memory.look_at_memory(system=OperatingSystem.WINDOWS)
    with pytest.raises(ProbeFault, match="sysctl"):
        machine.look_at_machine(system=OperatingSystem.MACOS)


# --- control groups -------------------------------------------------------------------------------


@given(st.text())
def test_control_group_texts_of_any_kind_are_read(text: str) -> None:
    assert set(parse_group_paths(text)) <= {1, 2}
    assert all(mount.version in (1, 2) for mount in parse_group_mounts(text))
    assert all(value >= 0 for value in parse_stat(text).values())
    limit = parse_limit_bytes(text)
    assert limit is None or limit >= 0


@pytest.mark.parametrize("word", ["max\n", "9223372036854771712\n", "", "-1\n", "1.5", "\u0663\n"])
def test_what_is_no_limit_is_none(word: str) -> None:
    assert parse_limit_bytes(word) is None


def test_a_group_of_its_own_is_asked_up_to_the_mount_point() -> None:
    mount = GroupMount(version=2, group=PurePosixPath("/docker"), mount_point=PurePosixPath("/sys/fs/cgroup"))
    folders = group_folders(PurePosixPath("/docker/a/b"), mount)
    assert [str(folder) for folder in folders] == ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]
    whole = GroupMount(version=2, group=PurePosixPath("/"), mount_point=PurePosixPath("/sys/fs/cgroup"))
    for seen in (mount, whole):
        assert group_folders(PurePosixPath("/../other"), seen) == (PurePosixPath("/sys/fs/cgroup"),)
    assert group_folders(PurePosixPath("/elsewhere"), mount) == (PurePosixPath("/sys/fs/cgroup"),)


def test_a_mount_point_with_a_space_is_read() -> None:
    text = "30 23 0:26 / /sys/fs/c\\040group rw shared:9 - cgroup2 cgroup2 rw\n"
    assert parse_group_mounts(text)[0].mount_point == PurePosixPath("/sys/fs/c group")


def test_a_machine_without_control_groups_has_no_limits(tmp_path: Path) -> None:
    assert read_group_limits(tmp_path) == ()


# --- processor ------------------------------------------------------------------------------------


@given(st.text())
def test_a_cpuinfo_of_any_text_never_tells_an_empty_lie(text: str) -> None:
    seen = machine.parse_cpuinfo(text)
    if "flags" not in text and "Features" not in text:
        assert isinstance(seen.features, Absent)
    assert isinstance(seen.logical_cores, Absent) or seen.logical_cores > 0


def test_features_are_those_that_every_core_has() -> None:
    text = "processor: 0\nFeatures: asimd asimddp i8mm\n\nprocessor: 1\nFeatures: asimd asimddp\n"
    assert machine.parse_cpuinfo(text).features == frozenset({"neon", "dotprod"})


def test_apples_two_processors_are_read() -> None:
    apple = (
        "machdep.cpu.brand_string: Apple M2\nhw.physicalcpu: 8\nhw.logicalcpu: 8\nhw.optional.AdvSIMD: 1\n"
        "hw.optional.arm.FEAT_DotProd: 1\nhw.optional.arm.FEAT_I8MM: 1\nhw.optional.arm.FEAT_SME: 0\n"
    )
    seen = machine.parse_sysctl(apple)
    assert seen.model == "Apple M2"
    assert seen.features == frozenset({"neon", "dotprod", "i8mm"})
    assert (seen.physical_cores, seen.logical_cores) == (8, 8)
    intel = "machdep.cpu.features: SSE3 SSSE3 FMA SSE4.1 SSE4.2 AVX1.0 F16C\nmachdep.cpu.leaf7_features: AVX2 BMI2\n"
    assert machine.parse_sysctl(intel).features == frozenset(
        ("sse3", "ssse3", "fma", "sse41", "sse42", "avx", "f16c", "avx2", "bmi2")
    )
    nothing = machine.parse_sysctl("")
    assert isinstance(nothing.features, Absent)
    assert isinstance(nothing.physical_cores, Absent)


def test_the_librarys_spellings_are_the_processors() -> None:
    assert canonical_features(["AVX512_VNNI", "MATMUL_INT8", "FP16_VA", "LLAMAFILE"]) == {"avx512vnni", "i8mm", "fp16"}


def test_windows_numbers_become_names() -> None:
    assert machine.windows_features(lambda number: int(number in (13, 40))) == frozenset({"sse3", "avx2"})
    assert isinstance(machine.windows_features(lambda number: 0), Absent)


def test_a_system_that_tells_nothing_says_so() -> None:
    seen = machine.look_at_machine(system=OperatingSystem.IOS, arch="arm64")
    assert isinstance(seen.cpu_features, Absent)
    with pytest.raises(ProbeFault):
        machine.look_at_machine(system=OperatingSystem.WINDOWS)


@pytest.mark.parametrize(("word", "name"), [("AMD64", "x64"), ("x86_64", "x64"), ("aarch64", "arm64"), ("", "unknown")])
def test_architectures_have_one_name(word: str, name: str) -> None:
    assert architecture(word) == name


def test_systems_have_one_name() -> None:
    assert operating_system("linux") is OperatingSystem.LINUX
    assert operating_system("linux", has_android_api=True) is OperatingSystem.ANDROID
    assert operating_system("darwin") is OperatingSystem.MACOS
    assert operating_system("plan9") is OperatingSystem.OTHER


# --- conditions -----------------------------------------------------------------------------------


def test_metered_guesses_count_and_ignorance_is_said() -> None:
    assert [conditions.parse_metered(f"u {number}\n") for number in (1, 2, 3, 4)] == [True, False, True, False]
    assert isinstance(conditions.parse_metered("u 0\n"), Absent)
    assert isinstance(conditions.parse_metered(""), Absent)


def test_other_systems_tell_their_power_in_their_way() -> None:
    assert conditions.parse_pmset("Now drawing from 'Battery Power'\n") is True
    assert conditions.parse_pmset("Now drawing from 'AC Power'\n") is False
    assert isinstance(conditions.parse_pmset(""), Absent)
    assert conditions.judge_power_status(0) is True
    assert conditions.judge_power_status(1) is False
    assert isinstance(conditions.judge_power_status(255), Absent)
    for system in (OperatingSystem.WINDOWS, OperatingSystem.IOS):
        assert isinstance(conditions.look_at_conditions(system=system).on_battery, Absent)


def test_a_full_battery_without_mains_is_not_discharging() -> None:
    supply = conditions.PowerSupply(kind="Battery", online="", status="Full", scope="")
    assert conditions.judge_supplies([supply]) is False
    assert conditions.judge_supplies([]) is False


def test_the_battery_of_a_mouse_is_not_the_devices_own() -> None:
    mouse = conditions.PowerSupply(kind="Battery", online="", status="Discharging", scope="Device")
    assert conditions.judge_supplies([mouse]) is False


# --- reading and disk -----------------------------------------------------------------------------


def test_commands_that_are_missing_fail_or_hang_are_faults() -> None:
    with pytest.raises(ProbeFault, match="not there"):
        run_command("no-such-command-of-any-system")
    with pytest.raises(ProbeFault, match="failed"):
        run_command("false")
    with pytest.raises(ProbeFault, match=r"ls failed: ls: .*no-such-folder"):
        run_command("ls", "/no-such-folder")
    with pytest.raises(ProbeFault, match="longer than"):
        run_command("sleep", "5", deadline_s=0.05)


def test_a_missing_file_is_a_fault_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ProbeFault, match="meminfo"):
        read_text(tmp_path / "meminfo")


def test_a_folder_that_may_not_be_written_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("read-only")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", refuse)
    seen = storage.look_at_storage(tmp_path)
    assert (seen.writable, seen.hardlinks, seen.sparse_files) == (False, False, False)
    assert seen.free_bytes > 0


def test_a_disk_without_hard_links_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    seen = storage.look_at_storage(tmp_path / "later")
    assert (seen.writable, seen.hardlinks) == (True, False)
    assert seen.path == str(tmp_path / "later")


def test_this_disk_links(tmp_path: Path) -> None:
    assert storage.look_at_storage(tmp_path).hardlinks
