"""Stories of a whole bundle: it arrives, it resumes, and no lie of a hub gets past the digest."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.support import hostile_hub as lies
from tests.support.bundle_repo import FOLDER, TEXT, VAD, BundleRepo
from tests.support.hostile_hub import COMMIT, HostileHub

from eliza_agent.download.events import DownloadEvent, FileDone, Planned, Progress, Retrying
from eliza_agent.download.limits import Limits
from eliza_agent.download.plan import StagedBundle
from eliza_agent.download.pool import download_bundle
from eliza_agent.store.blobs import BlobStore
from eliza_agent.store.layout import StateLayout
from eliza_catalog.errors import DownloadError, IntegrityError, StorageError
from eliza_catalog.terms import Sha256

pytestmark = pytest.mark.anyio


class World:
    """One download and what it told."""

    def __init__(self, repo: BundleRepo, hub: HostileHub, layout: StateLayout, limits: Limits) -> None:
        self.repo, self.hub, self.layout, self.limits = repo, hub, layout, limits
        self.events: list[DownloadEvent] = []

    async def download(self) -> StagedBundle:
        plan = self.repo.plan(self.hub.url, COMMIT)
        return await download_bundle(plan, self.layout, self.events.append, limits=self.limits)

    def part(self, path: str = TEXT) -> Path:
        return self.layout.part(Sha256(self.repo.digest(path)))

    def is_true(self, staged: StagedBundle) -> bool:
        return all((staged.root / path).read_bytes() == data for path, data in self.repo.files.items())

    def ranges(self, path: str = TEXT) -> list[str | None]:
        return [one.headers.get("range") for one in self.hub.asked(path)]


@pytest.fixture
def world(repo: BundleRepo, hub: HostileHub, layout: StateLayout, limits: Limits) -> World:
    return World(repo, hub, layout, limits)


async def test_a_bundle_arrives_whole_and_leaves_no_parts(world: World) -> None:
    staged = await world.download()
    assert world.is_true(staged)
    assert (staged.root / "eliza-1.manifest.json").read_bytes() == world.repo.manifest
    assert staged.size_bytes == world.repo.size_bytes == world.hub.bytes_sent()
    assert list(world.layout.parts.iterdir()) == []
    assert (staged.root / TEXT).samefile(world.layout.blob(Sha256(world.repo.digest(TEXT))))


async def test_a_second_run_asks_the_network_nothing(world: World) -> None:
    await world.download()
    world.hub.requests.clear()
    staged = await world.download()
    assert world.hub.requests == []
    assert staged.size_bytes == world.repo.size_bytes


async def test_the_bar_starts_at_zero_never_exceeds_and_ends_full(world: World) -> None:
    await world.download()
    planned = world.events[0]
    assert planned == Planned(total_bytes=world.repo.size_bytes, files=len(world.repo.files), present_bytes=0)
    seen = [event for event in world.events if isinstance(event, Progress)]
    assert all(event.received_bytes <= event.total_bytes == planned.total_bytes for event in seen)
    assert seen[-1].received_bytes == planned.total_bytes
    assert sum(isinstance(event, FileDone) for event in world.events) == len(world.repo.files)


async def test_small_files_come_before_the_large_one(world: World) -> None:
    world.limits = replace(world.limits, parallel_files=1)
    await world.download()
    assert world.hub.asked(TEXT)[0] is [one for one in world.hub.requests if one.method == "GET"][-1]


async def test_equal_files_are_fetched_once(world: World, tmp_path: Path) -> None:
    plan = world.repo.plan(world.hub.url, COMMIT)
    twin = [file for file in plan.files if file.path.text == VAD]
    assert len(plan.distinct_files()) == len(plan.files)
    doubled = type(plan)(manifest=plan.manifest, fetched=plan.fetched, files=(*plan.files, *twin))
    assert len(doubled.distinct_files()) == len(plan.files)


async def test_a_broken_connection_is_continued_where_it_stopped(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.drop_after(50_000))
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=100000-", "bytes=150000-"]
    assert world.hub.bytes_sent() == world.repo.size_bytes
    assert [event.code for event in world.events if isinstance(event, Retrying)] == ["download.offline"] * 2


async def test_progress_gives_new_patience(world: World) -> None:
    world.hub.tell(TEXT, *[lies.drop_after(20_000)] * 10)
    assert world.limits.attempts < 10
    assert world.is_true(await world.download())


async def test_a_hub_that_always_hangs_up_at_once_is_given_up_and_the_part_kept(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000))
    world.hub.always(TEXT, lies.drop_after(0))
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.offline"
    assert world.part().stat().st_size == 100_000


async def test_a_hub_that_restarts_and_drops_forever_is_given_up(world: World) -> None:
    world.hub.always(TEXT, lies.both(lies.ignore_range, lies.drop_after(100_000)))
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.offline"


async def test_a_stalled_hub_is_left_and_resumed(world: World) -> None:
    world.hub.tell(TEXT, lies.stall_after(80_000))
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=80000-"]
    assert [event.code for event in world.events if isinstance(event, Retrying)] == ["download.stalled"]


async def test_a_200_to_a_range_begins_anew(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.ignore_range)
    assert world.is_true(await world.download())
    assert world.hub.bytes_sent() == world.repo.size_bytes + 100_000


async def test_a_wrong_content_range_never_reaches_the_part(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.wrong_content_range)
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=100000-", None]


async def test_endless_wrong_content_ranges_are_a_typed_error(world: World) -> None:
    world.hub.always(TEXT, lies.both(lies.wrong_content_range, lies.drop_after(100_000)))
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code in ("download.bad_reply", "download.offline")


async def test_a_shorter_range_than_asked_is_used_and_continued(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.short_range(50_000))
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=100000-", "bytes=150000-"]


async def test_wrong_bytes_under_a_true_range_are_fetched_anew(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.shifted_under_true_range)
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=100000-", None]


async def test_one_flipped_byte_each_time_is_the_hubs_fault(world: World) -> None:
    world.hub.always(TEXT, lies.flip_byte(1234))
    with pytest.raises(IntegrityError) as caught:
        await world.download()
    assert caught.value.code == "integrity.digest"
    assert caught.value.exit_code == 5
    assert caught.value.details["path"] == TEXT
    assert caught.value.details["same_bytes_twice"] is True
    assert not world.part().exists()
    assert list(world.layout.bundles.iterdir()) == []


async def test_bytes_that_differ_each_time_are_the_paths_fault(world: World) -> None:
    world.hub.tell(TEXT, lies.flip_byte(1000), lies.flip_byte(2000))
    with pytest.raises(IntegrityError) as caught:
        await world.download()
    assert caught.value.details["same_bytes_twice"] is False


async def test_one_bad_copy_is_healed_by_fetching_again(world: World) -> None:
    world.hub.tell(TEXT, lies.flip_byte(1000))
    assert world.is_true(await world.download())


async def test_a_login_page_never_becomes_a_model(world: World) -> None:
    world.hub.always(TEXT, lies.web_page)
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.bad_reply"
    assert not world.part().exists() or world.part().stat().st_size == 0


async def test_a_page_in_disguise_is_no_model_file(world: World) -> None:
    page = lies.both(lies.web_page, lies.with_headers(Content_Type="application/octet-stream"))
    world.hub.always(TEXT, lies.both(page, lambda reply: setattr(reply, "body", reply.body.ljust(300_000))))
    with pytest.raises(IntegrityError) as caught:
        await world.download()
    assert caught.value.code == "integrity.not_gguf"


async def test_a_body_of_another_length_is_refused(world: World) -> None:
    world.hub.always(TEXT, lies.replaced_by(b"GGUF" * 50))
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.bad_reply"


async def test_a_chunked_body_without_length_is_measured_by_its_end(world: World) -> None:
    world.hub.tell(TEXT, lies.chunked)
    assert world.is_true(await world.download())


async def test_a_chunked_body_that_never_ends_is_cut(world: World) -> None:
    endless = lies.both(lies.chunked, lambda reply: setattr(reply, "body", reply.body + bytes(1_000_000)))
    world.hub.always(TEXT, endless)
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.bad_reply"
    assert world.part().stat().st_size <= len(world.repo.files[TEXT])


async def test_a_refused_range_begins_anew(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.status(416, Content_Range="bytes */300000"))
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=100000-", None]


async def test_a_changed_file_midway_restarts_that_file_only(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000), lies.with_headers(ETag='"another"'))
    assert world.is_true(await world.download())
    assert world.ranges() == [None, "bytes=100000-", None]
    assert all(len(world.hub.asked(path)) == 1 for path in world.repo.files if path != TEXT)


async def test_a_resume_is_conditional_on_the_same_file(world: World) -> None:
    world.hub.tell(TEXT, lies.drop_after(100_000))
    await world.download()
    assert world.hub.asked(TEXT)[1].headers["if-range"] == f'"{world.repo.digest(TEXT)}"'


async def test_retry_after_is_honoured(world: World) -> None:
    world.hub.tell(TEXT, lies.status(429, Retry_After="1"))
    started = time.monotonic()
    assert world.is_true(await world.download())
    assert time.monotonic() - started >= 1.0


async def test_a_busy_hub_is_asked_again(world: World) -> None:
    world.hub.tell(TEXT, lies.status(503), lies.status(500))
    world.hub.tell(VAD, lies.status(502), method="HEAD")
    assert world.is_true(await world.download())


async def test_an_absent_file_is_asked_for_once(world: World) -> None:
    world.hub.always(TEXT, lies.status(404), method="HEAD")
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.not_found"
    assert [one for one in world.hub.requests if one.method == "GET"] == []


async def test_an_expired_signed_address_is_resolved_anew(world: World, repo: BundleRepo) -> None:
    with lies.hostile_hub(world.hub.files) as cdn:
        far = f"{cdn.url}/cdn/x/y/{FOLDER}/{TEXT}?signature=secret"
        world.hub.always(TEXT, lies.redirect_to(far))
        cdn.tell(TEXT, lies.drop_after(100_000), lies.status(403))
        assert world.is_true(await world.download())
        assert [one.headers.get("range") for one in cdn.asked(TEXT)] == [None, "bytes=100000-", "bytes=100000-"]


async def test_the_hubs_own_word_on_another_digest_stops_before_any_byte(world: World) -> None:
    world.hub.always(TEXT, lies.with_headers(X_Linked_Etag=f'"{"0" * 64}"'), method="HEAD")
    with pytest.raises(IntegrityError):
        await world.download()
    assert world.hub.bytes_sent() == 0


async def test_an_answer_from_another_commit_stops_before_any_byte(world: World) -> None:
    world.hub.commit = "0" * 40
    with pytest.raises(DownloadError) as caught:
        await world.download()
    assert caught.value.code == "download.source_changed"
    assert world.hub.bytes_sent() == 0


async def test_a_disk_that_is_too_small_is_known_before_any_byte(world: World) -> None:
    world.limits = Limits(reserve_bytes=1 << 60)
    with pytest.raises(StorageError) as caught:
        await world.download()
    assert caught.value.code == "storage.full"
    assert caught.value.details["needed_bytes"] == world.repo.size_bytes
    assert world.hub.bytes_sent() == 0


async def test_a_finished_part_that_was_not_renamed_costs_no_byte(world: World) -> None:
    await world.download()
    digest = Sha256(world.repo.digest(TEXT))
    world.hub.requests.clear()
    BlobStore(world.layout).discard(digest)
    _plant(world, digest, world.repo.files[TEXT])
    assert world.is_true(await world.download())
    assert world.hub.asked(TEXT) == []


async def test_a_part_for_another_file_is_not_continued(world: World) -> None:
    digest = Sha256(world.repo.digest(TEXT))
    world.layout.parts.mkdir(parents=True)
    world.layout.part(digest).write_bytes(b"x" * 1000)
    world.layout.sidecar(digest).write_text("{not json")
    assert world.is_true(await world.download())
    assert world.ranges() == [None]


async def test_a_damaged_file_of_the_store_is_fetched_anew(world: World) -> None:
    staged = await world.download()
    with (staged.root / VAD).open("r+b") as file:
        file.seek(100)
        file.write(b"!")
    world.hub.requests.clear()
    assert world.is_true(await world.download())
    assert [one.path.rsplit("/", 1)[1] for one in world.hub.requests if one.method == "GET"] == [VAD.split("/")[1]]


async def test_a_cancelled_download_keeps_what_arrived(world: World) -> None:
    world.hub.bytes_per_s = 1_000_000
    with anyio.CancelScope() as scope:

        def stop_in_the_middle(event: DownloadEvent) -> None:
            if isinstance(event, Progress) and event.received_bytes > world.repo.size_bytes / 2:
                scope.cancel()

        world.limits = replace(world.limits, events_per_s=1e6)
        plan = world.repo.plan(world.hub.url, COMMIT)
        await download_bundle(plan, world.layout, stop_in_the_middle, limits=world.limits)
    assert scope.cancelled_caught
    kept = world.part().stat().st_size
    assert kept > 0
    world.hub.bytes_per_s = None
    assert world.is_true(await world.download())
    assert world.ranges()[-1] == f"bytes={kept}-"


def _plant(world: World, digest: Sha256, data: bytes) -> None:
    from eliza_agent.download.ledger import Sidecar, encode_sidecar

    world.layout.part(digest).write_bytes(data)
    world.layout.sidecar(digest).write_bytes(
        encode_sidecar(Sidecar(sha256=digest, size_bytes=len(data), validator=None))
    )
