"""Story: before a bundle is ready it must hear, see and understand what it says it can."""

from __future__ import annotations

import zlib
from array import array
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.native_library import native_library
from tests.support.tiny_models import write_tiny_models

from eliza_agent.runtime.bundle_files import BundleFiles
from eliza_agent.runtime.engine import Engine, open_engine
from eliza_agent.verify.perception_steps import hearing, meaning, picture_for_test, sight, words_understood
from eliza_catalog.errors import VerifyError, VoiceError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Senses:
    """Perceptions that the test writes: what is heard in silence and in sound, seen, and meant."""

    def __init__(
        self, *, silence: str = "", speech: str = "", seen: str = "", vectors: tuple[array[float], ...] = ()
    ) -> None:
        self.silence, self.speech, self.seen, self.vectors = silence, speech, seen, list(vectors)
        self.perceiving = self

    async def hear(self, samples: array[float], _rate_hz: int) -> str:
        return self.speech if any(samples) else self.silence

    async def describe(self, image: bytes) -> str:
        assert image.startswith(b"\x89PNG")
        return self.seen

    async def embed(self, _text: str) -> array[float]:
        return self.vectors.pop(0)


def engine(**senses: Any) -> Engine:
    return cast(Engine, Senses(**senses))


SOUND = array("f", [0.5]) * 100
SPOKEN: dict[str, Any] = {"samples": SOUND, "text": "Hello there, my friend.", "phraseProbability": 0.99}


async def test_words_that_come_back_prove_the_ears() -> None:
    facts: dict[str, Any] = {}
    await hearing(engine(speech="hello there my front"), facts, SPOKEN)
    assert facts["wordsUnderstood"] == 0.75
    assert facts["said"] == SPOKEN["text"]


@pytest.mark.parametrize(
    ("silence", "speech"), [("thank you for watching", "hello there my friend"), ("", "something else entirely")]
)
async def test_words_out_of_nowhere_are_refused(silence: str, speech: str) -> None:
    with pytest.raises(VerifyError) as caught:
        await hearing(engine(silence=silence, speech=speech), {}, SPOKEN)
    assert caught.value.code == "verify.hearing"


async def test_a_voice_that_does_not_sound_human_is_not_judged_by_what_is_heard() -> None:
    facts: dict[str, Any] = {}
    await hearing(engine(speech=""), facts, {**SPOKEN, "phraseProbability": 0.2})
    assert facts["wordsUnderstood"] == 0.0


@pytest.mark.parametrize("seen", ["", "  \n"])
async def test_a_picture_that_says_nothing_is_refused(seen: str) -> None:
    with pytest.raises(VerifyError) as caught:
        await sight(engine(seen=seen), {})
    assert caught.value.code == "verify.sight"


@pytest.mark.parametrize(
    "vectors",
    [
        (array("f", [1.0, 0.0]), array("f", [1.0, 0.0])),
        (array("f", [0.5, 0.0]), array("f", [0.0, 1.0])),
        (array("f", [float("nan"), 0.0]), array("f", [0.0, 1.0])),
    ],
    ids=["the same", "too short", "no numbers"],
)
async def test_vectors_that_tell_nothing_apart_are_refused(vectors: tuple[array[float], ...]) -> None:
    with pytest.raises(VerifyError) as caught:
        await meaning(engine(vectors=vectors), {})
    assert caught.value.code == "verify.meaning"


def test_the_picture_is_a_whole_png() -> None:
    image = picture_for_test()
    begin = image.index(b"IDAT") + 4
    rows = zlib.decompress(image[begin : image.index(b"IEND") - 8])
    assert len(rows) == 64 * (1 + 3 * 64)
    assert rows[1:4] == b"\x20\x40\xe0"


@given(st.lists(st.sampled_from(["Ha!", "one", "two", "it's", "ÄRGER"])), st.lists(st.sampled_from(["one", "ärger"])))
def test_the_share_of_words_is_a_share(said: list[str], more: list[str]) -> None:
    text = " ".join(said)
    assert words_understood(text, " ".join([*more, *said]).upper()) == 1.0
    assert 0.0 <= words_understood(text, " ".join(more)) <= 1.0


# --- on the real library -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_tiny_models(folder)
    return folder


def files(root: Path, *, vision: Path | None = None, asr: Path | None = None) -> BundleFiles:
    text = next(root.glob("text/*.gguf"))
    return BundleFiles(root=root, text=text, ctx=4096, preset=root / "cache" / "none", vision=vision, asr=asr)


async def test_the_real_engine_sees_and_means(models: Path) -> None:
    root = models / "noise"
    parts = files(root, vision=root / "vision" / "mmproj.gguf")
    async with open_engine(native_library(), parts, phonemise=str) as opened:
        facts: dict[str, Any] = {}
        await sight(opened, facts)
        await meaning(opened, facts)
    assert facts["dimensions"] == 64
    assert facts["description"]


async def test_the_real_engine_hears_with_a_published_ear(models: Path) -> None:
    root = models / "published"
    async with open_engine(native_library(), files(root, asr=next(root.glob("asr/*.gguf"))), phonemise=str) as opened:
        assert await opened.perceiving.hear(array("f", [0.3, -0.3] * 8000), 16_000)


async def test_senses_that_a_bundle_lacks_are_absent(models: Path) -> None:
    async with open_engine(native_library(), files(models / "noise"), phonemise=str) as opened:
        with pytest.raises(VoiceError, match="does not see"):
            await opened.perceiving.describe(picture_for_test())
        with pytest.raises(VoiceError, match="does not understand"):
            await opened.perceiving.hear(SOUND, 16_000)
