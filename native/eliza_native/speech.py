"""Speech: phonemes to 24 kHz samples, whole or chunk by chunk.

Turns no text into phonemes and plays nothing. One synthesis runs per context at a time; any thread may
cancel it. Keeps the streaming rules of the interop facts, section 1.3 (a last chunk always comes).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from enum import IntEnum
from pathlib import Path

from eliza_native.callbacks import Parking, chunk_callback
from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, c_path, check, encoded


class G2pKind(IntEnum):
    """Which phonemiser the engine carries; with ASCII, phonemise outside and use the IPA calls."""

    ASCII = 0
    ESPEAK = 1


class Speech:
    """The voice of one opened bundle.

    Args:
        context: the bundle.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._library = context.library

    def load(self, gguf: Path, voice: Path, style_dim: int = 256) -> None:
        """Load a voice model and one style table (raw float32 rows of `style_dim`), replacing what was loaded.

        Raises:
            NativeError: `native.bundle_invalid`, `native.invalid_argument`, `native.out_of_memory`,
                `native.symbol_absent`, `native.not_implemented`.
        """
        cell = ErrorCell(self._library.lib)
        function = self._library.function("eliza_inference_kokoro_load")
        status = function(self._context.handle, c_path(gguf, "gguf"), c_path(voice, "voice"), style_dim, cell.pointer)
        check(status, cell, "kokoro_load")

    @property
    def sample_rate(self) -> int:
        """Samples per second of what is synthesised."""
        function = self._library.function("eliza_inference_kokoro_sample_rate")
        return check(function(self._context.handle), ErrorCell(self._library.lib), "kokoro_sample_rate")

    @property
    def g2p_kind(self) -> G2pKind:
        """Which phonemiser the engine carries."""
        function = self._library.function("eliza_inference_kokoro_g2p_kind")
        return G2pKind(check(function(self._context.handle), ErrorCell(self._library.lib), "kokoro_g2p_kind"))

    def synthesize_ipa(self, ipa: str, speed: float = 1.0) -> array[float]:
        """Return all samples of a phrase, float32 in [-1, 1].

        Raises:
            NativeError: as `stream_ipa`.
            Cancelled: `cancel` was called meanwhile.
        """
        samples = array("f")

        def collect(pcm: memoryview, _is_final: bool) -> None:
            samples.frombytes(pcm.cast("B"))

        self.stream_ipa(ipa, collect, speed)
        return samples

    def stream_ipa(self, ipa: str, on_chunk: Callable[[memoryview, bool], bool | None], speed: float = 1.0) -> None:
        """Synthesise a phrase and hand its samples to `on_chunk` as they come.

        Args:
            ipa: phonemes in the model's alphabet.
            on_chunk: gets a float32 view that lives only during the call, and whether it is the last (which
                may be empty); runs on this thread. Returning True cancels.
            speed: 1 = natural.

        Raises:
            NativeError: `native.invalid_argument`, `native.status`, `native.symbol_absent`.
            Cancelled: by `cancel`, or by `on_chunk`.
            BaseException: whatever `on_chunk` raised.
        """
        raw, cell, parking = encoded(ipa, "ipa"), ErrorCell(self._library.lib), Parking()
        callback = chunk_callback(on_chunk, parking)
        function = self._library.function("eliza_inference_kokoro_synthesize_ipa_stream")
        status = function(self._context.handle, raw, len(raw), speed, callback, FFI.NULL, cell.pointer)
        parking.raise_parked()
        check(status, cell, "kokoro_synthesize_ipa_stream")

    def cancel(self) -> None:
        """From any thread: stop the running synthesis at its next kernel boundary; harmless if none runs."""
        cell = ErrorCell(self._library.lib)
        function = self._library.function("eliza_inference_cancel_tts")
        check(function(self._context.handle, cell.pointer), cell, "cancel_tts")
