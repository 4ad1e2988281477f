"""Samples for tests of sound: constants, tones, noise, and something that moves like speech."""

from __future__ import annotations

import math
import random
from array import array

RATE_HZ = 24_000


def tone(value: float, count: int) -> array[float]:
    """Return `count` samples of one value."""
    return array("f", [value]) * count


def sine(hz: float, seconds: float, level: float = 0.3) -> array[float]:
    """Return a steady sine."""
    step = 2 * math.pi * hz / RATE_HZ
    return array("f", (level * math.sin(step * at) for at in range(int(seconds * RATE_HZ))))


def saw(hz: float, seconds: float, level: float = 0.3) -> array[float]:
    """Return a steady buzz."""
    return array("f", (level * (2 * ((hz * at / RATE_HZ) % 1.0) - 1) for at in range(int(seconds * RATE_HZ))))


def noise(seconds: float, level: float = 0.1, seed: int = 5) -> array[float]:
    """Return steady white noise."""
    dice = random.Random(seed)
    return array("f", (level * dice.uniform(-1, 1) for _ in range(int(seconds * RATE_HZ))))


def babble(seconds: float, level: float = 0.3, seed: int = 5) -> array[float]:
    """Return a glottal buzz whose loudness and pitch move as syllables do, with breath between them."""
    dice, out, phase = random.Random(seed), array("f"), 0.0
    for at in range(int(seconds * RATE_HZ)):
        now_s = at / RATE_HZ
        loud = max(0.02, math.sin(2 * math.pi * 2.2 * now_s)) ** 1.5
        phase += (120 + 30 * math.sin(2 * math.pi * 0.7 * now_s)) / RATE_HZ
        voice = sum(math.sin(2 * math.pi * k * phase) / k for k in range(1, 12)) / 2
        out.append(level * loud * (voice + 0.1 * dice.uniform(-1, 1)))
    return out
