"""What the download's stories share: a true bundle, a hub that lies on cue, a state folder, little patience."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.bundle_repo import FOLDER, TEXT, BundleRepo, make_repo
from tests.support.hostile_hub import HostileHub, hostile_hub

from eliza_agent.download.limits import Limits
from eliza_agent.store.layout import StateLayout

TEXT_BYTES = 300_000


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def repo(tmp_path: Path) -> BundleRepo:
    return make_repo(tmp_path / "repo", sizes={TEXT: TEXT_BYTES})


@pytest.fixture
def hub(repo: BundleRepo) -> Iterator[HostileHub]:
    files = {f"{FOLDER}/{path}": data for path, data in repo.files.items()}
    with hostile_hub({**files, f"{FOLDER}/eliza-1.manifest.json": repo.manifest}) as hub:
        yield hub


@pytest.fixture
def layout(tmp_path: Path) -> StateLayout:
    return StateLayout(tmp_path / "state")


@pytest.fixture
def limits() -> Limits:
    return Limits(
        reply_s=2, stall_s=0.4, connect_s=2, attempts=3, first_wait_s=0.01, longest_wait_s=0.05, reserve_bytes=0
    )
