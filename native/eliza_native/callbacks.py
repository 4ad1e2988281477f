"""The only two calls from C into Python: a verifier event, a chunk of speech.

No exception leaves a callback: it is parked here and raised in Python once the C call has returned, and
further callbacks of that call are answered without calling user code. Copies what lives only for the call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from eliza_native.seam import FFI


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A half-open range of generated tokens: `start` is in it, `end` is not."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierEvent:
    """What one step decided.

    Attributes:
        accepted: token ids that stand: kept proposals, and the model's own token when none was rejected.
        rejected: proposals that fell, by index over the turn's generated tokens; None = none did.
        corrected: what the model put in their place; `accepted + corrected` are the step's tokens.
    """

    accepted: tuple[int, ...]
    rejected: Span | None
    corrected: tuple[int, ...]


class Parking:
    """Keeps the first exception of a callback until Python may raise it."""

    def __init__(self) -> None:
        self._exception: BaseException | None = None

    @property
    def is_taken(self) -> bool:
        """Whether an exception waits."""
        return self._exception is not None

    def park(self, _kind: type[BaseException], exception: BaseException, _trace: TracebackType | None) -> None:
        """Keep `exception` unless one waits already (the signature is cffi's `onerror`)."""
        if self._exception is None:
            self._exception = exception

    def raise_parked(self) -> None:
        """Raise what waits, once."""
        exception, self._exception = self._exception, None
        if exception is not None:
            raise exception


def verifier_callback(callback: Callable[[VerifierEvent], None], parking: Parking) -> Any:
    """Return a C `eliza_verifier_callback`; keep it alive as long as the library may call it."""

    def on_event(event: Any, _user_data: Any) -> None:
        if not parking.is_taken:
            callback(_read_event(event))

    return FFI.callback("eliza_verifier_callback", on_event, onerror=parking.park)


def chunk_callback(on_chunk: Callable[[memoryview, bool], bool | None], parking: Parking) -> Any:
    """Return a C `eliza_tts_chunk_callback`; True from `on_chunk`, or an exception, cancels the synthesis.

    The view of float32 samples lives only during the call.
    """

    def on_pcm(pcm: Any, count: int, is_final: int, _user_data: Any) -> int:
        if parking.is_taken:
            return 1
        samples: Any = memoryview(FFI.buffer(pcm, count * 4) if count else b"").cast("f")
        return 1 if on_chunk(samples, is_final != 0) else 0

    return FFI.callback("eliza_tts_chunk_callback", on_pcm, error=1, onerror=parking.park)


def _read_event(event: Any) -> VerifierEvent:
    rejected = None if event.rejected_from < 0 else Span(start=event.rejected_from, end=event.rejected_to)
    return VerifierEvent(
        accepted=tuple(FFI.unpack(event.accepted_token_ids, event.n_accepted)) if event.n_accepted else (),
        rejected=rejected,
        corrected=tuple(FFI.unpack(event.corrected_token_ids, event.n_corrected)) if event.n_corrected else (),
    )
