"""Story: a picture goes in, words about it come out, whole or step by step; what is no picture is refused."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.seam import Cancelled
from eliza_native.text import EndReason, TextStream
from eliza_native.tokens import tokenize
from eliza_native.vision import ImageStream, describe_image


def picture(seed: int, side: int = 64) -> bytes:
    """Return a grey PNG; another seed is another picture."""
    rows = b"".join(bytes([0, *((x * seed + y * 7) % 256 for x in range(side))]) for y in range(side))
    chunks = (b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0), b"IDAT" + zlib.compress(rows), b"IEND")
    framed = (struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(framed)


def rest(stream: TextStream) -> str:
    text, final = "", False
    while not final:
        step = stream.next()
        text, final = text + step.text, step.final
    return text


def step_for_ever(stream: TextStream) -> None:
    while True:
        stream.next()


@pytest.fixture
def own(library: Library, models: Path) -> Iterator[Context]:
    with Context(library, models / "noise") as context:
        yield context


def test_the_library_says_that_it_sees(library: Library) -> None:
    families = library.report().families
    assert families["vision"]
    assert families["vision_stream"]


def test_a_picture_is_described(sure: Context) -> None:
    assert describe_image(sure, picture(1)) == TINY_TEXT


def test_a_stream_says_the_same_as_the_whole_answer(noise: Context) -> None:
    whole = describe_image(noise, picture(3), prompt="What is this?")
    with ImageStream(noise, picture(3), prompt="What is this?") as stream:
        assert rest(stream) == whole
        assert stream.next().end_reason is not EndReason.NONE


def test_another_picture_or_question_is_another_answer(noise: Context) -> None:
    answers = {
        describe_image(noise, picture(3)),
        describe_image(noise, picture(5)),
        describe_image(noise, picture(3), prompt="Is it night?"),
    }
    assert len(answers) == 3


def test_the_projector_may_be_named(sure: Context, models: Path) -> None:
    for path in (Path("vision") / "mmproj.gguf", models / "mmproj.gguf"):
        assert describe_image(sure, picture(1), mmproj=path) == TINY_TEXT
    with pytest.raises(NativeError) as caught:
        describe_image(sure, picture(1), mmproj=Path("vision") / "none.gguf")
    assert caught.value.code == "native.bundle_invalid"


@pytest.mark.parametrize("image", [b"", b"not a picture", picture(1)[:-20], picture(1).replace(b"IHDR", b"IHDX")])
def test_what_is_no_whole_picture_is_refused(sure: Context, image: bytes) -> None:
    for use in (describe_image, ImageStream):
        with pytest.raises(NativeError) as caught:
            use(sure, image)
        assert caught.value.code == "native.invalid_argument"


def test_a_prompt_that_c_would_cut_is_refused(sure: Context) -> None:
    with pytest.raises(NativeError) as caught:
        describe_image(sure, picture(1), prompt="a\0b")
    assert caught.value.code == "native.invalid_argument"


def test_a_cancelled_look_ends_and_the_stream_can_go_on(own: Context) -> None:
    with ImageStream(own, picture(3, side=512)) as stream:
        threading.Thread(target=stream.cancel).start()
        with pytest.raises(Cancelled):
            step_for_ever(stream)
        stream.reset()
        stream.prefill(tokenize(own, "hi"))
        assert rest(stream)


def test_evicting_the_text_model_takes_the_eye_with_it(own: Context) -> None:
    before = describe_image(own, picture(3))
    own.evict("text")
    with pytest.raises(NativeError):
        describe_image(own, picture(3))
    own.acquire("text")
    assert describe_image(own, picture(3)) == before
