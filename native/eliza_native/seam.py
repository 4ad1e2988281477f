"""The seam: statuses and error strings become Python errors, and every string finds its owner.

Knows who frees what and how a buffer that is too small shows; calls nothing by itself but the two free
functions. Keeps the error rules of the interop facts, section 1.1: the numeric status always survives.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from eliza_catalog.errors import NativeError
from eliza_native import abi

FFI: Final[Any] = abi.make_ffi()
"""The process's one FFI; handles and callbacks of this package all come from it. What C brings is untyped."""


class Cancelled(Exception):
    """The running call was cancelled by its caller (status -7)."""


_REASONS: Final = {
    abi.ERR_NOT_IMPLEMENTED: ("not_implemented", "This build of Eliza-1 cannot do that."),
    abi.ERR_INVALID_ARG: ("invalid_argument", "Eliza-1's engine refused a value."),
    abi.ERR_BUNDLE_INVALID: ("bundle_invalid", "A file of this Eliza-1 version is missing or damaged."),
    abi.ERR_FFI_FAULT: ("status", "Eliza-1's engine failed."),
    abi.ERR_OOM: ("out_of_memory", "There is not enough memory for Eliza-1."),
    abi.ERR_ABI_MISMATCH: ("abi_mismatch", "Eliza-1's engine is of another version."),
}

_BACKEND_MARK: Final = "ELIZA_LLM_BACKEND"


class ErrorCell:
    """The `char **out_error` of one call; reading it takes the string over and frees it."""

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self.pointer = FFI.new("char **")

    def take(self) -> str:
        """Return what the library said and free it; empty when it said nothing."""
        if self.pointer[0] == FFI.NULL:
            return ""
        text = FFI.string(self.pointer[0])
        self._lib.eliza_inference_free_string(self.pointer[0])
        self.pointer[0] = FFI.NULL
        return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


def failure(status: int, said: str, operation: str) -> NativeError | Cancelled:
    """Return the error that a negative status means; the number and the words stay in `details`."""
    if status == abi.ERR_CANCELLED:
        return Cancelled(operation)
    reason, message = _REASONS.get(status, ("status", "Eliza-1's engine failed."))
    if said.startswith(_BACKEND_MARK):
        reason, message = "backend_unavailable", "The chosen compute backend cannot run Eliza-1 here."
    return NativeError(reason, message, details={"status": status, "said": said, "operation": operation})


def check(status: int, cell: ErrorCell, operation: str) -> int:
    """Return a status that means success (a count or 0), raise for the others.

    Raises:
        NativeError: `native.*` by status, with `details.status`.
        Cancelled: status -7.
    """
    if status >= 0:
        return status
    raise failure(status, cell.take(), operation)


def check_handle(lib: Any, handle: Any, cell: ErrorCell, operation: str) -> Any:
    """Return a handle that is not NULL, raise as `check` does otherwise.

    A handle carries no status; libraries that know `eliza_inference_last_status` tell it, for others it
    is the general failure.
    """
    if handle != FFI.NULL:
        return handle
    asked = getattr(lib, "eliza_inference_last_status", None)
    status = asked() if asked is not None else abi.ERR_FFI_FAULT
    raise failure(status if status < 0 else abi.ERR_FFI_FAULT, cell.take(), operation)


def encoded(text: str, name: str) -> bytes:
    """Return `text` as UTF-8, for calls that are told its length.

    Raises:
        NativeError: `native.invalid_argument` for lone surrogates.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _refused(str(error), name) from error


def c_text(text: str, name: str) -> bytes:
    """Return `text` as UTF-8 for calls that read up to a NUL.

    Raises:
        NativeError: `native.invalid_argument` for lone surrogates, or a NUL where C would cut the text off.
    """
    return _uncut(encoded(text, name), name)


def c_path(path: Path, name: str) -> bytes:
    """Return `path` as the bytes that the file system knows it by; raises as `c_text` does."""
    return _uncut(os.fsencode(path), name)


def _uncut(raw: bytes, name: str) -> bytes:
    if b"\0" in raw:
        raise _refused("a NUL would cut it off", name)
    return raw


def _refused(said: str, name: str) -> NativeError:
    details = {"status": abi.ERR_INVALID_ARG, "said": said, "operation": name}
    return NativeError("invalid_argument", "A text is not one that Eliza-1's engine can read.", details=details)
