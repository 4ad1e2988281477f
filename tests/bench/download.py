"""A verified bundle download against `curl` then `sha256sum`, both from our own hub in another process.

`python tests/bench/download.py [--mib 1024]` from the repository's root; needs curl, sha256sum, and three times
the size free in the temporary folder. Ours also flushes to the device and publishes a tree; the other does not.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import anyio  # noqa: E402
from tests.support.bundle_repo import FOLDER, TEXT, BundleRepo, make_repo  # noqa: E402

from eliza_agent.download.pool import download_bundle  # noqa: E402
from eliza_agent.hub.shelf import Shelf  # noqa: E402
from eliza_agent.store.layout import StateLayout  # noqa: E402
from eliza_catalog.manifest import MANIFEST_NAME  # noqa: E402

MIB = 1 << 20
SERVE = """
import sys
from pathlib import Path
from eliza_agent.hub.serve import serve_hub
serve_hub(Path(sys.argv[1]), on_ready=lambda url: print(url, flush=True))
"""


def large_repo(root: Path, mib: int) -> tuple[BundleRepo, str]:
    """Write a true bundle whose text weights are `mib` MiB; return it and their digest."""
    small = make_repo(root)
    digest = hashlib.sha256()
    with (root / FOLDER / TEXT).open("wb") as file:
        for number in range(mib):
            block = os.urandom(MIB) if number else b"GGUF" + os.urandom(MIB - 4)
            digest.update(block)
            file.write(block)
    document = json.loads(small.manifest)
    for row in document["files"]["text"]:
        if row["path"] == TEXT:
            row["sha256"] = digest.hexdigest()
    manifest = json.dumps(document).encode()
    (root / FOLDER / MANIFEST_NAME).write_bytes(manifest)
    return replace(small, manifest=manifest), digest.hexdigest()


@contextlib.contextmanager
def hub_process(root: Path) -> Iterator[str]:
    """Run our hub in a process of its own; yields its address."""
    command = [sys.executable, "-c", SERVE, str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as hub:
        assert hub.stdout is not None
        try:
            yield hub.stdout.readline().strip()
        finally:
            hub.terminate()


def ours_s(repo: BundleRepo, url: str, state: Path) -> float:
    """Return the seconds of a whole verified download, the publication of its tree counted."""
    plan = repo.plan(url, Shelf(repo.root).commit())
    started = time.perf_counter()
    anyio.run(download_bundle, plan, StateLayout(state), lambda event: None)
    return time.perf_counter() - started


def theirs_s(repo: BundleRepo, url: str, folder: Path, digest: str) -> float:
    """Return the seconds of curl and then sha256sum over the large file."""
    address = next(file.url for file in repo.plan(url).files if file.path.text == TEXT)
    target = folder / "curl.bin"
    started = time.perf_counter()
    subprocess.run(["curl", "-sSf", "--noproxy", "*", "-o", str(target), address], check=True)
    summed = subprocess.run(["sha256sum", str(target)], check=True, capture_output=True, text=True)
    elapsed = time.perf_counter() - started
    assert summed.stdout.split()[0] == digest, "curl fetched something else"
    return elapsed


def main() -> None:
    """Run both once and print seconds, rates and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mib", type=int, default=1024)
    mib = parser.parse_args().mib
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        repo, digest = large_repo(folder / "repo", mib)
        with hub_process(folder / "repo") as url:
            theirs = theirs_s(repo, url, folder, digest)
            (folder / "curl.bin").unlink()
            ours = ours_s(repo, url, folder / "state")
    print(f"eliza-agent, verified: {ours:7.2f} s  {mib / ours:7.1f} MiB/s")
    print(f"curl, then sha256sum:  {theirs:7.2f} s  {mib / theirs:7.1f} MiB/s")
    print(f"ratio ours / theirs:   {ours / theirs:7.2f}")


if __name__ == "__main__":
    main()
