"""Stories of the wire: tokens stay home, redirects are followed by hand, patience ends."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import anyio
import pytest
from tests.support import hostile_hub as lies
from tests.support.bundle_repo import FOLDER, TEXT, BundleRepo
from tests.support.hostile_hub import COMMIT, HostileHub, hostile_hub

from eliza_agent.download.limits import Limits
from eliza_agent.download.patience import Patience, is_worth_retrying
from eliza_agent.download.replies import retry_after_s, strong_validator, whole_number
from eliza_agent.download.source import HubSource
from eliza_agent.download.transport import Transport
from eliza_catalog.errors import DownloadError, ManifestError
from eliza_catalog.terms import BundlePath

pytestmark = pytest.mark.anyio
MANIFEST = "eliza-1.manifest.json"


@pytest.fixture
def other_host(hub: HostileHub) -> Iterator[HostileHub]:
    """The same files on another origin."""
    with hostile_hub(hub.files) as other:
        yield other


def source(hub: HostileHub, token: str | None = None) -> HubSource:
    return HubSource(base_url=hub.url, token=token)


async def test_the_manifest_comes_with_its_digest_and_pins_the_commit(
    hub: HostileHub, repo: BundleRepo, limits: Limits
) -> None:
    async with Transport(source(hub), limits) as transport:
        fetched = await transport.fetch_manifest(FOLDER)
    assert fetched.data == repo.manifest
    assert fetched.source.revision == COMMIT
    assert COMMIT in fetched.source.address(BundlePath("a b/c#d"))
    assert fetched.source.address(BundlePath("a b/c#d")).endswith("/a%20b/c%23d")


async def test_a_hub_without_commits_keeps_the_asked_revision(hub: HostileHub, limits: Limits) -> None:
    hub.commit = None
    async with Transport(source(hub), limits) as transport:
        assert (await transport.fetch_manifest(FOLDER)).source.revision == "main"


async def test_a_manifest_beyond_a_mebibyte_is_not_read_to_its_end(hub: HostileHub, limits: Limits) -> None:
    huge = lies.both(lies.replaced_by(bytes(4 << 20)), lies.chunked)
    hub.tell(MANIFEST, huge)
    async with Transport(source(hub), limits) as transport:
        with pytest.raises(ManifestError) as caught:
            await transport.fetch_manifest(FOLDER)
    assert caught.value.code == "manifest.too_large"


async def test_a_login_page_is_no_manifest(hub: HostileHub, limits: Limits) -> None:
    hub.tell(MANIFEST, lies.web_page)
    async with Transport(source(hub), limits) as transport:
        with pytest.raises(DownloadError) as caught:
            await transport.fetch_manifest(FOLDER)
    assert caught.value.code == "download.bad_reply"


async def test_a_token_goes_to_its_own_origin_only(hub: HostileHub, other_host: HostileHub, limits: Limits) -> None:
    hub.tell(TEXT, lies.redirect_to(f"{other_host.url}/x/{FOLDER}/{TEXT}"))
    async with Transport(source(hub, "secret"), limits) as transport:
        url = transport.source.address(BundlePath(f"{FOLDER}/{TEXT}"))
        async with transport.open_body(url) as body:
            assert body.facts.status == 200
    assert hub.requests[0].headers["authorization"] == "Bearer secret"
    assert "authorization" not in other_host.requests[0].headers


async def test_a_token_is_sent_again_to_its_own_origin(hub: HostileHub, limits: Limits) -> None:
    hub.tell(TEXT, lies.redirect_to(f"/elsewhere/{FOLDER}/{TEXT}", 307))
    home = source(hub, "secret")
    url = home.address(BundlePath(f"{FOLDER}/{TEXT}"))
    async with Transport(home, limits) as transport, transport.open_body(url) as body:
        assert body.facts.status == 200
    assert [one.headers["authorization"] for one in hub.requests] == ["Bearer secret"] * 2


async def test_a_token_is_in_no_text(hub: HostileHub) -> None:
    assert "secret" not in repr(source(hub, "secret"))
    with pytest.raises(Exception, match="cannot be used") as caught:
        HubSource(base_url="https://me:secret@hub.example")
    assert "secret" not in str(caught.value.as_json())  # type: ignore[attr-defined]


async def test_sizes_come_from_the_hub_even_when_the_bytes_are_elsewhere(
    hub: HostileHub, other_host: HostileHub, repo: BundleRepo, limits: Limits
) -> None:
    far, etag = f"{other_host.url}/x/{FOLDER}/{TEXT}", f'"{repo.digest(TEXT)}"'
    linked = {"X_Linked_Size": "300000", "X_Linked_Etag": etag, "X_Repo_Commit": COMMIT}
    hub.tell(TEXT, lies.redirect_to(far, 302, **linked), method="HEAD")
    other_host.commit = "f" * 40
    async with Transport(source(hub), limits) as transport:
        remote = await transport.measure(transport.source.address(BundlePath(f"{FOLDER}/{TEXT}")))
    assert (remote.size_bytes, remote.linked_etag, remote.commit) == (300_000, repo.digest(TEXT), COMMIT)
    assert remote.accepts_ranges


async def test_a_hub_that_hides_the_size_is_refused(hub: HostileHub, limits: Limits) -> None:
    hub.always(TEXT, lies.chunked, method="HEAD")
    async with Transport(source(hub), limits) as transport:
        with pytest.raises(DownloadError) as caught:
            await transport.measure(transport.source.address(BundlePath(f"{FOLDER}/{TEXT}")))
    assert caught.value.code == "download.bad_reply"


@pytest.mark.parametrize(
    ("lie", "code", "requests"),
    [
        (lies.status(401), "download.gated", 1),
        (lies.status(403), "download.gated", 1),
        (lies.status(404), "download.not_found", 1),
        (lies.status(410), "download.not_found", 1),
        (lies.status(418), "download.http_status", 1),
        (lies.status(500), "download.http_status", 3),
        (lies.redirect_to("ftp://somewhere/x"), "download.bad_reply", 1),
        (lies.redirect_to("http://["), "download.bad_reply", 1),
        (lies.status(302), "download.bad_reply", 1),
    ],
)
async def test_a_refusal_is_named_and_retried_only_where_it_may_help(
    hub: HostileHub, limits: Limits, lie: lies.Lie, code: str, requests: int
) -> None:
    hub.always(MANIFEST, lie)
    async with Transport(source(hub), limits) as transport:
        with pytest.raises(DownloadError) as caught:
            await transport.fetch_manifest(FOLDER)
    assert caught.value.code == code
    assert len(hub.requests) == requests


async def test_a_circle_of_redirects_ends(hub: HostileHub, limits: Limits) -> None:
    hub.always(MANIFEST, lies.redirect_to(f"{hub.url}/x/{FOLDER}/{MANIFEST}"))
    async with Transport(source(hub), limits) as transport:
        with pytest.raises(DownloadError) as caught:
            await transport.fetch_manifest(FOLDER)
    assert caught.value.code == "download.bad_reply"
    assert len(hub.requests) == limits.redirects + 1


async def test_nobody_at_the_address_is_offline(limits: Limits) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with Transport(HubSource(base_url=f"http://127.0.0.1:{port}"), limits) as transport:
        with pytest.raises(DownloadError) as caught:
            await transport.fetch_manifest(FOLDER)
    assert caught.value.code == "download.offline"
    assert "127.0.0.1" in caught.value.message


async def test_a_hub_that_accepts_and_says_nothing_times_out() -> None:
    limits = Limits(reply_s=0.2, stall_s=5, attempts=1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        base = f"http://127.0.0.1:{silent.getsockname()[1]}"
        started = time.monotonic()
        async with Transport(HubSource(base_url=base), limits) as transport:
            with pytest.raises(DownloadError) as caught:
                await transport.fetch_manifest(FOLDER)
    assert caught.value.code == "download.timeout"
    assert time.monotonic() - started < 3


async def test_a_long_wait_is_capped_and_a_date_is_read_against_the_hubs_clock() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    headers = {"retry-after": "Wed, 01 Jan 2020 00:00:30 GMT", "date": "Wed, 01 Jan 2020 00:00:00 GMT"}
    assert retry_after_s(headers, now) == 30
    assert retry_after_s({"retry-after": "Thu, 01 Jan 2026 00:00:07 GMT"}, now) == 7
    assert retry_after_s({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, now) == 0
    assert retry_after_s({"retry-after": "12"}, now) == 12
    assert retry_after_s({"retry-after": "soon"}, now) is None
    assert retry_after_s({}, now) is None


async def test_a_hub_cannot_make_us_wait_for_a_day(hub: HostileHub) -> None:
    hub.tell(MANIFEST, lies.status(503, Retry_After="86400"))
    started = time.monotonic()
    async with Transport(source(hub), Limits(longest_retry_after_s=0.1)) as transport:
        await transport.fetch_manifest(FOLDER)
    assert 0.1 <= time.monotonic() - started < 5


async def test_patience_doubles_is_bounded_and_new_after_progress() -> None:
    received = 0
    patience = Patience(Limits(attempts=3, first_wait_s=1, longest_wait_s=3), lambda: received)
    waits = []
    for _ in range(3):
        patience.note()
        waits.append(patience.wait_s(None))
    assert 0.5 <= waits[0] <= 1 <= waits[1] <= 2
    assert 1.5 <= waits[2] <= 3
    assert patience.is_exhausted()
    received = 1
    patience.note()
    assert not patience.is_exhausted()
    assert patience.wait_s(DownloadError("http_status", "busy", details={"retry_after_s": 9})) == 9


async def test_only_passing_faults_are_worth_a_retry() -> None:
    assert is_worth_retrying(DownloadError("stalled", "x"))
    assert is_worth_retrying(DownloadError("http_status", "x", details={"status": 429}))
    assert not is_worth_retrying(DownloadError("http_status", "x", details={"status": 400}))
    assert not is_worth_retrying(DownloadError("gated", "x"))
    assert not is_worth_retrying(ManifestError("too_large", "x"))


@pytest.mark.parametrize("weak", ['W/"x"', "x", '"a"b"', "", None])
async def test_a_weak_etag_guards_nothing(weak: str | None) -> None:
    assert strong_validator(weak) is None


@pytest.mark.parametrize("half", ["1junk", "-1", "+1", "1.0", "", " 1", "١", None])
async def test_half_a_number_is_no_number(half: str | None) -> None:
    assert whole_number(half) is None


@pytest.mark.parametrize(
    "base",
    [
        "http://hub.example",
        "ftp://hub.example",
        "hub.example",
        "https://",
        "https://u:p@hub.example",
        "https://hub.example?x=1",
        "http://[",
    ],
)
async def test_an_address_that_cannot_be_a_hub_is_refused(base: str) -> None:
    with pytest.raises(Exception, match="hub cannot be used") as caught:
        HubSource(base_url=base)
    assert caught.value.code == "settings.bad_value"  # type: ignore[attr-defined]


@pytest.mark.parametrize("base", ["http://127.0.0.1:1", "http://[::1]:1", "http://192.168.1.4", "http://nas.local"])
async def test_plain_http_is_for_this_device_and_its_network(base: str) -> None:
    assert HubSource(base_url=base).base_url == base
    assert HubSource(base_url="http://hub.example", allow_plain_http=True)


async def test_a_certificate_nobody_knows_is_not_trusted(tmp_path: Path, limits: Limits) -> None:
    import shutil
    import ssl
    import threading

    if shutil.which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    key, certificate = tmp_path / "k.pem", tmp_path / "c.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    await anyio.run_process([*make, "-keyout", str(key), "-out", str(certificate)])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            connection, _ = listener.accept()
            try:
                context.wrap_socket(connection, server_side=True)
            except (ssl.SSLError, OSError):
                connection.close()

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        base = f"https://localhost:{listener.getsockname()[1]}"
        async with Transport(HubSource(base_url=base), limits) as transport:
            with pytest.raises(DownloadError) as caught:
                await transport.fetch_manifest(FOLDER)
        thread.join(5)
    assert caught.value.code == "download.bad_reply"
    assert "trusted" in caught.value.message
