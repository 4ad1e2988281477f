"""Judges whether samples can be speech of a given text: long enough, loud enough, alive, not broken.

Measures and compares with named thresholds; hears no words and opens no file. It is what keeps silence, a
constant, a hum, a buzz, hiss and overdriven sound from passing as a voice (facts 5.6, 9.4).
"""

from __future__ import annotations

import math
from array import array
from dataclasses import asdict, dataclass
from typing import Any

_FRAME_S = 0.020
_FFT_SAMPLES = 512
_FFT_FRAMES = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioLimits:
    """What speech may look like. Levels are of full scale 1; `modulation` is std/mean of the frames' level."""

    min_s_per_char: float = 0.012
    max_s_per_char: float = 0.60
    min_duration_s: float = 0.15
    min_rms: float = 0.003
    max_peak: float = 4.0
    clip_level: float = 0.999
    max_clipped_ratio: float = 0.01
    max_dc_ratio: float = 0.5
    min_crossings_per_s: float = 40.0
    min_modulation: float = 0.12
    min_flatness: float = 1e-7
    min_active_ratio: float = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFacts:
    """What was measured.

    `dc_ratio` is |mean| over RMS. `flatness` is the geometric over the arithmetic mean of the power spectrum
    (0 a pure tone, 1 white noise), the median over frames. `active_ratio` is the share of 20 ms frames above
    a tenth of the loudest.
    """

    samples: int
    duration_s: float
    not_finite: int
    rms: float
    peak: float
    clipped_ratio: float
    dc_ratio: float
    crossings_per_s: float
    modulation: float
    flatness: float
    active_ratio: float

    def as_json(self) -> dict[str, Any]:
        """Return the measurements rounded for a report."""
        return {name: round(value, 6) if isinstance(value, float) else value for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioVerdict:
    """The measurements and every limit that they break; no fault means it can be speech."""

    facts: AudioFacts
    faults: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.faults


def judge_audio(
    samples: array[float], sample_rate_hz: int, text: str, limits: AudioLimits | None = None
) -> AudioVerdict:
    """Judge mono float samples that are said to speak `text`."""
    facts = measure(samples, sample_rate_hz, limits or AudioLimits())
    return AudioVerdict(facts=facts, faults=_faults(facts, text, limits or AudioLimits()))


def measure(samples: array[float], sample_rate_hz: int, limits: AudioLimits) -> AudioFacts:
    """Measure mono float samples."""
    finite = array("f", filter(math.isfinite, samples))
    count = len(finite)
    if not count:
        return _nothing(len(samples))
    rms = math.sqrt(math.fsum(map(float.__mul__, finite, finite)) / count)
    mean = math.fsum(finite) / count
    levels = _frame_levels(finite, int(sample_rate_hz * _FRAME_S))
    loudest = max(levels)
    duration_s = count / sample_rate_hz
    return AudioFacts(
        samples=len(samples),
        duration_s=duration_s,
        not_finite=len(samples) - count,
        rms=rms,
        peak=max(max(finite), -min(finite)),
        clipped_ratio=sum(1 for value in finite if not -limits.clip_level < value < limits.clip_level) / count,
        dc_ratio=abs(mean) / rms if rms else 0.0,
        crossings_per_s=_crossings(finite, mean) / duration_s,
        modulation=_modulation(levels),
        flatness=_flatness(finite),
        active_ratio=sum(1 for level in levels if level > loudest / 10) / len(levels),
    )


def _nothing(samples: int) -> AudioFacts:
    return AudioFacts(
        samples=samples,
        duration_s=0.0,
        not_finite=samples,
        rms=0.0,
        peak=0.0,
        clipped_ratio=0.0,
        dc_ratio=0.0,
        crossings_per_s=0.0,
        modulation=0.0,
        flatness=0.0,
        active_ratio=0.0,
    )


def _faults(facts: AudioFacts, text: str, limits: AudioLimits) -> tuple[str, ...]:
    letters = max(1, sum(1 for char in text if char.isalnum()))
    shortest_s = max(limits.min_duration_s, letters * limits.min_s_per_char)
    # A single letter is spoken slowly and with silence around it: two seconds are always allowed.
    longest_s = max(2.0, letters * limits.max_s_per_char)
    broken = {
        "not-finite": facts.not_finite > 0,
        "too-short": facts.duration_s < shortest_s,
        "too-long": facts.duration_s > longest_s,
        "silent": facts.rms < limits.min_rms,
        "too-loud": facts.peak > limits.max_peak,
        "clipped": facts.clipped_ratio > limits.max_clipped_ratio,
        "constant": facts.dc_ratio > limits.max_dc_ratio,
        "no-pitch": facts.crossings_per_s < limits.min_crossings_per_s,
        "steady": facts.modulation < limits.min_modulation,
        "pure-tone": facts.flatness < limits.min_flatness,
        "mostly-silent": facts.active_ratio < limits.min_active_ratio,
    }
    return tuple(name for name, is_broken in broken.items() if is_broken)


def _frame_levels(samples: array[float], frame: int) -> list[float]:
    """RMS of each whole frame; of the one short frame if there is no whole one."""
    levels = []
    for start in range(0, max(1, len(samples) - frame + 1), frame):
        part = samples[start : start + frame]
        levels.append(math.sqrt(math.fsum(map(float.__mul__, part, part)) / len(part)))
    return levels


def _modulation(levels: list[float]) -> float:
    mean = math.fsum(levels) / len(levels)
    if not mean:
        return 0.0
    return math.sqrt(math.fsum((level - mean) ** 2 for level in levels) / len(levels)) / mean


def _crossings(samples: array[float], mean: float) -> int:
    signs = [value > mean for value in samples]
    return sum(map(bool.__ne__, signs, signs[1:]))


def _flatness(samples: array[float]) -> float:
    starts = range(0, len(samples) - _FFT_SAMPLES + 1, max(1, (len(samples) - _FFT_SAMPLES) // _FFT_FRAMES))
    values = sorted(_frame_flatness(samples[start : start + _FFT_SAMPLES]) for start in list(starts)[:_FFT_FRAMES])
    return values[len(values) // 2] if values else 0.0


def _frame_flatness(frame: array[float]) -> float:
    size = len(frame)
    mean = math.fsum(frame) / size
    windowed = [
        complex((value - mean) * (0.5 - 0.5 * math.cos(2 * math.pi * at / size))) for at, value in enumerate(frame)
    ]
    powers = [abs(bin_value) ** 2 for bin_value in _fft(windowed)[1 : size // 2]]
    total = math.fsum(powers)
    if not total:
        return 0.0
    tiny = total * 1e-12
    return math.exp(math.fsum(math.log(power + tiny) for power in powers) / len(powers)) / (total / len(powers))


def _fft(values: list[complex]) -> list[complex]:
    """Radix-2 Fourier transform; the length is a power of two."""
    size = len(values)
    if size == 1:
        return values
    even, odd = _fft(values[0::2]), _fft(values[1::2])
    step = -2j * math.pi / size
    turned = [_exp(step * at) * value for at, value in enumerate(odd)]
    return [a + b for a, b in zip(even, turned, strict=True)] + [a - b for a, b in zip(even, turned, strict=True)]


def _exp(value: complex) -> complex:
    return complex(math.cos(value.imag), math.sin(value.imag))
