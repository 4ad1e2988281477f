"""Hearing: whether somebody speaks.

Takes windows of 32 ms and answers with a probability; records nothing and decides no turn. Keeps the voice
activity rules of the interop facts, section 1.3 (16 kHz, 512 samples).
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, Self

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, check, check_handle

SAMPLE_RATE: Final = 16_000
WINDOW_SAMPLES: Final = 512


class Vad:
    """One stream of windows; its state is its own.

    Args:
        context: the bundle; the detector is closed with it.

    Raises:
        NativeError: `native.bundle_invalid` without a model in the bundle, `native.not_implemented`.
    """

    def __init__(self, context: Context) -> None:
        self._library = context.library
        self._lock = threading.RLock()
        cell = ErrorCell(self._library.lib)
        handle = self._library.function("eliza_inference_vad_open")(context.handle, SAMPLE_RATE, cell.pointer)
        self._handle = check_handle(self._library.lib, handle, cell, "vad_open")
        self._probability = FFI.new("float *")
        context.adopt(self)

    def process(self, frame: Iterable[float]) -> float:
        """Return the speech probability of the next 512 samples, mono float at 16 kHz.

        A float32 buffer (array("f"), memoryview) is read in place.

        Raises:
            NativeError: `native.invalid_argument` for another length.
        """
        view = frame if isinstance(frame, memoryview) and frame.format == "f" else None
        samples = (
            view
            if view is not None
            else frame
            if isinstance(frame, array) and frame.typecode == "f"
            else array("f", frame)
        )
        with self._lock, FFI.from_buffer("float[]", samples) as pcm:
            cell = ErrorCell(self._library.lib)
            function = self._library.lib.eliza_inference_vad_process
            check(function(self._open_handle(), pcm, len(pcm), self._probability, cell.pointer), cell, "vad_process")
            return float(self._probability[0])

    def reset(self) -> None:
        """Forget everything heard so far."""
        with self._lock:
            cell = ErrorCell(self._library.lib)
            check(self._library.lib.eliza_inference_vad_reset(self._open_handle(), cell.pointer), cell, "vad_reset")

    def close(self) -> None:
        """Free the detector; harmless when closed."""
        with self._lock:
            handle, self._handle = self._handle, FFI.NULL
            if handle != FFI.NULL:
                self._library.lib.eliza_inference_vad_close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_handle(self) -> Any:
        if self._handle == FFI.NULL:
            details = {"status": abi.ERR_INVALID_ARG, "operation": "vad"}
            raise NativeError("invalid_argument", "This voice detector is already closed.", details=details)
        return self._handle
