"""Any interleaving of lies, crashes and damage ends with the right bytes or a typed error, on real sockets."""

from __future__ import annotations

import functools
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support import hostile_hub as lies
from tests.support.hostile_hub import HostileHub, hostile_hub

from eliza_agent.download.ledger import Sidecar, encode_sidecar
from eliza_agent.download.limits import Limits
from eliza_agent.download.plan import PlannedFile
from eliza_agent.download.source import HubSource
from eliza_agent.download.transfer import Desk, fetch_file
from eliza_agent.download.transport import Transport
from eliza_agent.store.atomic import prepare_folders
from eliza_agent.store.blobs import BlobStore, hash_file
from eliza_agent.store.layout import StateLayout
from eliza_catalog.errors import ElizaError, StorageError
from eliza_catalog.terms import BundlePath, FileGroup, Sha256

SIZE = 60_000
DATA = b"GGUF" + random.Random(7).randbytes(SIZE - 4)
OTHER = b"GGUF" + random.Random(8).randbytes(SIZE - 4)
LIMITS = Limits(reply_s=2, stall_s=0.2, connect_s=2, attempts=2, first_wait_s=0.001, longest_wait_s=0.002)

PALETTE = {
    "truth": lies.with_headers(),
    "drop at once": lies.drop_after(0),
    "drop early": lies.drop_after(5_000),
    "drop late": lies.drop_after(40_000),
    "200 to a range": lies.ignore_range,
    "200 to a range, dropped": lies.both(lies.ignore_range, lies.drop_after(30_000)),
    "wrong range": lies.wrong_content_range,
    "other bytes": lies.shifted_under_true_range,
    "short range": lies.short_range(9_000),
    "flip": lies.flip_byte(25_000),
    "page": lies.web_page,
    "503": lies.status(503),
    "416": lies.status(416, Content_Range=f"bytes */{SIZE}"),
    "changed": lies.replaced_by(OTHER),
    "another etag": lies.with_headers(ETag='"other"'),
    "weak etag": lies.with_headers(ETag='W/"weak"'),
    "chunked": lies.chunked,
    "chunked, dropped": lies.both(lies.chunked, lies.drop_after(20_000)),
    "shorter": lies.replaced_by(DATA[:100]),
    "longer": lies.replaced_by(DATA + b"more"),
}
DAMAGE = ["none", "truncate", "extend", "zero", "forget sidecar", "garble sidecar", "foreign sidecar", "finished"]

_runs = st.lists(
    st.tuples(
        st.lists(st.sampled_from(sorted(PALETTE)), max_size=4),
        st.none() | st.integers(1, SIZE),
        st.sampled_from(DAMAGE),
    ),
    min_size=1,
    max_size=3,
)


@pytest.fixture
def hub() -> Iterator[HostileHub]:
    """One hub per story: what the last one was told to lie about is no part of the next."""
    with hostile_hub({"text/t.gguf": DATA}) as hub:
        yield hub


def planned(hub: HostileHub, data: bytes = DATA) -> PlannedFile:
    import hashlib

    source, path = HubSource(base_url=hub.url), BundlePath("text/t.gguf")
    digest = Sha256(hashlib.sha256(data).hexdigest())
    return PlannedFile(path=path, sha256=digest, group=FileGroup.TEXT, url=source.address(path))


async def fetch(hub: HostileHub, layout: StateLayout, crash_at: int | None = None, data: bytes = DATA) -> Path | None:
    """Fetch once; None when the crash came first."""
    with anyio.CancelScope() as scope:

        def crash(file: PlannedFile, length: int) -> None:
            if crash_at is not None and length >= crash_at:
                scope.cancel()

        async with Transport(HubSource(base_url=hub.url), LIMITS) as transport:
            desk = Desk(
                layout=layout,
                blobs=BlobStore(layout),
                transport=transport,
                on_length=crash,
                on_retry=lambda file, error: None,
            )
            return await fetch_file(planned(hub, data), len(data), desk)
    return None


def damage(layout: StateLayout, digest: Sha256, how: str) -> None:
    """Do to an unfinished file what disks and people do."""
    part, sidecar = layout.part(digest), layout.sidecar(digest)
    note = Sidecar(sha256=digest, size_bytes=SIZE, validator=None)
    if how == "finished":
        part.write_bytes(DATA)
        sidecar.write_bytes(encode_sidecar(note))
    if not part.exists():
        return
    match how:
        case "truncate":
            part.write_bytes(part.read_bytes()[: part.stat().st_size // 2])
        case "extend":
            part.write_bytes(part.read_bytes() + bytes(SIZE))
        case "zero":
            part.write_bytes(bytes(part.stat().st_size))
        case "forget sidecar":
            sidecar.unlink(missing_ok=True)
        case "garble sidecar":
            sidecar.write_bytes(b'{"version": 1, "sha')
        case "foreign sidecar":
            sidecar.write_bytes(encode_sidecar(Sidecar(sha256=Sha256("0" * 64), size_bytes=5, validator=None)))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=_runs)
def test_right_bytes_or_a_typed_error_and_in_the_end_the_right_bytes(
    hub: HostileHub, runs: list[tuple[list[str], int | None, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        layout = StateLayout(Path(folder))
        prepare_folders(layout)
        digest = planned(hub).sha256
        for told, crash_at, how in runs:
            hub.requests.clear()
            hub.tell("t.gguf", *(PALETTE[name] for name in told))
            blob, failure = None, None
            try:
                blob = anyio.run(functools.partial(fetch, hub, layout, crash_at))
            except ElizaError as error:
                failure = error
            assert failure is None or failure.family in ("download", "integrity")
            assert blob is None or blob.read_bytes() == DATA
            assert layout.blob(digest).exists() == (blob is not None)
            if blob is not None:
                return
            damage(layout, digest, how)
            hub.forget_lies()
        final = anyio.run(fetch, hub, layout)
        assert final is not None
        assert hash_file(final) == digest
        assert not layout.part(digest).exists()


def test_an_empty_file_arrives_too(tmp_path: Path) -> None:
    layout = StateLayout(tmp_path)
    prepare_folders(layout)
    with hostile_hub({"text/t.gguf": b""}) as hub, pytest.raises(ElizaError) as caught:
        anyio.run(functools.partial(fetch, hub, layout, data=b""))
    assert caught.value.code == "integrity.not_gguf"  # it arrived, has its digest, and is no model


def test_a_disk_that_fills_up_midway_is_named_and_keeps_what_arrived(hub: HostileHub, tmp_path: Path) -> None:
    import resource

    layout = StateLayout(tmp_path)
    prepare_folders(layout)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(StorageError) as caught:
            anyio.run(fetch, hub, layout)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.code == "storage.full"
    assert caught.value.exit_code == 6
    assert layout.part(planned(hub).sha256).stat().st_size == 20_000
    hub.requests.clear()
    assert anyio.run(fetch, hub, layout) is not None
    assert [one.headers.get("range") for one in hub.requests] == ["bytes=20000-"]
