"""Hearing: whether somebody speaks, and what was said.

Takes windows of 32 ms and answers with a probability, takes recordings and answers with text; records nothing and
decides no turn. Keeps the voice activity and recognition rules of the interop facts, section 1.3.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, check, check_handle, failure

SAMPLE_RATE: Final = 16_000
WINDOW_SAMPLES: Final = 512
_FIRST_ROOM_BYTES: Final = 16_384
"""Ten minutes of quick speech; a longer text costs one more listening, for then the library says what it needs."""
_NEEDED = re.compile(r"needs (\d+) bytes of room")


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
        with self._lock, _pcm(frame) as pcm:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardWord:
    """A word and when it was said, in milliseconds from the beginning, as far as the length of words tells."""

    text: str
    start_ms: int
    end_ms: int


class Hearing:
    """The ears of one opened bundle; the model is loaded with the first recording.

    Args:
        context: the bundle.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library

    def transcribe(self, pcm: Iterable[float], sample_rate: int = SAMPLE_RATE) -> str:
        """Return what is said in a recording, "" for silence.

        Args:
            pcm: mono samples in [-1, 1], at most 15 minutes; a float32 buffer is read in place.
            sample_rate: in Hz, 4000 to 384000.

        Raises:
            NativeError: `native.bundle_invalid` without a model in the bundle, `native.not_implemented`,
                `native.invalid_argument`, `native.out_of_memory`, `native.symbol_absent`.
        """
        function = self._library.function("eliza_inference_asr_transcribe")
        with _pcm(pcm) as samples:

            def call(out: Any, room: int, cell: ErrorCell) -> int:
                return int(function(self._context.handle, samples, len(samples), sample_rate, out, room, cell.pointer))

            return _whole_text(self._library.lib, call, "asr_transcribe").decode("utf-8", "replace")

    def transcribe_timed(self, pcm: Iterable[float], sample_rate: int = SAMPLE_RATE) -> tuple[HeardWord, ...]:
        """Return the words of a recording with their times; arguments and errors as `transcribe`."""
        function = self._library.function("eliza_inference_asr_transcribe_timed")
        begins, ends = FFI.new("int[]", _FIRST_ROOM_BYTES), FFI.new("int[]", _FIRST_ROOM_BYTES)
        count = FFI.new("size_t *")
        with _pcm(pcm) as samples:

            def call(out: Any, room: int, cell: ErrorCell) -> int:
                nonlocal begins, ends
                count[0] = len(begins)
                where = (out, room, begins, ends, count, cell.pointer)
                status = int(function(self._context.handle, samples, len(samples), sample_rate, *where))
                if count[0] <= len(begins):
                    return status
                cell.take()
                begins, ends = FFI.new("int[]", count[0]), FFI.new("int[]", count[0])
                return call(out, room, cell)

            text = _whole_text(self._library.lib, call, "asr_transcribe_timed")
        words = text.split()  # of bytes: the library, too, parts at ASCII white space only
        return tuple(
            HeardWord(text=word.decode("utf-8", "replace"), start_ms=begins[place], end_ms=ends[place])
            for place, word in enumerate(words[: count[0]])
        )

    def open_stream(self, sample_rate: int = SAMPLE_RATE) -> HearingStream:
        """Return a recording that grows; close it, or use it as a context manager. Errors as `transcribe`."""
        return HearingStream(self._context, sample_rate)


class HearingStream:
    """A recording that grows and can be listened to at any time.

    Args:
        context: the bundle; the stream is closed with it.
        sample_rate: of what will be fed, in Hz.

    Raises:
        NativeError: as `Hearing.transcribe`.
    """

    def __init__(self, context: Context, sample_rate: int = SAMPLE_RATE) -> None:
        self._library = context.library
        self._lock = threading.RLock()
        cell = ErrorCell(self._library.lib)
        handle = self._library.function("eliza_inference_asr_stream_open")(context.handle, sample_rate, cell.pointer)
        self._handle = check_handle(self._library.lib, handle, cell, "asr_stream_open")
        context.adopt(self)

    def feed(self, pcm: Iterable[float]) -> None:
        """Append samples, mono in [-1, 1].

        Raises:
            NativeError: `native.invalid_argument` beyond 15 minutes, or when closed.
        """
        with self._lock, _pcm(pcm) as samples:
            cell = ErrorCell(self._library.lib)
            function = self._library.lib.eliza_inference_asr_stream_feed
            check(function(self._open_handle(), samples, len(samples), cell.pointer), cell, "asr_stream_feed")

    def partial(self) -> str:
        """Return what has been said so far; raises as `Hearing.transcribe`."""
        return self._text("partial")

    def finish(self) -> str:
        """Return what was said in all; raises as `Hearing.transcribe`."""
        return self._text("finish")

    def close(self) -> None:
        """Free the recording; harmless when closed."""
        with self._lock:
            handle, self._handle = self._handle, FFI.NULL
            if handle != FFI.NULL:
                self._library.lib.eliza_inference_asr_stream_close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _text(self, step: str) -> str:
        function = self._library.function(f"eliza_inference_asr_stream_{step}")
        with self._lock:

            def call(out: Any, room: int, cell: ErrorCell) -> int:
                return int(function(self._open_handle(), out, room, FFI.NULL, FFI.NULL, cell.pointer))

            return _whole_text(self._library.lib, call, f"asr_stream_{step}").decode("utf-8", "replace")

    def _open_handle(self) -> Any:
        if self._handle == FFI.NULL:
            details = {"status": abi.ERR_INVALID_ARG, "operation": "asr_stream"}
            raise NativeError("invalid_argument", "This recording is already closed.", details=details)
        return self._handle


def _pcm(samples: Iterable[float]) -> Any:
    """Return a C view of float32 samples; a buffer of them is not copied."""
    is_buffer = (isinstance(samples, memoryview) and samples.format == "f") or (
        isinstance(samples, array) and samples.typecode == "f"
    )
    return FFI.from_buffer("float[]", samples if is_buffer else array("f", samples))


def _whole_text(lib: Any, call: Callable[[Any, int, ErrorCell], int], operation: str) -> bytes:
    """Return the UTF-8 that `call(out, room, cell)` writes; a text that needs more room is asked for again."""
    room = _FIRST_ROOM_BYTES
    while True:
        cell, out = ErrorCell(lib), FFI.new("char[]", room)
        status = call(out, room, cell)
        if status >= 0:
            return bytes(FFI.buffer(out, status))
        error = failure(status, cell.take(), operation)
        needed = _NEEDED.search(str(error.details.get("said", ""))) if isinstance(error, NativeError) else None
        if needed is None or int(needed[1]) <= room:
            raise error
        room = int(needed[1])
