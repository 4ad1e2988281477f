"""Stories of other processes: one is killed in mid-download, one comes while another is at work."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from tests.support import hostile_hub as lies
from tests.support.bundle_repo import FOLDER, TEXT, make_repo

from eliza_agent.store.blobs import hash_file
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.lock import hold_lock
from eliza_catalog.terms import Sha256

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_two_at_once_is_refused_and_names_the_first(layout: StateLayout) -> None:
    async with hold_lock(layout):
        other = _process("-c", _HOLD, str(layout.root))
        out, _ = await anyio.to_thread.run_sync(other.communicate)
    assert out.strip() == f"storage.locked {os.getpid()}"


# Bytes that the killed process had not yet read lie in the kernel's buffers and count as served: a constant of some
# hundred kB on loopback, not a share, so the bundle must be large enough for the bound to speak of our own waste.
_SIZE_BYTES = 32_000_000


@pytest.mark.parametrize("fraction", [0.02, 0.5, 0.97])
async def test_sigkill_in_mid_download_costs_nothing(tmp_path: Path, layout: StateLayout, fraction: float) -> None:
    repo = make_repo(tmp_path / "big", sizes={TEXT: _SIZE_BYTES})
    files = {f"{FOLDER}/{path}": data for path, data in repo.files.items()}
    with lies.hostile_hub({**files, f"{FOLDER}/eliza-1.manifest.json": repo.manifest}) as hub:
        hub.bytes_per_s = 64_000_000
        first = _process("-m", "tests.support.download_child", hub.url, str(layout.root))
        part = layout.part(Sha256(repo.digest(TEXT)))
        while not (part.exists() and part.stat().st_size >= fraction * _SIZE_BYTES):
            assert first.poll() is None, first.communicate()
            await anyio.sleep(0.002)
        first.send_signal(signal.SIGKILL)
        await anyio.to_thread.run_sync(first.communicate)
        hub.bytes_per_s = None
        second = _process("-m", "tests.support.download_child", hub.url, str(layout.root))
        out, _ = await anyio.to_thread.run_sync(second.communicate)
        assert second.returncode == 0, out
        assert hash_file(layout.blob(Sha256(repo.digest(TEXT)))).hex == repo.digest(TEXT)
        assert hub.bytes_sent() <= 1.05 * (repo.size_bytes + 2 * len(repo.manifest))


_HOLD = """
import sys
from pathlib import Path
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.lock import lock_state
from eliza_catalog.errors import StorageError
try:
    with lock_state(StateLayout(Path(sys.argv[1]))):
        print("held")
except StorageError as error:
    print(error.code, error.details["pid"])
"""


def _process(*arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, env=environment, cwd=Path(__file__).parents[3]
    )
