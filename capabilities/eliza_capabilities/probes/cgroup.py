"""Memory limits that Linux control groups (v1 and v2) put on this process, parents included.

Understands a host, a container with and without its own namespace, and the hybrid layout, from one root
folder; fixture trees take the place of `/` in tests. Changes nothing and judges nothing (contract section 7,
rule 1: the RAM that is really ours).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eliza_capabilities.probes.reading import read_text_if_there

_UNLIMITED_BYTES = 1 << 62
"""cgroup v1 says "no limit" with the largest page-aligned number; anything this large is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLimit:
    """One limit in force: where it is set, how much it allows, and how much of it is not yet used."""

    source: str
    limit_bytes: int
    available_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupMount:
    """A mounted memory hierarchy: its version, the group at its mount point, and that point."""

    version: int
    group: PurePosixPath
    mount_point: PurePosixPath


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    limit: str
    usage: str
    cache: tuple[str, ...]


_NAMES = {
    1: _Names(
        limit="memory.limit_in_bytes",
        usage="memory.usage_in_bytes",
        cache=("total_active_file", "total_inactive_file"),
    ),
    2: _Names(limit="memory.max", usage="memory.current", cache=("active_file", "inactive_file", "slab_reclaimable")),
}


def parse_group_paths(text: str) -> dict[int, PurePosixPath]:
    """Return the process's memory group per hierarchy version, from `/proc/self/cgroup`."""
    paths: dict[int, PurePosixPath] = {}
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if not path.startswith("/"):
            continue
        if number == "0" and not controllers:
            paths[2] = PurePosixPath(path)
        elif "memory" in controllers.split(","):
            paths[1] = PurePosixPath(path)
    return paths


def parse_group_mounts(text: str) -> tuple[GroupMount, ...]:
    """Return the mounted memory hierarchies, from `/proc/self/mountinfo`."""
    mounts: list[GroupMount] = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        fields, kinds = left.split(), right.split()
        if not separator or len(fields) < 5 or len(kinds) < 3:
            continue
        version = 2 if kinds[0] == "cgroup2" else 1 if kinds[0] == "cgroup" and _is_memory(kinds[-1]) else 0
        if version:
            group, point = (PurePosixPath(_unescape(field)) for field in fields[3:5])
            mounts.append(GroupMount(version=version, group=group, mount_point=point))
    return tuple(mounts)


def _is_memory(options: str) -> bool:
    return "memory" in options.split(",")


def _unescape(field: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def parse_limit_bytes(text: str) -> int | None:
    """Return a limit file's bytes; None for "max", for v1's huge number, and for what is no number."""
    word = text.strip()
    if not (word.isascii() and word.isdigit()):
        return None
    limit_bytes = int(word)
    return limit_bytes if limit_bytes < _UNLIMITED_BYTES else None


def parse_stat(text: str) -> dict[str, int]:
    """Return the counters of a `memory.stat` file, in bytes."""
    pairs = (line.split() for line in text.splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isascii() and pair[1].isdigit()}


def group_folders(path: PurePosixPath, mount: GroupMount) -> tuple[PurePosixPath, ...]:
    """Return the folders to ask for limits, from the process's own group up to the mount point.

    A path that is not below the mounted group (a container that sees the host's path, or one outside its
    namespace) leaves the mount point itself: it is the topmost group this process can see.
    """
    if ".." in path.parts or not path.is_relative_to(mount.group):
        return (mount.mount_point,)
    below = path.relative_to(mount.group)
    own = mount.mount_point / below
    return (own, *own.parents[: len(below.parts)])


def read_group_limits(root: Path) -> tuple[GroupLimit, ...]:
    """Return every memory limit in force on this process; none where there are no control groups.

    Args:
        root: `/`, or a tree that looks like one.
    """
    paths = parse_group_paths(read_text_if_there(root / "proc/self/cgroup"))
    mounts = parse_group_mounts(read_text_if_there(root / "proc/self/mountinfo"))
    return tuple(
        limit
        for mount in mounts
        if mount.version in paths
        for folder in group_folders(paths[mount.version], mount)
        for limit in _limit_of(root, folder, mount.version)
    )


def _limit_of(root: Path, folder: PurePosixPath, version: int) -> Iterator[GroupLimit]:
    names = _NAMES[version]
    place = root / folder.relative_to("/")
    limit_bytes = parse_limit_bytes(read_text_if_there(place / names.limit))
    if limit_bytes is None:
        return
    usage_bytes = parse_limit_bytes(read_text_if_there(place / names.usage)) or 0
    counters = parse_stat(read_text_if_there(place / "memory.stat"))
    cache_bytes = sum(counters.get(name, 0) for name in names.cache)
    used_bytes = max(0, usage_bytes - cache_bytes)
    yield GroupLimit(
        source=f"cgroup v{version} {folder}",
        limit_bytes=limit_bytes,
        available_bytes=max(0, limit_bytes - used_bytes),
    )
