"""Brings 24 kHz speech to the 16 kHz that the speech detector hears.

A windowed-sinc filter at the exact ratio 2:3, in plain Python so that it runs on every phone; meant for seconds
of sound, not for streams. Pure; keeps facts 1.3 (detector at 16 kHz).
"""

from __future__ import annotations

import math
from array import array
from operator import mul

_UP, _DOWN = 2, 3
_HALF_TAPS = 24


def to_16_khz(samples: array[float]) -> array[float]:
    """Return mono samples at 24 kHz as samples at 16 kHz; the length is two thirds, rounded up."""
    phases = [_taps(0.0), _taps(0.5)]
    padded = array("f", bytes(4 * _HALF_TAPS)) + samples + array("f", bytes(4 * (_HALF_TAPS + 2)))
    count = -(-len(samples) * _UP // _DOWN)
    out = array("f", bytes(4 * count))
    for at in range(count):
        whole, part = divmod(at * _DOWN, _UP)
        out[at] = sum(map(mul, phases[part], padded[whole : whole + 2 * _HALF_TAPS + 1]))
    return out


def _taps(fraction: float) -> list[float]:
    """Filter for an output that lies `fraction` of a sample after an input; passes what 16 kHz can hold."""
    cutoff = _UP / _DOWN * 0.95
    taps = []
    for at in range(-_HALF_TAPS, _HALF_TAPS + 1):
        distance = at - fraction
        window = 0.5 + 0.5 * math.cos(math.pi * distance / (_HALF_TAPS + 1))
        turn = math.pi * distance * cutoff
        taps.append(cutoff * window * (math.sin(turn) / turn if turn else 1.0))
    total = math.fsum(taps)
    return [tap / total for tap in taps]
