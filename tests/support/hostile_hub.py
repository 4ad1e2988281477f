"""A hub on real sockets that lies on cue.

It answers honestly, with ranges, from a `BundleRepo`, until a lie is scripted for a file: each lie bends one
reply and is then spent. Every request is recorded with its headers and the bytes it was really sent.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import socket
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" * 6 + "beef"
_SEND_BYTES = 16_384


@dataclass(slots=True)
class Reply:
    """What is about to be sent; a lie changes it. `drop_after` and `stall_after` count body bytes."""

    status: int
    headers: dict[str, str]
    body: bytes
    asked_range: tuple[int, int | None] | None
    whole: bytes
    drop_after: int | None = None
    stall_after: int | None = None
    chunked: bool = False


Lie = Callable[[Reply], None]


@dataclass(slots=True)
class Request:
    """One answered request."""

    method: str
    path: str
    headers: dict[str, str]
    status: int = 0
    bytes_sent: int = 0


@dataclass(slots=True)
class HostileHub:
    """A running liar."""

    url: str
    files: dict[str, bytes]
    requests: list[Request] = field(default_factory=list)
    commit: str | None = COMMIT
    bytes_per_s: float | None = None
    closing: threading.Event = field(default_factory=threading.Event)
    _lies: dict[tuple[str, str], deque[Lie]] = field(default_factory=lambda: defaultdict(deque))
    _always: dict[tuple[str, str], Lie] = field(default_factory=dict)

    def tell(self, path: str, *lies: Lie, method: str = "GET") -> None:
        """Script lies for the next requests to a file whose address ends with `path`."""
        self._lies[method, path].extend(lies)

    def always(self, path: str, lie: Lie, method: str = "GET") -> None:
        """Tell the same lie each time."""
        self._always[method, path] = lie

    def forget_lies(self) -> None:
        """Answer honestly from now on."""
        self._lies.clear()
        self._always.clear()

    def next_lie(self, method: str, path: str) -> Lie | None:
        """Return the lie for a request, if one is scripted."""
        for (on, end), queue in self._lies.items():
            if on == method and path.endswith(end) and queue:
                return queue.popleft()
        return next((lie for (on, end), lie in self._always.items() if on == method and path.endswith(end)), None)

    def asked(self, path: str, method: str = "GET") -> list[Request]:
        """Return the requests for a file."""
        return [one for one in self.requests if one.method == method and one.path.endswith(path)]

    def bytes_sent(self) -> int:
        """Return all body bytes that were sent."""
        return sum(one.bytes_sent for one in self.requests)


@contextlib.contextmanager
def hostile_hub(files: dict[str, bytes]) -> Iterator[HostileHub]:
    """Serve `files` (by their path in the repository) on a free loopback port."""
    server = _Server(("127.0.0.1", 0), _Handler)
    hub = HostileHub(url=f"http://127.0.0.1:{server.server_address[1]}", files=files)
    server.hub = hub
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hub: HostileHub

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answer with a body."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer without one."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""

    def setup(self) -> None:
        """Keep the kernel from taking more than it delivers, so that the count of sent bytes is true."""
        super().setup()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)

    def _answer(self, *, with_body: bool) -> None:
        hub, path = self.server.hub, unquote(urlsplit(self.path).path)
        record = Request(self.command, path, {name.lower(): value for name, value in self.headers.items()})
        hub.requests.append(record)
        reply = self._honest(path)
        lie = hub.next_lie(self.command, path)
        if lie is not None:
            lie(reply)
        record.status = reply.status
        self._send_head(reply, with_body=with_body)
        if with_body:
            self._send_body(reply, record)

    def _honest(self, path: str) -> Reply:
        hub = self.server.hub
        data = next((data for name, data in hub.files.items() if path.endswith("/" + name)), None)
        if data is None:
            return Reply(404, {}, b"no such file", None, b"")
        etag = f'"{hashlib.sha256(data).hexdigest()}"'
        headers = {"ETag": etag, "Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        if hub.commit:
            headers["X-Repo-Commit"] = hub.commit
        asked = _asked_range(self.headers.get("Range"))
        if asked is None or self.headers.get("If-Range") not in (None, etag):
            return Reply(200, headers, data, asked, data)
        if asked[0] >= len(data):
            headers["Content-Range"] = f"bytes */{len(data)}"
            return Reply(416, headers, b"", asked, data)
        last = len(data) - 1 if asked[1] is None else min(asked[1], len(data) - 1)
        headers["Content-Range"] = f"bytes {asked[0]}-{last}/{len(data)}"
        return Reply(206, headers, data[asked[0] : last + 1], asked, data)

    def _send_head(self, reply: Reply, *, with_body: bool) -> None:
        self.send_response(reply.status)
        if reply.chunked and with_body:
            self.send_header("Transfer-Encoding", "chunked")
        elif not reply.chunked:
            reply.headers.setdefault("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_body(self, reply: Reply, record: Request) -> None:
        hub = self.server.hub
        for start in range(0, len(reply.body), _SEND_BYTES):
            piece = reply.body[start : start + _SEND_BYTES]
            limits = [limit - start for limit in (reply.drop_after, reply.stall_after) if limit is not None]
            piece = piece[: max(0, min([len(piece), *limits]))]
            self._send_piece(piece, chunked=reply.chunked)
            record.bytes_sent += len(piece)
            if reply.stall_after is not None and record.bytes_sent >= reply.stall_after:
                hub.closing.wait(30)
                self._hang_up()
                return
            if reply.drop_after is not None and record.bytes_sent >= reply.drop_after:
                self._hang_up()
                return
            if hub.bytes_per_s:
                time.sleep(len(piece) / hub.bytes_per_s)
        if reply.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _send_piece(self, piece: bytes, *, chunked: bool) -> None:
        framed = f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if chunked and piece else piece
        self.wfile.write(framed)
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)


def _asked_range(header: str | None) -> tuple[int, int | None] | None:
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", header or "")
    return (int(found[1]), int(found[2]) if found[2] else None) if found else None


def drop_after(count: int) -> Lie:
    """Hang up after so many body bytes."""

    def lie(reply: Reply) -> None:
        reply.drop_after = count

    return lie


def stall_after(count: int) -> Lie:
    """Fall silent after so many body bytes, with the connection open."""

    def lie(reply: Reply) -> None:
        reply.stall_after = count

    return lie


def ignore_range(reply: Reply) -> None:
    """Send the whole file, whatever was asked."""
    reply.status, reply.body = 200, reply.whole
    reply.headers.pop("Content-Range", None)


def wrong_content_range(reply: Reply) -> None:
    """Send another part of the file than the one asked for, and say so."""
    if reply.asked_range is not None:
        reply.status = 206
        reply.body = reply.whole[7:]
        reply.headers["Content-Range"] = f"bytes 7-{len(reply.whole) - 1}/{len(reply.whole)}"


def shifted_under_true_range(reply: Reply) -> None:
    """Claim the asked range and send as many other bytes."""
    reply.body = bytes(len(reply.body))


def short_range(count: int) -> Lie:
    """Answer a range with fewer bytes than asked, honestly labelled."""

    def lie(reply: Reply) -> None:
        first = reply.asked_range[0] if reply.asked_range else 0
        reply.status, reply.body = 206, reply.whole[first : first + count]
        reply.headers["Content-Range"] = f"bytes {first}-{first + len(reply.body) - 1}/{len(reply.whole)}"

    return lie


def flip_byte(at: int) -> Lie:
    """Flip one bit of one byte of the file."""

    def lie(reply: Reply) -> None:
        first = reply.asked_range[0] if reply.status == 206 and reply.asked_range else 0
        if first <= at < first + len(reply.body):
            bent = bytearray(reply.body)
            bent[at - first] ^= 1
            reply.body = bytes(bent)

    return lie


def web_page(reply: Reply) -> None:
    """A login page with status 200."""
    reply.status, reply.body = 200, b"<!doctype html><title>Sign in</title>" + b" " * 500
    reply.headers["Content-Type"] = "text/html; charset=utf-8"
    reply.headers.pop("Content-Range", None)


def status(code: int, **headers: str) -> Lie:
    """Answer with a status and nothing else; header names with `_` for `-`."""

    def lie(reply: Reply) -> None:
        reply.status, reply.body = code, b""
        reply.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    return lie


def redirect_to(url: str, code: int = 302, **headers: str) -> Lie:
    """Send the client elsewhere."""
    return status(code, Location=url, **headers)


def with_headers(**headers: str) -> Lie:
    """Answer truly, under other headers."""

    def lie(reply: Reply) -> None:
        reply.headers |= {name.replace("_", "-"): value for name, value in headers.items()}

    return lie


def chunked(reply: Reply) -> None:
    """Send in chunks, without a length."""
    reply.chunked = True


def replaced_by(data: bytes) -> Lie:
    """Serve another file under the same address, with its own validator and honest ranges."""

    def lie(reply: Reply) -> None:
        reply.status, reply.body = 200, data
        reply.headers["ETag"] = f'"{hashlib.sha256(data).hexdigest()}"'
        reply.headers.pop("Content-Range", None)

    return lie


def both(*lies: Lie) -> Lie:
    """Tell several lies in one reply."""

    def lie(reply: Reply) -> None:
        for one in lies:
            one(reply)

    return lie
