"""Text: the stream that writes an answer step by step.

Blocking and thread-friendly: one thread drives a stream, any other may cancel it. Knows nothing of chat
templates or prompts. Keeps the pull contract open → prefill → next* → close; spans are half-open.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, c_path, c_text, check, check_handle
from eliza_native.tokens import token_array

_LEAST_TOKEN_ROOM: Final = 32
_FIRST_TEXT_BYTES: Final = 16 * 1024
_LARGEST_TEXT_BYTES: Final = 64 * 1024 * 1024


class EndReason(IntEnum):
    """Why a turn ended."""

    NONE = 0
    END_OF_TEXT = 1
    MAX_TOKENS = 2
    CONTEXT_FULL = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamConfig:
    """How a stream generates; the fields of the 88-byte C struct.

    Attributes:
        max_tokens: most tokens of one turn, 0 = up to the context.
        temperature: 0 = greedy.
        top_p: 0 or 1 = off.
        top_k: 0 = off.
        repeat_penalty: 0 or 1 = off.
        draft_min: fewest proposals worth verifying.
        draft_max: most proposals per step; needed with a drafter.
        drafter: the drafter's GGUF; None = no speculation.
        grammar: GBNF that every answer must match.
        slot_id: streams of one context with the same slot or key read a common beginning once; -1 = none.
        prompt_cache_key: as `slot_id`, by name; both together are one key.
        n_gpu_layers: -1 = all, 0 = CPU; the first stream of a context decides.
        cache_type_k: type of the key cache, None = f16 (`LibraryReport.kv_types` lists what is accepted).
        cache_type_v: type of the value cache.
        context_size: tokens, 0 = what the model was trained for.
    """

    max_tokens: int = 0
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    repeat_penalty: float = 1.0
    slot_id: int = -1
    prompt_cache_key: str | None = None
    draft_min: int = 0
    draft_max: int = 0
    drafter: Path | None = None
    grammar: str | None = None
    disable_thinking: bool = False
    n_gpu_layers: int = -1
    cache_type_k: str | None = None
    cache_type_v: str | None = None
    context_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an answer: token ids, whole UTF-8 text, what the drafter proposed and what was kept."""

    tokens: tuple[int, ...]
    text: str
    drafted: int
    accepted: int
    final: bool
    end_reason: EndReason = EndReason.NONE


class TextStream:
    """One generation over a bundle's text model.

    Args:
        context: the bundle; the stream is closed with it.
        config: how to generate.

    Raises:
        NativeError: `native.bundle_invalid` (also for a drafter that does not fit), `native.invalid_argument`,
            `native.out_of_memory`, `native.backend_unavailable`.
    """

    def __init__(self, context: Context, config: StreamConfig) -> None:
        struct, keep = _struct(config)
        library, cell = context.library, ErrorCell(context.library.lib)
        handle = library.function("eliza_inference_llm_stream_open")(context.handle, struct, cell.pointer)
        opened = check_handle(library.lib, handle, cell, "llm_stream_open")
        del keep
        self._take_over(context, opened, token_room=config.draft_max + 1)

    def _take_over(self, context: Context, handle: Any, token_room: int = 0) -> None:
        """Own an opened handle; a step brings at most `token_room` tokens."""
        self._context = context
        self._library = context.library
        self._busy = threading.RLock()
        self._handle_lock = threading.Lock()
        self._token_room = max(_LEAST_TOKEN_ROOM, token_room)
        self._text_room = _FIRST_TEXT_BYTES
        self._handle = handle
        context.adopt(self)

    def prefill(self, ids: Sequence[int]) -> None:
        """Append a prompt and begin a turn.

        Raises:
            NativeError: `native.invalid_argument` when the context has no room or an id is foreign.
            Cancelled: `cancel` was called; reset the stream.
        """
        array = token_array("int32_t[]", ids, "llm_stream_prefill")
        with self._busy:
            cell = ErrorCell(self._library.lib)
            function = self._library.lib.eliza_inference_llm_stream_prefill
            check(function(self._open_handle(), array, len(ids), cell.pointer), cell, "llm_stream_prefill")

    def next(self) -> Step:
        """Generate one step; after the last, empty final steps.

        Raises:
            NativeError: `native.invalid_argument` without a prompt, `native.status`.
            Cancelled: `cancel` was called; reset the stream.
            BaseException: whatever the context's verifier callback raised; the step is lost then.
        """
        with self._busy:
            try:
                step = self._next()
            finally:
                self._context.parking.raise_parked()
        return step

    def cancel(self) -> None:
        """From any thread: let the running call end with `Cancelled` at its next kernel boundary."""
        with self._handle_lock:
            if self._handle != FFI.NULL:
                self._library.lib.eliza_inference_llm_stream_cancel(self._handle)

    def reset(self) -> None:
        """Forget prompt, answer, counters and a pending cancel."""
        with self._busy:
            status = self._library.lib.eliza_inference_llm_stream_reset(self._open_handle())
            check(status, ErrorCell(self._library.lib), "llm_stream_reset")

    def reset_keep(self, count: int) -> int:
        """Reset, but keep the first `count` tokens where the cache still can; return how many it kept.

        A library that refuses is reset wholly, which is what 0 means.
        """
        with self._busy:
            kept = int(self._library.lib.eliza_inference_llm_stream_reset_keep(self._open_handle(), count))
            if kept < 0:
                self.reset()
            return max(kept, 0)

    @property
    def tokens_reused(self) -> int:
        """How many tokens of the last prompt an earlier stream with the same key or slot had read already."""
        if not self._library.has("eliza_inference_llm_stream_tokens_reused"):
            return 0
        with self._busy:
            return int(self._library.lib.eliza_inference_llm_stream_tokens_reused(self._open_handle()))

    def save_slot(self, path: Path) -> None:
        """Write what the stream has read to a file, whole or not at all, for the owner only.

        Raises:
            NativeError: `native.invalid_argument` when nothing was read, `native.status` when the disk refuses.
        """
        self._with_file("eliza_inference_llm_stream_save_slot", path)

    def restore_slot(self, path: Path) -> None:
        """Go on from such a file: the next step or prompt continues there.

        Raises:
            NativeError: `native.invalid_argument`, the file is none, or of another model, build or cache type.
        """
        self._with_file("eliza_inference_llm_stream_restore_slot", path)

    def _with_file(self, symbol: str, path: Path) -> None:
        name = symbol.removeprefix("eliza_inference_")
        with self._busy:
            cell = ErrorCell(self._library.lib)
            check(self._library.function(symbol)(self._open_handle(), c_path(path, name), cell.pointer), cell, name)

    def close(self) -> None:
        """Stop a running call and free the stream; harmless when closed."""
        self.cancel()
        with self._busy, self._handle_lock:
            handle, self._handle = self._handle, FFI.NULL
            if handle != FFI.NULL:
                self._library.lib.eliza_inference_llm_stream_close(handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()

    def _open_handle(self) -> Any:
        if self._handle == FFI.NULL:
            details = {"status": abi.ERR_INVALID_ARG, "operation": "stream"}
            raise NativeError("invalid_argument", "This answer stream is already closed.", details=details)
        return self._handle

    def _next(self) -> Step:
        """Call once, and again with more room if a result waits for it."""
        tokens, count = FFI.new("int32_t[]", self._token_room), FFI.new("size_t *")
        drafted, accepted = FFI.new("int32_t *"), FFI.new("int32_t *")
        while True:
            cell, text = ErrorCell(self._library.lib), FFI.new("char[]", self._text_room)
            status = self._library.lib.eliza_inference_llm_stream_next(
                self._open_handle(),
                tokens,
                self._token_room,
                count,
                text,
                self._text_room,
                drafted,
                accepted,
                cell.pointer,
            )
            if status != abi.ERR_INVALID_ARG or self._text_room >= _LARGEST_TEXT_BYTES:
                break
            said = cell.take()
            if "call again" not in said:
                raise NativeError(
                    "invalid_argument",
                    "Eliza-1's engine refused a value.",
                    details={"status": status, "said": said, "operation": "llm_stream_next"},
                )
            self._text_room *= 16
        final = check(status, cell, "llm_stream_next") == 1
        return Step(
            tokens=tuple(FFI.unpack(tokens, count[0])) if count[0] else (),
            text=bytes(FFI.string(text)).decode("utf-8"),
            drafted=drafted[0],
            accepted=accepted[0],
            final=final,
            end_reason=self._end_reason() if final else EndReason.NONE,
        )

    def _end_reason(self) -> EndReason:
        if not self._library.has("eliza_inference_llm_stream_end_reason"):
            return EndReason.END_OF_TEXT
        return EndReason(self._library.lib.eliza_inference_llm_stream_end_reason(self._open_handle()))


def _struct(config: StreamConfig) -> tuple[Any, list[Any]]:
    """Return the zero-filled C struct with `config` in it, and what must outlive the call."""
    struct = FFI.new("eliza_llm_stream_config_t *")
    keep: list[Any] = []

    def text(value: str | None) -> Any:
        if value is None:
            return FFI.NULL
        keep.append(FFI.new("char[]", c_text(value, "config")))
        return keep[-1]

    for name in (
        "max_tokens",
        "temperature",
        "top_p",
        "top_k",
        "repeat_penalty",
        "slot_id",
        "draft_min",
        "draft_max",
        "n_gpu_layers",
        "context_size",
    ):
        _set_number(struct, name, getattr(config, name))
    struct.prompt_cache_key = text(config.prompt_cache_key)
    struct.mtp_drafter_path = FFI.NULL
    if config.drafter is not None:
        keep.append(FFI.new("char[]", c_path(config.drafter, "config.drafter")))
        struct.mtp_drafter_path = keep[-1]
    struct.gbnf_grammar = text(config.grammar)
    struct.disable_thinking = int(config.disable_thinking)
    struct.cache_type_k = text(config.cache_type_k)
    struct.cache_type_v = text(config.cache_type_v)
    return struct, keep


def _set_number(struct: Any, name: str, value: float) -> None:
    try:
        setattr(struct, name, value)
    except (OverflowError, TypeError) as error:
        details = {"status": abi.ERR_INVALID_ARG, "said": str(error), "operation": f"config.{name}"}
        raise NativeError("invalid_argument", "A generation setting is out of range.", details=details) from error
