"""One file from the wire to its proven digest.

Obeys the ledger on every reply and hashes while the bytes pass, off the loop; a body that is not the file
never reaches the part. Decides nothing about other files (contract section 7 rule 2; house rules, 5.1).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream

from eliza_agent.download.ledger import AskAgain, Complete, ExpectedFile, Reject, ResumeAt, WriteFrom, judge_reply
from eliza_agent.download.part_file import PartFile
from eliza_agent.download.plan import PlannedFile
from eliza_agent.download.source import without_credentials
from eliza_agent.download.transport import Body, Transport
from eliza_agent.store.blobs import BlobStore
from eliza_agent.store.layout import StateLayout
from eliza_catalog.errors import DownloadError, ElizaError, IntegrityError
from eliza_catalog.terms import Sha256

in_thread = anyio.to_thread.run_sync

_QUEUED_CHUNKS = 64  # of 64 KiB at most: what a fast hub may be ahead of the disk
_GGUF = b"GGUF"
_TRIES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every transfer of one bundle shares. `on_length(file, bytes)` hears of every change of a part."""

    layout: StateLayout
    blobs: BlobStore
    transport: Transport
    on_length: Callable[[PlannedFile, int], None]
    on_retry: Callable[[PlannedFile, DownloadError], None]


async def fetch_file(file: PlannedFile, size_bytes: int, desk: Desk) -> Path:
    """Have one file in the store, fetching what is missing of it; a wrong digest is fetched anew once.

    Raises:
        IntegrityError: `digest` after two wrong results (`details.same_bytes_twice` tells the hub's fault from
            the path's), `not_gguf` for something that is no model file.
        DownloadError: any of its reasons but `conflict`.
        StorageError: the disk refused; the part is kept.
    """
    expected = ExpectedFile(sha256=file.sha256, size_bytes=size_bytes)
    wrong: list[Sha256] = []
    while len(wrong) < _TRIES:
        transfer = _Transfer(file, PartFile(desk.layout, expected), desk)
        blob, actual = await transfer.run()
        if blob is not None:
            return blob
        wrong.append(actual)
    raise _wrong_digest(file, wrong)


class _Transfer:
    """One attempt at one file: any number of replies into one part."""

    def __init__(self, file: PlannedFile, part: PartFile, desk: Desk) -> None:
        self._file, self._part, self._desk = file, part, desk
        self._best_bytes = 0
        self._odd_replies = 0

    async def run(self) -> tuple[Path | None, Sha256]:
        """Return the proven file, or None when the bytes had another digest (returned with it) and were dropped."""
        try:
            await in_thread(self._part.open)
            self._tell()
            await self._desk.transport.persist(
                self._fill, progress=lambda: self._best_bytes, on_retry=partial(self._desk.on_retry, self._file)
            )
            actual = self._part.digest()
            return await in_thread(self._settle, actual), actual
        finally:
            self._part.close()

    def _settle(self, actual: Sha256) -> Path | None:
        """Take a proven part into the store; drop a wrong one."""
        if actual != self._file.sha256:
            self._part.discard()
            self._tell()
            return None
        if self._file.path.text.endswith(".gguf") and not self._part.has_gguf_magic():
            self._part.discard()
            raise _not_gguf(self._file)
        self._part.flush()
        self._part.close()
        blob = self._desk.blobs.adopt(self._part.path, actual)
        self._part.forget_sidecar()
        return blob

    async def _fill(self) -> None:
        while not self._part.is_complete or self._is_empty_unasked():
            before = self._part.length_bytes
            await self._take_one_reply()
            if self._part.expected.size_bytes == 0:
                return
            if self._part.length_bytes == before:
                self._count_odd("a reply without a byte")

    def _is_empty_unasked(self) -> bool:
        """An empty file is complete before anybody asked for it; that the hub has it is still to be shown."""
        return self._part.expected.size_bytes == 0

    async def _take_one_reply(self) -> None:
        part = self._part
        asked = ResumeAt(offset_bytes=part.length_bytes, validator=part.validator)
        async with self._desk.transport.open_body(
            self._file.url, offset_bytes=asked.offset_bytes, validator=asked.validator
        ) as body:
            match judge_reply(part.expected, asked, body.facts):
                case WriteFrom(offset_bytes=offset, limit_bytes=limit):
                    if offset == 0:
                        await in_thread(part.begin, body.facts.validator)
                        self._tell()
                    await self._pour(body, limit)
                case AskAgain(doubt=doubt):
                    await in_thread(part.empty)
                    self._tell()
                    self._count_odd(doubt.value)
                case Complete():
                    return
                case Reject(fault=fault):
                    raise self._odd(fault)

    async def _pour(self, body: Body, limit_bytes: int) -> None:
        """Read the body into a bounded queue while a thread writes and hashes what has arrived."""
        send, receive = anyio.create_memory_object_stream[bytes](_QUEUED_CHUNKS)
        failures: list[ElizaError] = []
        async with anyio.create_task_group() as group:
            group.start_soon(self._write_all, receive, failures)
            async with send:
                try:
                    await self._read_all(body, send.send, limit_bytes)
                except anyio.BrokenResourceError:
                    pass  # the writer failed and says why
                except (DownloadError, IntegrityError) as error:
                    failures.append(error)  # raised only after the writer saved what had arrived
        if failures:
            raise failures[0]

    async def _read_all(self, body: Body, put: Callable[[bytes], object], limit_bytes: int) -> None:
        left, is_first = limit_bytes, self._part.length_bytes == 0 and self._file.path.text.endswith(".gguf")
        async for chunk in body.chunks():
            if is_first and len(chunk) >= len(_GGUF) and not chunk.startswith(_GGUF):
                raise _not_gguf(self._file)
            is_first = False
            if len(chunk) > left:
                raise self._odd("more bytes than announced")
            left -= len(chunk)
            await put(chunk)  # type: ignore[misc]

    async def _write_all(self, receive: MemoryObjectReceiveStream[bytes], failures: list[ElizaError]) -> None:
        with receive:
            try:
                async for chunk in receive:
                    await self._write([chunk, *_waiting(receive)])
            except ElizaError as error:
                failures.insert(0, error)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True):  # an interruption loses nothing that had arrived
                    await self._write(_waiting(receive))
                raise

    async def _write(self, chunks: list[bytes]) -> None:
        if chunks:
            await in_thread(self._part.write, chunks)
            self._best_bytes = max(self._best_bytes, self._part.length_bytes)
            self._tell()

    def _tell(self) -> None:
        self._desk.on_length(self._file, self._part.length_bytes)

    def _count_odd(self, fault: str) -> None:
        self._odd_replies += 1
        if self._odd_replies > self._desk.transport.limits.odd_replies:
            raise self._odd(fault)

    def _odd(self, fault: str) -> DownloadError:
        details = {"path": self._file.path.text, "url": without_credentials(self._file.url), "fault": fault}
        return DownloadError("bad_reply", "The hub did not send the file it announced.", details=details)


def _waiting(receive: MemoryObjectReceiveStream[bytes]) -> list[bytes]:
    chunks = []
    while True:
        try:
            chunks.append(receive.receive_nowait())
        except (anyio.WouldBlock, anyio.EndOfStream, anyio.ClosedResourceError):
            return chunks


def _not_gguf(file: PlannedFile) -> IntegrityError:
    details = {"path": file.path.text, "url": without_credentials(file.url)}
    return IntegrityError("not_gguf", "The hub served something that is not a model file.", details=details)


def _wrong_digest(file: PlannedFile, wrong: list[Sha256]) -> IntegrityError:
    is_same = len(set(wrong)) == 1
    message = (
        "A file of Eliza-1 has the same wrong content twice: the hub's copy is bad."
        if is_same
        else "A file of Eliza-1 arrived with wrong content, differently each time: the way here is faulty."
    )
    remedy = (
        "Choose another hub with --hub, or tell the publisher."
        if is_same
        else "Check the network and this device's memory, then run the same command again."
    )
    details = {
        "path": file.path.text,
        "expected": file.sha256.hex,
        "actual": [digest.hex for digest in wrong],
        "same_bytes_twice": is_same,
    }
    return IntegrityError("digest", message, remedy=remedy, details=details)
