"""Stories of our own hub, over a real socket: ranges, pins, refusals, and a log that counts true bytes."""

from __future__ import annotations

import hashlib
import http.client
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import anyio
import pytest
from tests.support.bundle_repo import FOLDER, TEXT, BundleRepo, make_repo

from eliza_agent.hub.serve import HubAddress, running_hub
from eliza_catalog.errors import SettingsError

pytestmark = pytest.mark.anyio
MAIN = f"/elizaos/eliza-1/resolve/main/{FOLDER}"
SIZE = 300_000


class Answer:
    """One reply, read to its end."""

    def __init__(self, reply: http.client.HTTPResponse) -> None:
        self.status, self.headers, self.body = reply.status, reply.headers, reply.read()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def repo(tmp_path: Path) -> BundleRepo:
    return make_repo(tmp_path / "repo", sizes={TEXT: SIZE})


@pytest.fixture
async def hub(repo: BundleRepo, tmp_path: Path) -> AsyncIterator[HubAddress]:
    async with running_hub(repo.root, request_log=tmp_path / "requests.jsonl") as hub:
        yield hub


async def ask(hub: HubAddress, target: str, method: str = "GET", **headers: str) -> Answer:
    """Send `target` exactly as written, which no tidy client would."""

    def send() -> Answer:
        connection = http.client.HTTPConnection(urlsplit(hub.url).netloc, timeout=10)
        try:
            connection.request(method, target, headers={name.replace("_", "-"): to for name, to in headers.items()})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    return await anyio.to_thread.run_sync(send)


async def test_the_whole_file_comes_under_its_digest(hub: HubAddress, repo: BundleRepo) -> None:
    answer = await ask(hub, f"{MAIN}/{TEXT}")
    assert (answer.status, answer.body) == (200, repo.files[TEXT])
    assert answer.headers["ETag"] == f'"{hashlib.sha256(answer.body).hexdigest()}"'


async def test_head_tells_size_digest_and_commit_without_a_byte(hub: HubAddress, repo: BundleRepo) -> None:
    answer = await ask(hub, f"{MAIN}/{TEXT}", "HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["Content-Length"] == answer.headers["X-Linked-Size"] == str(SIZE)
    assert answer.headers["X-Linked-Etag"] == f'"{repo.digest(TEXT)}"'
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert len(answer.headers["X-Repo-Commit"]) == 40


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=1000-", 1000, SIZE - 1),
        ("bytes=5-9", 5, 9),
        ("bytes=-7", SIZE - 7, SIZE - 1),
        (f"bytes=10-{SIZE * 9}", 10, SIZE - 1),
    ],
)
async def test_a_range_is_exactly_what_was_asked(
    hub: HubAddress, repo: BundleRepo, asked: str, first: int, last: int
) -> None:
    answer = await ask(hub, f"{MAIN}/{TEXT}", Range=asked)
    assert answer.status == 206
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/{SIZE}"
    assert answer.body == repo.files[TEXT][first : last + 1]


@pytest.mark.parametrize("odd", ["bytes=9-5", "bytes=-", "bytes=a-b", "lines=0-5", "bytes=0-1,5-6"])
async def test_a_range_that_cannot_be_read_gets_the_whole_file(hub: HubAddress, odd: str) -> None:
    answer = await ask(hub, f"{MAIN}/{TEXT}", Range=odd)
    assert (answer.status, len(answer.body)) == (200, SIZE)


@pytest.mark.parametrize("behind", [f"bytes={SIZE}-", f"bytes={SIZE + 5}-", "bytes=-0"])
async def test_a_range_behind_the_end_is_416_with_the_size(hub: HubAddress, behind: str) -> None:
    answer = await ask(hub, f"{MAIN}/{TEXT}", Range=behind)
    assert (answer.status, answer.body) == (416, b"")
    assert answer.headers["Content-Range"] == f"bytes */{SIZE}"


async def test_if_range_continues_the_same_file_only(hub: HubAddress, repo: BundleRepo) -> None:
    same = await ask(hub, f"{MAIN}/{TEXT}", Range="bytes=100-", If_Range=f'"{repo.digest(TEXT)}"')
    other = await ask(hub, f"{MAIN}/{TEXT}", Range="bytes=100-", If_Range='"another"')
    assert (same.status, len(same.body)) == (206, SIZE - 100)
    assert (other.status, len(other.body)) == (200, SIZE)


async def test_the_commit_is_a_pin_that_ends_with_the_manifest(hub: HubAddress, repo: BundleRepo) -> None:
    commit = (await ask(hub, f"{MAIN}/{TEXT}", "HEAD")).headers["X-Repo-Commit"]
    pinned = MAIN.replace("/main/", f"/{commit}/")
    assert (await ask(hub, f"{pinned}/{TEXT}", "HEAD")).status == 200
    make_repo(repo.root, sizes={TEXT: SIZE}, seed=2, version="1.0.1")
    assert (await ask(hub, f"{pinned}/{TEXT}", "HEAD")).status == 404
    assert (await ask(hub, f"{MAIN}/{TEXT}", "HEAD")).headers["X-Repo-Commit"] != commit


@pytest.mark.parametrize(
    "target",
    [
        f"/elizaos/eliza-1/resolve/dev/{FOLDER}/{TEXT}",
        f"/elizaos/eliza-1/resolve/{'0' * 40}/{FOLDER}/{TEXT}",
        f"/somebody/else/resolve/main/{FOLDER}/{TEXT}",
        f"{MAIN}/absent.gguf",
        MAIN,
        f"{MAIN}/../../../secret.txt",
        f"{MAIN}/%2e%2e/%2e%2e/%2e%2e/secret.txt",
        f"{MAIN}/..%2f..%2f..%2fsecret.txt",
        f"{MAIN}/..%5c..%5c..%5csecret.txt",
        f"{MAIN}//etc/passwd",
        "/elizaos/eliza-1/resolve/main//etc/passwd",
        f"{MAIN}/escape.txt",
        f"{MAIN}/away/secret.txt",
        f"{MAIN}/a%00b",
    ],
)
async def test_what_is_unknown_or_outside_is_404(hub: HubAddress, repo: BundleRepo, target: str) -> None:
    (repo.root.parent / "secret.txt").write_text("secret")
    (repo.root / FOLDER / "escape.txt").symlink_to(repo.root.parent / "secret.txt")
    (repo.root / FOLDER / "away").symlink_to(repo.root.parent)
    answer = await ask(hub, target)
    assert answer.status == 404
    assert b"secret" not in answer.body


async def test_the_log_counts_what_was_sent(hub: HubAddress, tmp_path: Path) -> None:
    await ask(hub, f"{MAIN}/{TEXT}", Range="bytes=100-")
    await ask(hub, f"{MAIN}/{TEXT}", "HEAD")
    await ask(hub, f"{MAIN}/absent")
    deadline = time.monotonic() + 5
    while len(hub.log) < 3 and time.monotonic() < deadline:  # noqa: ASYNC110 - the log has no bell
        await anyio.sleep(0.01)
    assert [(one.method, one.status, one.range) for one in hub.log] == [
        ("GET", 206, "bytes=100-"),
        ("HEAD", 200, None),
        ("GET", 404, None),
    ]
    assert [one.bytes_sent for one in hub.log[:2]] == [SIZE - 100, 0]
    lines = (tmp_path / "requests.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [one.as_json() for one in hub.log]


async def test_a_folder_without_a_bundle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        async with running_hub(tmp_path):
            pass
    assert caught.value.code == "settings.bad_value"
