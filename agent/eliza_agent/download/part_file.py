"""One unfinished file on the disk, with the digest of exactly the bytes it holds.

Obeys the ledger; knows no network. Every method blocks on the disk and belongs in a thread; the sidecar is
written before the first byte it speaks for (house rules, 5.1: resume is a decision).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from eliza_agent.download.ledger import (
    Complete,
    ExpectedFile,
    ResumeAt,
    Sidecar,
    decode_sidecar,
    encode_sidecar,
    judge_part,
)
from eliza_agent.store.atomic import disk_errors, read_bytes_if_there, write_bytes
from eliza_agent.store.layout import PRIVATE_FILE, StateLayout
from eliza_catalog.errors import InternalError
from eliza_catalog.terms import Sha256

_READ_BYTES = 1 << 20
_GGUF = b"GGUF"


class PartFile:
    """An open part; `length_bytes` bytes are on the disk and in the digest, filled under `validator`."""

    def __init__(self, layout: StateLayout, expected: ExpectedFile) -> None:
        self.expected = expected
        self.path = layout.part(expected.sha256)
        self._sidecar = layout.sidecar(expected.sha256)
        self._descriptor: int | None = None
        self._digest = hashlib.sha256()
        self.length_bytes = 0
        self.validator: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the part has its full length; its digest may still be wrong."""
        return self._descriptor is not None and self.length_bytes == self.expected.size_bytes

    def open(self) -> None:
        """Open the part and keep what the ledger says it is worth; kept bytes are hashed here.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        sidecar = decode_sidecar(read_bytes_if_there(self._sidecar))
        with disk_errors(self.path):
            there = self.path.stat().st_size if self.path.exists() else None
            verdict = judge_part(self.expected, there, sidecar)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
            self._descriptor = os.open(self.path, flags, PRIVATE_FILE)
        match verdict:
            case Complete():
                self._keep(self.expected.size_bytes, sidecar)
            case ResumeAt(offset_bytes=offset):
                self._keep(offset, sidecar)
            case _:
                self.empty()

    def empty(self) -> None:
        """Drop every byte; an empty part needs no note.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        with disk_errors(self.path):
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
        self._digest, self.length_bytes, self.validator = hashlib.sha256(), 0, None

    def begin(self, validator: str | None) -> None:
        """Drop every byte and note what the next ones are for.

        The note is not flushed: it speaks for one digest, which it is named after, so that after a power cut
        it is true or unreadable, and either way the digest decides.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        self.empty()
        self.validator = validator
        sidecar = Sidecar(sha256=self.expected.sha256, size_bytes=self.expected.size_bytes, validator=validator)
        write_bytes(self._sidecar, encode_sidecar(sidecar), flush=False)

    def write(self, chunks: Sequence[bytes]) -> None:
        """Append bytes to the disk and to the digest.

        Raises:
            StorageError: see `store.atomic.storage_error`; what was written before stays and counts next time.
        """
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        view = memoryview(data)
        with disk_errors(self.path):
            while view:
                written = os.write(self._handle, view)
                self._digest.update(view[:written])
                self.length_bytes += written
                view = view[written:]

    def digest(self) -> Sha256:
        """Return the digest of the bytes that are there."""
        return Sha256(self._digest.hexdigest())

    def has_gguf_magic(self) -> bool:
        """Whether the file begins as a GGUF file does.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        with disk_errors(self.path):
            os.lseek(self._handle, 0, os.SEEK_SET)
            magic = os.read(self._handle, len(_GGUF))
            os.lseek(self._handle, 0, os.SEEK_END)
        return magic == _GGUF

    def flush(self) -> None:
        """Flush the bytes to the device.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        with disk_errors(self.path):
            os.fsync(self._handle)

    def close(self) -> None:
        """Close the part; it stays on the disk for the next attempt. Closing twice does nothing."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def discard(self) -> None:
        """Close and delete the part, then what is known of it.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        self.close()
        self.length_bytes = 0
        with disk_errors(self.path):
            self.path.unlink(missing_ok=True)
            self._sidecar.unlink(missing_ok=True)

    def forget_sidecar(self) -> None:
        """Delete what is known of a part that has moved into the store.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        with disk_errors(self._sidecar):
            self._sidecar.unlink(missing_ok=True)

    @property
    def _handle(self) -> int:
        if self._descriptor is None:
            raise InternalError("broken_promise", "A part was used before it was opened.")
        return self._descriptor

    def _keep(self, kept_bytes: int, sidecar: Sidecar | None) -> None:
        self.validator = sidecar.validator if sidecar else None
        with disk_errors(self.path):
            while self.length_bytes < kept_bytes:
                data = os.read(self._handle, min(_READ_BYTES, kept_bytes - self.length_bytes))
                if not data:
                    raise OSError(5, "the part shrank while it was read")
                self._digest.update(data)
                self.length_bytes += len(data)
