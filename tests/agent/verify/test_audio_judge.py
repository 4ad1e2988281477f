from __future__ import annotations

import time
from array import array

import pytest
from tests.support.pcm import RATE_HZ, babble, noise, saw, sine, tone

from eliza_agent.verify.audio_judge import judge_audio
from eliza_agent.verify.resample import to_16_khz

TEXT = "hello there my friend"


def faults(samples: array[float], text: str = TEXT) -> tuple[str, ...]:
    return judge_audio(samples, RATE_HZ, text).faults


def test_something_that_moves_like_speech_passes() -> None:
    assert faults(babble(1.5)) == ()


@pytest.mark.parametrize(
    ("samples", "fault"),
    [
        (tone(0.0, RATE_HZ), "silent"),
        (tone(0.5, RATE_HZ), "constant"),
        (sine(220, 1.5), "pure-tone"),
        (saw(110, 1.5), "steady"),
        (noise(1.5), "steady"),
        (babble(0.1), "too-short"),
        (babble(20), "too-long"),
        (array("f", [float("inf")]) + babble(1.5), "not-finite"),
        (array("f", (max(-1.0, min(1.0, 50 * value)) for value in babble(1.5))), "clipped"),
        (tone(0.0, 6 * RATE_HZ) + babble(0.3), "mostly-silent"),
        (array("f"), "too-short"),
        (array("f", [float("nan")] * 10), "not-finite"),
    ],
)
def test_what_cannot_be_speech_is_refused(samples: array[float], fault: str) -> None:
    assert fault in faults(samples)


def test_length_goes_with_the_text() -> None:
    assert "too-short" in faults(babble(1.0), "word " * 60)
    assert faults(babble(4.0), "word " * 60) == ()


def test_three_seconds_are_judged_in_half_a_second() -> None:
    samples = babble(3.0)
    begun_s = time.process_time()
    judge_audio(samples, RATE_HZ, TEXT)
    assert time.process_time() - begun_s < 0.5


def test_resampling_keeps_a_tone_and_drops_what_does_not_fit() -> None:
    kept = to_16_khz(sine(1000, 0.5))
    assert len(kept) == 8000
    assert 0.29 < max(kept[500:-500]) < 0.31
    assert max(map(abs, to_16_khz(sine(10_000, 0.5))[500:-500])) < 0.001
    assert len(to_16_khz(array("f"))) == 0
