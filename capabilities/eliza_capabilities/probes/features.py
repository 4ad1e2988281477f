"""CPU instruction sets under one name each, from the spellings of systems and libraries.

A canonical name is lower case without separators (`avx512vnni`, `dotprod`), so that what the processor has
and what a library was compiled to use can be subtracted. Holds only sets that a compute library may use, and
reads nothing (contract section 7, rule 3: the device's real abilities, not its brand).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eliza_capabilities.report import OperatingSystem

X64_FEATURES = frozenset(
    {
        *("sse3", "ssse3", "sse41", "sse42", "avx", "avx2", "fma", "f16c", "bmi2", "avxvnni"),
        *("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vnni", "avx512bf16", "avx512fp16"),
        *("amxtile", "amxint8", "amxbf16"),
    }
)
ARM64_FEATURES = frozenset({"neon", "fp16", "dotprod", "i8mm", "bf16", "sve", "sve2", "sme"})
_KNOWN = X64_FEATURES | ARM64_FEATURES

WINDOWS_FEATURES: Mapping[int, str] = {
    13: "sse3",
    19: "neon",
    36: "ssse3",
    37: "sse41",
    38: "sse42",
    39: "avx",
    40: "avx2",
    41: "avx512f",
    43: "dotprod",
    46: "sve",
    47: "sve2",
    66: "i8mm",
    67: "fp16",
    68: "bf16",
    70: "sme",
}
"""The numbers of `IsProcessorFeaturePresent` (winnt.h, `PF_*`) and our names; Windows tells no others."""

_OTHER_NAMES: Mapping[str, str] = {
    # Linux's own words
    "pni": "sse3",
    "asimd": "neon",
    "asimdhp": "fp16",
    "asimddp": "dotprod",
    # sysctl's, on Intel and on Apple's processors
    "avx1.0": "avx",
    "advsimd": "neon",
    # the inference library's
    "fp16va": "fp16",
    "matmulint8": "i8mm",
    "avx512": "avx512f",
}


def canonical_features(words: Iterable[str]) -> frozenset[str]:
    """Return the canonical names of the known instruction sets among `words`; others are left out."""
    lowered = (word.lower().replace("_", "").replace("-", "") for word in words)
    named = (_OTHER_NAMES.get(word, word) for word in lowered)
    return frozenset(word.replace(".", "") for word in named) & _KNOWN


def told_features(system: OperatingSystem) -> frozenset[str]:
    """Return the names that a system tells at all; any other may be there without being told."""
    return frozenset(WINDOWS_FEATURES.values()) if system is OperatingSystem.WINDOWS else _KNOWN
