"""Sight: what a picture shows, said by the bundle's text model.

Takes picture files in memory (JPEG, PNG, BMP) and answers whole or as a text stream; reads no file and changes no
picture. Keeps the vision calls of the interop facts, section 1.3: never speculative.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from eliza_native.context import Context
from eliza_native.seam import FFI, ErrorCell, c_path, c_text, check, check_handle
from eliza_native.text import TextStream

_ANSWER_BYTES: Final = 256 * 1024
"""More than the 1,024 tokens of one answer can spell."""


def describe_image(context: Context, image: bytes, *, prompt: str | None = None, mmproj: Path | None = None) -> str:
    """Return what the text model says about a picture. Blocks; to be able to stop it, use `ImageStream`.

    Args:
        context: the bundle.
        image: the bytes of a JPEG, PNG or BMP, at most 64 megapixels.
        prompt: what to say about it; None asks for a description.
        mmproj: the projector, absolute or relative to the bundle; None takes the one in the bundle's `vision` folder.

    Raises:
        NativeError: `native.invalid_argument` for bytes that are no whole picture or too large a one,
            `native.bundle_invalid` for a projector that is missing or does not fit, `native.not_implemented`,
            `native.out_of_memory`.
    """
    cell, out = ErrorCell(context.library.lib), FFI.new("char[]", _ANSWER_BYTES)
    function = context.library.function("eliza_inference_describe_image")
    path, words = _optional_path(mmproj), _optional_text(prompt)
    status = function(context.handle, image, len(image), path, words, out, _ANSWER_BYTES, cell.pointer)
    written = check(status, cell, "describe_image")
    return bytes(FFI.buffer(out, written)).decode("utf-8")


class ImageStream(TextStream):
    """The same as a stream: `next` until its last step; the first looks at the picture, and `cancel` ends that too.

    After `reset` the picture is forgotten and the stream is an ordinary one; further turns may be prefilled.

    Args:
        context: the bundle; the stream is closed with it.
        image: as for `describe_image`.
        prompt: as for `describe_image`.
        mmproj: as for `describe_image`.

    Raises:
        NativeError: as `describe_image`.
    """

    def __init__(
        self, context: Context, image: bytes, *, prompt: str | None = None, mmproj: Path | None = None
    ) -> None:
        cell = ErrorCell(context.library.lib)
        function = context.library.function("eliza_inference_describe_image_stream_open")
        path, words = _optional_path(mmproj), _optional_text(prompt)
        handle = function(context.handle, image, len(image), path, words, cell.pointer)
        opened = check_handle(context.library.lib, handle, cell, "describe_image_stream_open")
        self._take_over(context, opened)


def _optional_path(path: Path | None) -> Any:
    return FFI.NULL if path is None else FFI.new("char[]", c_path(path, "mmproj"))


def _optional_text(text: str | None) -> Any:
    return FFI.NULL if text is None else FFI.new("char[]", c_text(text, "prompt"))
