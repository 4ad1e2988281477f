"""Which level of a bundle's voice ladder this host takes, by its memory class.

A level that is resolved but not in the bundle is a refusal: never the next smaller one (contract sections 2
and 3, "no silent fallback"). Opens no file; the level of a file is the one its manifest path states.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from eliza_capabilities.budget import RamClass, ram_class
from eliza_capabilities.report import Absent, HostReport
from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.terms import FileGroup
from eliza_catalog.tiers import TIERS, TierFacts

_LEVEL_PATH = re.compile(r"tts/omnivoice-(?:base|tokenizer)-(\w+)\.gguf", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceLevel:
    """The voice to fetch: its ladder level (absent in a voice of one level) and its files."""

    level: str | Absent
    artifacts: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceLevelMissing:
    """The level this host takes is not in the bundle."""

    wanted: str
    published: tuple[str, ...]
    ram_class: RamClass


def choose_voice_level(host: HostReport, manifest: Manifest) -> VoiceLevel | VoiceLevelMissing:
    """Return the voice level for this host, or what is missing.

    A bundle with one level holds no ladder to choose from, so that level must be the tier's default; with
    more than one the host's memory class decides (contract section 2).
    """
    voice = tuple(artifact for _, artifact in manifest.artifacts(FileGroup.VOICE))
    levels = tuple(dict.fromkeys(level for artifact in voice if (level := level_of(artifact))))
    if not levels:
        return VoiceLevel(level=Absent("this voice has one level only"), artifacts=voice)
    tier, reached = TIERS[manifest.tier], ram_class(host)
    wanted = tier.default_voice_level if len(levels) == 1 else level_for_class(tier, reached)
    if wanted not in levels:
        return VoiceLevelMissing(wanted=wanted, published=levels, ram_class=reached)
    return VoiceLevel(level=wanted, artifacts=tuple(one for one in voice if level_of(one) in (None, wanted)))


def level_of(artifact: Artifact) -> str | None:
    """Return the ladder level a voice file's path states, or None where it states none."""
    match = _LEVEL_PATH.fullmatch(artifact.path.text)
    return match[1] if match else None


def level_for_class(tier: TierFacts, reached: RamClass) -> str:
    """Return the ladder level of a memory class: lowest, second, the tier's default, highest."""
    ladder = tier.voice_levels
    by_class = {
        RamClass.POOR: ladder[0],
        RamClass.OKAY: ladder[min(1, len(ladder) - 1)],
        RamClass.GOOD: tier.default_voice_level,
        RamClass.MAX: ladder[-1],
    }
    return by_class[reached]
