"""Runs the hub: in the foreground for `eliza-agent hub`, or in a thread of this process for the demo and tests.

Listens on loopback unless told otherwise; keeps a request log as JSON lines when asked to. Serves only, and
never changes the folder it is given.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import anyio
import uvicorn

from eliza_agent.hub.app import DEFAULT_REPO, AccessLog, RequestRecord, make_app
from eliza_catalog.errors import InternalError, SettingsError, StorageError

LOOPBACK = "127.0.0.1"
_START_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAddress:
    """A running hub: its base address and every request it has answered so far."""

    url: str
    log: list[RequestRecord] = field(default_factory=list)


class RequestLog:
    """Writes one JSON line for each request; safe from several threads."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._guard = threading.Lock()

    def __call__(self, record: RequestRecord) -> None:
        """Write one line and flush it."""
        with self._guard:
            self._file.write(json.dumps(record.as_json()) + "\n")
            self._file.flush()


def open_request_log(path: Path | None) -> contextlib.AbstractContextManager[AccessLog]:
    """Return a context whose value logs requests to `path` (appending), or drops them for None.

    Raises:
        StorageError: `storage.denied` when the file cannot be opened.
    """
    if path is None:
        return contextlib.nullcontext(lambda record: None)
    return _logging_to(path)


@contextlib.contextmanager
def _logging_to(path: Path) -> Iterator[AccessLog]:
    try:
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        raise StorageError(
            "denied", "The request log cannot be opened.", details={"path": str(path), "error": str(error)}
        ) from error
    with file:
        yield RequestLog(file)


def serve_hub(
    folder: Path,
    *,
    host: str = LOOPBACK,
    port: int = 0,
    request_log: Path | None = None,
    repo: str = DEFAULT_REPO,
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve until interrupted; `on_ready` hears the base address. Blocks, and belongs in the main thread.

    Raises:
        SettingsError: `settings.bad_value` when the folder holds no bundle or the port is taken.
        StorageError: `storage.denied` for the request log.
    """
    with open_request_log(request_log) as log, _listen(host, port) as listener:
        server = _server(folder, log, repo)
        on_ready(_address(listener))
        server.run(sockets=[listener])


@contextlib.asynccontextmanager
async def running_hub(
    folder: Path, *, request_log: Path | None = None, repo: str = DEFAULT_REPO
) -> AsyncIterator[HubAddress]:
    """Serve `folder` on a free loopback port from a thread of this process, until the context ends.

    Raises:
        SettingsError: `settings.bad_value` when the folder holds no bundle.
        StorageError: `storage.denied` for the request log.
    """
    with open_request_log(request_log) as log, _listen(LOOPBACK, 0) as listener:
        hub = HubAddress(url=_address(listener))

        def note(record: RequestRecord) -> None:
            hub.log.append(record)
            log(record)

        server = _server(folder, note, repo)
        thread = threading.Thread(target=server.run, args=([listener],), name="eliza-hub", daemon=True)
        thread.start()
        try:
            if not await anyio.to_thread.run_sync(server.ready.wait, _START_S):
                raise InternalError("broken_promise", "The hub did not start.")
            yield hub
        finally:
            server.should_exit = True
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(thread.join)


class _Server(uvicorn.Server):
    """A server whose `ready` is set as soon as it answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready.set()


def _server(folder: Path, log: AccessLog, repo: str) -> _Server:
    app = make_app(folder, access_log=log, repo=repo)
    # a client that stays connected must not keep the hub from ending
    config = uvicorn.Config(
        app, log_config=None, access_log=False, lifespan="off", ws="none", timeout_graceful_shutdown=1
    )
    return _Server(config)


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise SettingsError(
            "bad_value",
            f"The hub cannot listen on {host}, port {port}.",
            remedy="Choose another --port or --host.",
            details={"host": host, "port": port, "error": str(error)},
        ) from error


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
