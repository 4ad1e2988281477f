"""The only room that knows HTTP: asks, follows redirects by hand, retries with patience, maps every failure.

A token goes to the hub's own origin and to no other, whatever a redirect says. Writes no file and judges no
body; what a reply may do to a part is `ledger`'s business (contract section 7; facts 5.4).
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import urljoin

import anyio
import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from eliza_agent.download.ledger import ReplyFacts
from eliza_agent.download.limits import Limits
from eliza_agent.download.patience import Patience, is_worth_retrying
from eliza_agent.download.replies import commit_of, entity_tag, refusal, strong_validator, whole_number
from eliza_agent.download.source import FetchedManifest, HubSource, Origin, without_credentials
from eliza_catalog.errors import DownloadError, ManifestError
from eliza_catalog.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES
from eliza_catalog.terms import BundlePath

T = TypeVar("T")

_REDIRECTS = {301, 302, 303, 307, 308}
_BODY_STATUSES = {200, 206, 416}
_BROKEN = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)
_DIRECT = ("all://127.0.0.1", "all://localhost", "all://[::1]")  # a proxy cannot reach our own machine


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """What a hub says of a file before it is fetched. `linked_etag` is the content's own digest on large files."""

    size_bytes: int
    etag: str | None
    linked_etag: str | None
    commit: str | None
    accepts_ranges: bool


class Body:
    """One open reply: its head as facts, its bytes as they arrive."""

    def __init__(self, reply: httpx.Response) -> None:
        self._reply = reply
        headers = reply.headers
        self.facts = ReplyFacts(
            status=reply.status_code,
            content_range=headers.get("content-range"),
            validator=strong_validator(headers.get("etag")),
            length_bytes=whole_number(headers.get("content-length")),
            content_type=headers.get("content-type"),
            encoding=headers.get("content-encoding"),
        )

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the raw bytes as they arrive.

        Raises:
            DownloadError: `download.stalled`, `download.offline` or `download.bad_reply`.
        """
        with wire_errors(str(self._reply.url), "stalled"):
            async for chunk in self._reply.aiter_raw():
                yield chunk


class Transport:
    """The connections to one hub; an async context manager."""

    def __init__(self, source: HubSource, limits: Limits | None = None) -> None:
        self.source = source
        self.limits = limits or Limits()
        self._client = httpx.AsyncClient(
            follow_redirects=False,
            timeout=httpx.Timeout(self.limits.reply_s, connect=self.limits.connect_s, pool=None),
            limits=httpx.Limits(max_connections=self.limits.parallel_heads + self.limits.parallel_files),
            headers={"User-Agent": "eliza-agent", "Accept-Encoding": "identity"},
            mounts=dict.fromkeys(_DIRECT),
            verify=_trusted_authorities(),
        )

    async def __aenter__(self) -> Self:
        await self._client.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.__aexit__(kind, error, trace)

    async def fetch_manifest(self, folder: str) -> FetchedManifest:
        """Fetch the manifest of the bundle in `folder` of the repository, and pin the source to its commit.

        Raises:
            ManifestError: `manifest.too_large` beyond 1 MiB.
            DownloadError: any of its reasons but `conflict`.
        """
        place = BundlePath(folder)
        url = self.source.address(BundlePath(f"{place}/{MANIFEST_NAME}"))
        return await self.persist(lambda: self._fetch_manifest_once(place, url), progress=lambda: 0)

    async def _fetch_manifest_once(self, folder: BundlePath, url: str) -> FetchedManifest:
        async with self._ask("GET", url, {}) as (reply, commit):
            if reply.status_code != httpx.codes.OK:
                raise self._refusal(reply)
            body = Body(reply)
            if (body.facts.content_type or "").startswith("text/html"):
                raise _odd(url, "a web page instead of a manifest")
            data = bytearray()
            async for chunk in body.chunks():
                data += chunk
                if len(data) > MAX_MANIFEST_BYTES:
                    raise ManifestError("too_large", "The manifest of this Eliza-1 is larger than 1 MiB.")
        return FetchedManifest.of(bytes(data), folder, self.source.pinned(commit))

    async def measure(self, url: str) -> RemoteFile:
        """Ask for a file's size, validator and commit without its bytes.

        Raises:
            DownloadError: any of its reasons but `conflict`; `bad_reply` when the hub does not tell the size.
        """
        return await self.persist(lambda: self._measure_once(url), progress=lambda: 0)

    async def _measure_once(self, url: str) -> RemoteFile:
        linked: dict[str, str] = {}
        async with self._ask("HEAD", url, {}, linked) as (reply, commit):
            if reply.status_code != httpx.codes.OK:
                raise self._refusal(reply)
            size = whole_number(linked.get("x-linked-size") or reply.headers.get("content-length"))
            if size is None:
                raise _odd(url, "no size")
            return RemoteFile(
                size_bytes=size,
                etag=strong_validator(reply.headers.get("etag")),
                linked_etag=entity_tag(linked.get("x-linked-etag")),
                commit=commit,
                accepts_ranges=reply.headers.get("accept-ranges", "").lower() == "bytes",
            )

    @contextlib.asynccontextmanager
    async def open_body(self, url: str, *, offset_bytes: int = 0, validator: str | None = None) -> AsyncIterator[Body]:
        """Ask for a file from an offset on; yields a reply of status 200, 206 or 416, whose body is not yet read.

        Raises:
            DownloadError: any of its reasons but `conflict` and `source_changed`.
        """
        headers: dict[str, str] = {}
        if offset_bytes:
            headers["Range"] = f"bytes={offset_bytes}-"
            if validator:
                headers["If-Range"] = validator
        async with self._ask("GET", url, headers) as (reply, _):
            if reply.status_code not in _BODY_STATUSES:
                raise self._refusal(reply)
            yield Body(reply)

    async def persist(
        self,
        attempt: Callable[[], Awaitable[T]],
        *,
        progress: Callable[[], int],
        on_retry: Callable[[DownloadError], None] | None = None,
    ) -> T:
        """Run `attempt` until it succeeds, fails for good, or failed too often without progress.

        `progress` must only ever grow; each growth gives the full number of attempts anew.

        Raises:
            ElizaError: whatever the last attempt raised.
        """
        patience = Patience(self.limits, progress)

        def tell(state: RetryCallState) -> None:
            error = _failure(state)
            if on_retry is not None and isinstance(error, DownloadError):
                on_retry(error)

        tries = AsyncRetrying(
            retry=retry_if_exception(is_worth_retrying),
            after=lambda _: patience.note(),
            wait=lambda state: patience.wait_s(_failure(state)),
            stop=lambda _: patience.is_exhausted(),
            before_sleep=tell,
            sleep=anyio.sleep,
            reraise=True,
        )

        async def once() -> T:  # tenacity awaits only what it can see to be a coroutine function
            return await attempt()

        return await tries(once)

    @contextlib.asynccontextmanager
    async def _ask(
        self, method: str, url: str, headers: dict[str, str], linked: dict[str, str] | None = None
    ) -> AsyncIterator[tuple[httpx.Response, str | None]]:
        """Follow redirects to the reply that counts; collects `X-*` headers of every hop (the first one wins)."""
        seen = linked if linked is not None else {}
        for _ in range(self.limits.redirects + 1):
            reply = await self._send(method, url, headers)
            try:
                for name in ("x-repo-commit", "x-linked-size", "x-linked-etag"):
                    if name in reply.headers:
                        seen.setdefault(name, reply.headers[name])
                if reply.status_code not in _REDIRECTS:
                    yield reply, commit_of(seen.get("x-repo-commit"))
                    return
                url = _next_hop(url, reply)
            finally:
                await reply.aclose()
        raise _odd(url, "redirected in circles")

    async def _send(self, method: str, url: str, headers: dict[str, str]) -> httpx.Response:
        timeout = httpx.Timeout(self.limits.stall_s, connect=self.limits.connect_s, pool=None)
        with wire_errors(url, "timeout"):
            own = {**headers, **self.source.headers_for(url)}
            request = self._client.build_request(method, url, headers=own, timeout=timeout)
            with anyio.move_on_after(self.limits.reply_s):
                return await self._client.send(request, stream=True)
        raise DownloadError(
            "timeout", "The hub did not answer in time.", details={"url": without_credentials(url), "cause": "reply"}
        )

    def _refusal(self, reply: httpx.Response) -> DownloadError:
        return refusal(reply.status_code, str(reply.url), reply.headers, self.source.origin, self.limits)


@cache
def _trusted_authorities() -> ssl.SSLContext:
    """Reading the authorities takes a tenth of a second, so it is done once."""
    return httpx.create_ssl_context()


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _next_hop(url: str, reply: httpx.Response) -> str:
    location: str | None = reply.headers.get("location")
    if not location:
        raise _odd(url, "a redirect to nowhere")
    try:
        target = urljoin(url, location)
        before, after = Origin.of(url), Origin.of(target)
    except ValueError as error:
        raise _odd(url, "a redirect to something that is no address") from error
    if after.scheme not in ("http", "https") or not after.host:
        raise _odd(url, "a redirect to something that is no web address")
    if before.scheme == "https" and after.scheme == "http":
        raise _odd(url, "a redirect from an encrypted to an unencrypted address")
    return target


def _odd(url: str, fault: str) -> DownloadError:
    return DownloadError(
        "bad_reply", "The hub sent something unexpected.", details={"url": without_credentials(url), "fault": fault}
    )


@contextlib.contextmanager
def wire_errors(url: str, silence: str) -> Iterator[None]:
    """Map every httpx error inside; `silence` is the reason that a read timeout has here.

    Raises:
        DownloadError: `offline`, `timeout`, `stalled` or `bad_reply`.
    """
    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
        raise _mapped(error, url, silence) from error


def _mapped(error: Exception, url: str, silence: str) -> DownloadError:
    reason, message = _verdict(error, silence, Origin.of(url).host)
    details = {"url": without_credentials(url), "cause": type(error).__name__}
    return DownloadError(reason, message, details=details)


def _verdict(error: Exception, silence: str, host: str) -> tuple[str, str]:
    if isinstance(error, httpx.ReadTimeout):
        words = "stopped sending" if silence == "stalled" else "did not answer in time"
        return silence, f"The hub at {host} {words}."
    if isinstance(error, httpx.TimeoutException):
        return "timeout", f"The hub at {host} could not be reached in time."
    if _is_untrusted(error):
        return "bad_reply", f"The secure connection to {host} cannot be trusted."
    if isinstance(error, httpx.ProxyError):
        return "offline", f"The proxy did not let us through to {host}."
    if isinstance(error, httpx.ConnectError):
        return "offline", f"The hub at {host} cannot be reached."
    if isinstance(error, _BROKEN):
        return "offline", f"The connection to {host} broke off."
    return "bad_reply", f"The hub at {host} sent something unexpected."


def _is_untrusted(error: BaseException) -> bool:
    """The certificate's refusal lies a few causes below what httpx raises."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return "CERTIFICATE_VERIFY_FAILED" in str(error)
