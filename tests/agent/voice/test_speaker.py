from __future__ import annotations

import time
from array import array
from pathlib import Path

import anyio
import pytest
from tests.support.pcm import sine, tone

from eliza_agent.voice.ring import Ring
from eliza_agent.voice.speaker import MemorySpeaker, WavSpeaker, read_wav, write_wav
from eliza_catalog.errors import StorageError

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_sound_takes_its_real_time() -> None:
    ring, speaker = Ring(24_000), MemorySpeaker()
    ring.write(tone(0.5, 2_400), 0)
    begun_s = time.monotonic()
    async with speaker.playing(ring):
        while len(ring):  # noqa: ASYNC110
            await anyio.sleep(0.001)
    assert 0.085 <= time.monotonic() - begun_s < 0.5
    assert speaker.samples() == tone(0.5, 2_400)
    assert speaker.samples_after(time.monotonic()) == 0


async def test_a_wav_holds_what_was_heard(tmp_path: Path) -> None:
    ring, sound = Ring(24_000), sine(440, 0.5)
    ring.write(sound, 0)
    async with WavSpeaker(tmp_path / "a.wav").playing(ring):
        await anyio.sleep(0.05)
    samples, rate_hz = read_wav(tmp_path / "a.wav")
    assert (rate_hz, len(samples)) == (24_000, len(sound))
    assert max(abs(a - b) for a, b in zip(samples, sound, strict=True)) < 1e-4


def test_what_is_too_loud_is_limited(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", array("f", [3.0, -3.0, 0.0]))
    assert list(read_wav(tmp_path / "a.wav")[0]) == [1.0, -1.0, 0.0]


def test_a_disk_that_refuses_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError) as caught:
        write_wav(tmp_path / "no" / "a.wav", array("f"))
    assert caught.value.code == "storage.failed"
