"""Tokens: text to the ids of the bundle's text model, and back.

Blocking; loads the text model on first use. Knows nothing of chat templates or prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, check, encoded

_FIRST_TEXT_BYTES: Final = 16 * 1024
_LARGEST_TEXT_BYTES: Final = 64 * 1024 * 1024


def tokenize(context: Context, text: str, add_special: bool = True, parse_special: bool = True) -> list[int]:
    """Return the token ids of `text`.

    Args:
        context: the bundle; its text model is loaded if it is not yet.
        text: any text.
        add_special: add what the model expects at the ends.
        parse_special: read control tokens in the text as such; False for untrusted text.

    Raises:
        NativeError: `native.bundle_invalid`, `native.invalid_argument`, `native.out_of_memory`.
    """
    lib = context.library.lib
    raw, cell = encoded(text, "tokenize"), ErrorCell(lib)
    out, count = FFI.new("int **"), FFI.new("size_t *")
    function = context.library.function("eliza_inference_tokenize")
    check(
        function(context.handle, raw, len(raw), add_special, parse_special, out, count, cell.pointer), cell, "tokenize"
    )
    try:
        return list(FFI.unpack(out[0], count[0])) if count[0] else []
    finally:
        lib.eliza_inference_free_tokens(out[0])


def detokenize(
    context: Context, tokens: Sequence[int], remove_special: bool = False, unparse_special: bool = False
) -> str:
    """Return the text of `tokens`; bytes that are no UTF-8 become U+FFFD.

    Raises:
        NativeError: `native.invalid_argument` for an id outside the vocabulary.
    """
    ids = token_array("int[]", tokens, "detokenize")
    function = context.library.function("eliza_inference_detokenize")
    size = max(_FIRST_TEXT_BYTES, 32 * len(tokens))
    while True:
        cell, out = ErrorCell(context.library.lib), FFI.new("char[]", size)
        status = function(context.handle, ids, len(tokens), remove_special, unparse_special, out, size, cell.pointer)
        if status != abi.ERR_INVALID_ARG or size >= _LARGEST_TEXT_BYTES:
            written = check(status, cell, "detokenize")
            return bytes(FFI.buffer(out, written)).decode("utf-8", "replace")
        said = cell.take()
        if "bytes of room" not in said:
            raise NativeError(
                "invalid_argument",
                "Eliza-1's engine refused a value.",
                details={"status": status, "said": said, "operation": "detokenize"},
            )
        size *= 16


def token_array(kind: str, ids: Sequence[int], operation: str) -> Any:
    """Return token ids as a C array of `kind`.

    Raises:
        NativeError: `native.invalid_argument` for what is no number of that size.
    """
    try:
        return FFI.new(kind, list(ids))
    except (OverflowError, TypeError) as error:
        details = {"status": abi.ERR_INVALID_ARG, "said": str(error), "operation": operation}
        raise NativeError(
            "invalid_argument", "A token id is not a number of the vocabulary.", details=details
        ) from error
