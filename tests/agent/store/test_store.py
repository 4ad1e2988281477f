"""Stories of the state folder: whole or absent, one writer, typed faults, and a disk that fills up."""

from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eliza_agent.store import atomic
from eliza_agent.store.active import ActiveFile
from eliza_agent.store.atomic import prepare_folders, write_bytes
from eliza_agent.store.blobs import BlobStore
from eliza_agent.store.layout import StateLayout, bundle_key
from eliza_agent.store.lock import lock_state
from eliza_agent.store.registry import InstalledBundle, Registry
from eliza_agent.store.removal import remove_bundle
from eliza_catalog.errors import ActivationError, IntegrityError, StorageError
from eliza_catalog.terms import BundlePath, Sha256, Tier

HOLD = """
import sys
from pathlib import Path
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.lock import lock_state
with lock_state(StateLayout(Path(sys.argv[1]))):
    print("held", flush=True)
    sys.stdin.read()
"""
SHARED, OWN_ONE, OWN_TWO = b"shared" * 50, b"one" * 100, b"two" * 200
DOCUMENTS = {"eliza-1.manifest.json": b"{}"}


@pytest.fixture
def layout(tmp_path: Path) -> StateLayout:
    layout = StateLayout(tmp_path / "state")
    prepare_folders(layout)
    return layout


def adopt(layout: StateLayout, data: bytes) -> Sha256:
    digest = Sha256(hashlib.sha256(data).hexdigest())
    layout.part(digest).write_bytes(data)
    BlobStore(layout).adopt(layout.part(digest), digest)
    return digest


def install(layout: StateLayout, version: str, *contents: bytes) -> str:
    """Publish and list a bundle of these contents, as setup does."""
    files = {BundlePath(f"text/{number}.bin"): adopt(layout, data) for number, data in enumerate(contents)}
    manifest = Sha256(hashlib.sha256(version.encode()).hexdigest())
    key = bundle_key("eliza-1-e2b", version, manifest)
    BlobStore(layout).materialise(key, files, DOCUMENTS)
    row = InstalledBundle(
        key=key,
        id="eliza-1-e2b",
        tier=next(iter(Tier)),
        version=version,
        manifest_sha256=manifest,
        size_bytes=sum(map(len, contents)),
        installed_at=datetime(2026, 1, 1, tzinfo=UTC),
        is_standin=False,
        hub="https://hub.example",
        revision="main",
    )
    Registry(layout).add(row)
    return key


@pytest.mark.parametrize(("number", "code"), [(errno.ENOSPC, "full"), (errno.EIO, "failed"), (errno.EACCES, "denied")])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_refused_write_leaves_the_old_file_and_no_litter(
    layout: StateLayout, monkeypatch: pytest.MonkeyPatch, call: str, number: int, code: str
) -> None:
    target = layout.root / "note"
    write_bytes(target, b"old")
    before = sorted(layout.root.iterdir())

    def refuse(*arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, call, refuse)
    with pytest.raises(StorageError) as caught:
        write_bytes(target, b"new")
    assert caught.value.code == f"storage.{code}"
    assert target.read_bytes() == b"old"
    assert sorted(layout.root.iterdir()) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_really_full_device_is_storage_full(layout: StateLayout) -> None:
    with pytest.raises(StorageError) as caught, atomic.disk_errors(layout.root):
        Path("/dev/full").write_bytes(b"x")
    assert caught.value.code == "storage.full"


def test_a_full_disk_publishes_no_half_tree(layout: StateLayout, monkeypatch: pytest.MonkeyPatch) -> None:
    digest = adopt(layout, SHARED)

    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(StorageError) as caught:
            BlobStore(layout).materialise("a@1+x", {BundlePath("a/b"): digest}, DOCUMENTS)
    assert caught.value.code == "storage.full"
    assert list(layout.bundles.iterdir()) == list(layout.staging.iterdir()) == []
    BlobStore(layout).materialise("a@1+x", {BundlePath("a/b"): digest}, DOCUMENTS)
    assert (layout.bundle("a@1+x") / "a/b").read_bytes() == SHARED


def test_another_process_is_named_and_its_death_frees_the_lock(layout: StateLayout) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-c", HOLD, str(layout.root)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(StorageError) as caught, lock_state(layout):
            pass
        other.send_signal(signal.SIGKILL)
        other.wait()
    assert caught.value.code == "storage.locked"
    assert caught.value.details["pid"] == other.pid
    assert str(other.pid) in caught.value.message
    with lock_state(layout) as outer, lock_state(layout) as inner:
        assert inner is outer
    assert not outer.is_held


def test_a_missing_blob_is_named_and_nothing_is_published(layout: StateLayout) -> None:
    with pytest.raises(IntegrityError) as caught:
        BlobStore(layout).materialise("a@1+x", {BundlePath("a"): Sha256("0" * 64)}, DOCUMENTS)
    assert caught.value.code == "integrity.missing"
    assert list(layout.bundles.iterdir()) == list(layout.staging.iterdir()) == []


def test_a_changed_tree_is_replaced_and_a_damaged_blob_is_noticed(layout: StateLayout) -> None:
    digest, blobs = adopt(layout, SHARED), BlobStore(layout)
    place = blobs.materialise("a@1+x", {BundlePath("a"): digest}, DOCUMENTS) / "a"
    place.unlink()
    place.write_bytes(b"junk")
    blobs.materialise("a@1+x", {BundlePath("a"): digest}, DOCUMENTS)
    assert place.read_bytes() == SHARED
    assert blobs.is_intact(digest)
    layout.blob(digest).write_bytes(b"rot")
    assert not blobs.is_intact(digest)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"null", b'{"schema": 9}', b'{"schema": 1, "bundles": [{}]}', b"\xff"]
)
def test_a_list_that_cannot_be_read_is_never_an_empty_list(layout: StateLayout, data: bytes) -> None:
    layout.registry.write_bytes(data)
    layout.active.write_bytes(data)
    for read in (Registry(layout).list, ActiveFile(layout).read):
        with pytest.raises(StorageError) as caught:
            read()
        assert caught.value.code == "storage.registry_corrupt"
    assert layout.registry.read_bytes() == data


def test_rollback_changes_places_and_needs_an_earlier_one(layout: StateLayout) -> None:
    one, two = install(layout, "1.0.0", SHARED), install(layout, "2.0.0", SHARED, OWN_TWO)
    active = ActiveFile(layout)
    active.activate(one)
    with pytest.raises(ActivationError) as caught:
        active.rollback()
    assert caught.value.code == "activation.no_previous"
    active.activate(two)
    assert (active.rollback().active, active.read().previous) == (one, two)
    assert active.rollback().active == two


def test_removal_frees_what_nobody_else_needs_and_never_the_active_one(layout: StateLayout) -> None:
    one, two = install(layout, "1.0.0", SHARED, OWN_ONE), install(layout, "2.0.0", SHARED, OWN_TWO)
    ActiveFile(layout).activate(one)
    ActiveFile(layout).activate(two)
    with pytest.raises(ActivationError) as caught:
        remove_bundle(layout, two)
    assert caught.value.code == "activation.in_use"
    assert remove_bundle(layout, one) == len(OWN_ONE)
    assert [row.key for row in Registry(layout).list()] == [two]
    assert ActiveFile(layout).read().previous is None
    assert not layout.bundle(one).exists()
    assert (layout.bundle(two) / "text/0.bin").read_bytes() == SHARED
    with pytest.raises(ActivationError) as gone:
        remove_bundle(layout, one)
    assert gone.value.code == "activation.not_installed"
