"""Meaning: what a text is about as a vector, and how likely a speaker has finished.

Both only read; nothing is written. Blocking and thread-safe: the library admits one question at a time. Keeps the
embedding and end-of-turn families of the ABI (facts, section 1.3).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, check, encoded
from eliza_native.tokens import token_array

_FIRST_ROOM: Final = 4096
_LARGEST_ROOM: Final = 1 << 20


class Pooling(IntEnum):
    """How the vectors of a text's tokens become one."""

    MEAN = 1
    CLS = 2
    LAST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class NextToken:
    """The chance of one token to come next, and the likeliest token with its chance; all chances in [0, 1]."""

    probability: float
    top: int
    top_probability: float


def embed(context: Context, text: str, pooling: Pooling = Pooling.LAST, dimensions: int | None = None) -> array[float]:
    """Return the vector of a text, of length one, as float32.

    Args:
        context: the bundle; its own embedding model reads, or its text model where it has none.
        text: any text with at least one token.
        pooling: `LAST` suits text models, `MEAN` and `CLS` the models that were trained for them.
        dimensions: only so many leading numbers, brought back to length one, for models trained that way.

    Raises:
        NativeError: `native.invalid_argument` (too long, no token, dimensions out of range), `native.bundle_invalid`,
            `native.out_of_memory`, `native.symbol_absent`.
    """
    raw, size, room = encoded(text, "embed"), FFI.new("int *"), _FIRST_ROOM
    while True:
        out, cell = FFI.new("float[]", room), ErrorCell(context.library.lib)
        front = (context.handle, raw, len(raw), int(pooling))
        back = (out, room, size, cell.pointer)
        size[0] = 0
        if dimensions is None:
            status = context.library.function("eliza_inference_embed")(*front, *back)
        else:
            wanted = _whole_number(dimensions)
            status = context.library.function("eliza_inference_embed_cut")(*front, wanted, *back)
        if status != abi.ERR_INVALID_ARG or not room < size[0] <= _LARGEST_ROOM:
            check(status, cell, "embed")
            return array("f", bytes(FFI.buffer(out, 4 * size[0])))
        cell.take()
        room = size[0]


def end_of_turn(context: Context, ids: Sequence[int], target: int) -> NextToken:
    """Return how likely `target` comes after these tokens; only the last 1024 count.

    Asking again about a longer text reads only what is new.

    Raises:
        NativeError: `native.invalid_argument` without a token or with a foreign one, `native.bundle_invalid`,
            `native.out_of_memory`.
    """
    chance, top, best = FFI.new("float *"), FFI.new("int32_t *"), FFI.new("float *")
    cell = ErrorCell(context.library.lib)
    function = context.library.function("eliza_inference_llm_eot_score")
    tokens = token_array("int32_t[]", ids, "llm_eot_score")
    wanted = token_array("int32_t[]", [target], "llm_eot_score")[0]
    check(function(context.handle, tokens, len(ids), wanted, chance, top, best, cell.pointer), cell, "llm_eot_score")
    return NextToken(probability=chance[0], top=top[0], top_probability=best[0])


def _whole_number(dimensions: int) -> int:
    if not 0 < dimensions <= _LARGEST_ROOM:
        details = {"status": abi.ERR_INVALID_ARG, "dimensions": dimensions, "operation": "embed"}
        raise NativeError("invalid_argument", "A vector of that size cannot be made.", details=details)
    return dimensions
