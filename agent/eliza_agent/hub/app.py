"""The hub's HTTP face: `/<owner>/<repo>/resolve/<revision>/<path>` with ranges, and an index at `/`.

Answers as the public hub does where a downloader can see it (ETag, X-Repo-Commit, X-Linked-*, 206, 416);
writes nothing and follows no link out of its folder (facts 3.1 URL form, 5.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from eliza_agent.hub.ranges import Span, Unsatisfiable, wanted_span
from eliza_agent.hub.shelf import Shelf, ShelvedFile, describe

DEFAULT_REPO = "elizaos/eliza-1"
DEFAULT_REVISION = "main"

_READ_BYTES = 1 << 18
_OK, _PARTIAL, _NOT_FOUND, _UNSATISFIABLE = 200, 206, 404, 416


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecord:
    """One answered request. `bytes_sent` counts body bytes handed to the connection; `range` is as it was asked."""

    method: str
    path: str
    status: int
    bytes_sent: int
    range: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the record as one line of the request log."""
        return asdict(self)


AccessLog = Callable[[RequestRecord], None]


def repository_folder(folder: Path, repo: str) -> Path:
    """Return `folder/<owner>/<name>` where the repository lies there, as staging writes it; else `folder` itself."""
    inside = folder.joinpath(*repo.split("/"))
    return inside if inside.is_dir() else folder


def make_app(folder: Path, *, access_log: AccessLog, repo: str = DEFAULT_REPO) -> Starlette:
    """Return the ASGI application that serves the bundles of `folder` as repository `repo`.

    Raises:
        SettingsError: `settings.bad_value` when the folder holds no bundle.
    """
    hub = _Hub(Shelf(repository_folder(folder, repo)), repo, access_log)
    # the file route is an ASGI application of its own, because it counts what it really sent
    return Starlette(
        routes=[
            Route("/", hub.index, methods=["GET"]),
            Route("/{owner}/{name}/resolve/{revision}/{path:path}", _FileRoute(hub), methods=["GET", "HEAD"]),
        ]
    )


class _Hub:
    def __init__(self, shelf: Shelf, repo: str, access_log: AccessLog) -> None:
        self.shelf, self.repo, self.access_log = shelf, repo, access_log

    async def index(self, request: Request) -> Response:
        bundles = await anyio.to_thread.run_sync(self.shelf.bundles)
        commit = await anyio.to_thread.run_sync(self.shelf.commit)
        rows = [describe(bundle) for bundle in bundles]
        page = {"service": "eliza-agent hub", "repo": self.repo, "commit": commit, "bundles": rows}
        response = JSONResponse(page)
        self.access_log(_record(request, _OK, len(response.body)))
        return response

    def find(self, request: Request) -> tuple[ShelvedFile, str] | None:
        """Return the asked file and the commit, or None; blocks on the disk."""
        asked = request.path_params
        commit = self.shelf.commit()
        if f"{asked['owner']}/{asked['name']}" != self.repo or asked["revision"] not in (DEFAULT_REVISION, commit):
            return None
        file = self.shelf.find(asked["path"])
        return (file, commit) if file else None


class _FileRoute:
    """Answers one file request and logs it when its last byte is sent or its client is gone."""

    def __init__(self, hub: _Hub) -> None:
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        found = await anyio.to_thread.run_sync(self._hub.find, request)
        if found is None:
            await self._refuse(request, send, JSONResponse({"error": "not found"}, _NOT_FOUND))
            return
        file, commit = found
        headers = _headers(file, commit)
        try:
            span = wanted_span(
                request.headers.get("range"), request.headers.get("if-range"), headers["ETag"], file.size_bytes
            )
        except Unsatisfiable:
            headers["Content-Range"] = f"bytes */{file.size_bytes}"
            await self._refuse(request, send, Response(status_code=_UNSATISFIABLE, headers=headers))
            return
        status = _OK if span is None else _PARTIAL
        if span is not None:
            headers["Content-Range"] = f"bytes {span.first}-{span.last}/{file.size_bytes}"
        whole = Span(0, file.size_bytes - 1)
        await self._answer(request, send, file.place, span or whole, status, headers)

    async def _refuse(self, request: Request, send: Send, response: Response) -> None:
        await response(request.scope, request.receive, send)
        sent = 0 if request.method == "HEAD" else len(response.body)
        self._hub.access_log(_record(request, response.status_code, sent))

    async def _answer(
        self, request: Request, send: Send, place: Path, span: Span, status: int, headers: dict[str, str]
    ) -> None:
        headers["Content-Length"] = str(span.length)
        raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        sender = _Sender(send, place, span)
        try:
            if request.method == "GET":
                await sender.run(request.receive)
            else:
                await send({"type": "http.response.body", "body": b""})
        finally:
            self._hub.access_log(_record(request, status, sender.bytes_sent))


class _Sender:
    """Sends a span of a file until it is done or the client hangs up."""

    def __init__(self, send: Send, place: Path, span: Span) -> None:
        self._send, self._place, self._span = send, place, span
        self.bytes_sent = 0

    async def run(self, receive: Receive) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch, receive, group.cancel_scope)
            await self._pour()
            group.cancel_scope.cancel()

    async def _watch(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _pour(self) -> None:
        left = self._span.length
        async with await anyio.open_file(self._place, "rb") as file:
            await file.seek(self._span.first)
            while left:
                chunk = await file.read(min(_READ_BYTES, left))
                if not chunk:
                    raise RuntimeError("a served file became shorter while it was sent")
                left -= len(chunk)
                await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
                self.bytes_sent += len(chunk)
        await self._send({"type": "http.response.body", "body": b""})


def _headers(file: ShelvedFile, commit: str) -> dict[str, str]:
    return {
        "ETag": f'"{file.digest}"',
        "X-Repo-Commit": commit,
        "X-Linked-Size": str(file.size_bytes),
        "X-Linked-Etag": f'"{file.digest}"',
        "Accept-Ranges": "bytes",
        "Content-Type": "application/json" if file.place.suffix == ".json" else "application/octet-stream",
        "Cache-Control": "no-transform",
    }


def _record(request: Request, status: int, bytes_sent: int) -> RequestRecord:
    return RequestRecord(
        method=request.method,
        path=request.url.path,
        status=status,
        bytes_sent=bytes_sent,
        range=request.headers.get("range"),
    )
