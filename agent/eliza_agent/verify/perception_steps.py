"""The steps of the device pass that perceive: hearing words, seeing a picture, telling meanings apart.

Each runs only for a bundle that ships the part, on sound that the bundle itself made and on a picture made here.
What it understood is recorded; it is judged where a right answer is known. Keeps contract section 7: every family
that the manifest ships is exercised before the bundle is ready.
"""

from __future__ import annotations

import math
import struct
import zlib
from array import array
from collections import Counter
from typing import Any

from eliza_agent.runtime.engine import Engine
from eliza_agent.voice.speaker import SAMPLE_RATE_HZ
from eliza_catalog.errors import VerifyError

Facts = dict[str, Any]

_SILENCE_S = 1.0
_SURELY_SPEECH = 0.9
_LEAST_WORDS_UNDERSTOOD = 0.5
_PICTURE_SIDE = 64
_SENTENCES = ("The kettle is on the stove.", "Taxes are due in April.")
_LENGTH_TOLERANCE = 1e-3


async def hearing(engine: Engine, facts: Facts, heard: Facts) -> None:
    """Have the bundle listen to silence and to the phrase that it spoke.

    Silence must have no words. Where the speech detector took the phrase for speech, half of its words must be
    understood; a stand-in's voice that sounds like none is not judged by what is made of it.

    Raises:
        VerifyError: `verify.hearing`.
    """
    silence = array("f", bytes(4 * int(SAMPLE_RATE_HZ * _SILENCE_S)))
    facts["silence"] = await engine.perceiving.hear(silence, SAMPLE_RATE_HZ)
    said, samples = heard.get("text", ""), heard.get("samples", array("f"))
    facts["said"], facts["understood"] = said, await engine.perceiving.hear(samples, SAMPLE_RATE_HZ)
    facts["wordsUnderstood"] = share = round(words_understood(said, facts["understood"]), 3)
    is_judged = heard.get("phraseProbability", 0.0) >= _SURELY_SPEECH
    if facts["silence"] or (is_judged and share < _LEAST_WORDS_UNDERSTOOD):
        raise VerifyError("hearing", "Eliza-1 does not understand speech on this device.", details=dict(facts))


async def sight(engine: Engine, facts: Facts) -> None:
    """Have the bundle describe a picture; it must say something.

    Raises:
        VerifyError: `verify.sight`.
    """
    facts["description"] = await engine.perceiving.describe(picture_for_test())
    if not facts["description"].strip():
        raise VerifyError("sight", "Eliza-1 sees nothing on this device.", details=dict(facts))


async def meaning(engine: Engine, facts: Facts) -> None:
    """Compare two sentences; each must be a vector of length one, and they must differ.

    Raises:
        VerifyError: `verify.meaning`.
    """
    one, other = [await engine.perceiving.embed(sentence) for sentence in _SENTENCES]
    lengths = [math.hypot(*vector) for vector in (one, other)]
    facts["dimensions"] = len(one)
    facts["likeness"] = likeness = round(sum(a * b for a, b in zip(one, other, strict=True)), 6)
    is_sound = all(abs(length - 1) < _LENGTH_TOLERANCE for length in lengths)
    if not is_sound or not likeness < 1 - _LENGTH_TOLERANCE:
        raise VerifyError("meaning", "Eliza-1 cannot tell texts apart on this device.", details=dict(facts))


def words_understood(said: str, understood: str) -> float:
    """Return the share of the words of `said` that are in `understood`, in any order; 1.0 for no words."""
    wanted, found = _words(said), _words(understood)
    return sum((wanted & found).values()) / total if (total := wanted.total()) else 1.0


def picture_for_test() -> bytes:
    """Return a small PNG: a red square on a blue ground."""
    inside = range(_PICTURE_SIDE // 4, 3 * _PICTURE_SIDE // 4)
    red, blue = b"\xe0\x20\x20", b"\x20\x40\xe0"
    rows = b"".join(
        b"\0" + b"".join(red if x in inside and y in inside else blue for x in range(_PICTURE_SIDE))
        for y in range(_PICTURE_SIDE)
    )
    header = struct.pack(">IIBBBBB", _PICTURE_SIDE, _PICTURE_SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _words(text: str) -> Counter[str]:
    kept = "".join(char if char.isalnum() else " " for char in text.casefold().replace("'", ""))
    return Counter(kept.split())
