"""One opened bundle: its lifetime, its memory regions, its verifier events.

Loads no weights by being opened; closes its streams and sessions before itself, in that order. Thread-safe,
as the library's contexts are. Keeps the lifecycle rules of the interop facts, section 1.3.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self
from weakref import WeakSet

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.callbacks import Parking, VerifierEvent, verifier_callback
from eliza_native.library import Library
from eliza_native.seam import FFI, ErrorCell, c_path, c_text, check, check_handle

REGIONS: Final = ("text", "mtp", "tts", "vad", "asr", "wakeword")


class Closable(Protocol):
    """What a context closes before itself."""

    def close(self) -> None:
        """Free the native handle; harmless when it is free already."""


class Context:
    """A bundle folder, opened.

    Args:
        library: the opened library.
        bundle_dir: the bundle's folder.

    Raises:
        NativeError: `native.bundle_invalid` when the folder is none.
    """

    def __init__(self, library: Library, bundle_dir: Path) -> None:
        self.library = library
        self.bundle_dir = bundle_dir
        self.parking = Parking()
        self._children: WeakSet[Closable] = WeakSet()
        self._lock = threading.RLock()
        self._callback: Any = None
        cell = ErrorCell(library.lib)
        handle = library.function("eliza_inference_create")(c_path(bundle_dir, "bundle_dir"), cell.pointer)
        self._handle = check_handle(library.lib, handle, cell, "create")

    @property
    def handle(self) -> Any:
        """The C handle; raises `native.invalid_argument` after `close`."""
        if self._handle == FFI.NULL:
            details = {"status": abi.ERR_INVALID_ARG, "operation": "context"}
            raise NativeError("invalid_argument", "This Eliza-1 is already closed.", details=details)
        return self._handle

    def adopt(self, child: Closable) -> None:
        """Close `child` before this context, if it still lives then."""
        with self._lock:
            self._children.add(child)

    def acquire(self, region: str) -> None:
        """Load what `region` names, so that its first use is quick.

        Raises:
            NativeError: `native.invalid_argument` for an unknown region, `native.not_implemented`,
                `native.bundle_invalid`, `native.out_of_memory`.
        """
        self._region("eliza_inference_mmap_acquire", region)

    def evict(self, region: str) -> None:
        """Free what `region` names and is not in use; it stays unusable until acquired again."""
        self._region("eliza_inference_mmap_evict", region)

    def on_verified(self, callback: Callable[[VerifierEvent], None] | None) -> None:
        """Call `callback` on the generating thread once per step; None stops that.

        An exception of the callback is raised by the `next` that caused it.
        """
        new = FFI.NULL if callback is None else verifier_callback(callback, self.parking)
        cell = ErrorCell(self.library.lib)
        function = self.library.function("eliza_inference_set_verifier_callback")
        with self._lock:
            check(function(self.handle, new, FFI.NULL, cell.pointer), cell, "set_verifier_callback")
            self._callback = new

    def close(self) -> None:
        """Close the streams and sessions, then the context; harmless when closed."""
        with self._lock:
            for child in list(self._children):
                child.close()
            handle, self._handle = self._handle, FFI.NULL
            if handle != FFI.NULL:
                self.library.lib.eliza_inference_destroy(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _region(self, symbol: str, region: str) -> None:
        cell = ErrorCell(self.library.lib)
        function = self.library.function(symbol)
        check(function(self.handle, c_text(region, "region"), cell.pointer), cell, f"{symbol}:{region}")
