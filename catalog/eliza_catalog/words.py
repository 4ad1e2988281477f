"""The names a user may see, and the upstream names he may not.

`upstream_names_in` is the test of every user-visible text: messages, remedies, help and status. Developer
`details` and logs may name upstream parts. Keeps the branding rule of contract section 9.
"""

from __future__ import annotations

import re

from eliza_catalog.manifest import Manifest
from eliza_catalog.terms import Tier
from eliza_catalog.tiers import TIERS

PRODUCT = "Eliza-1"
STANDIN_NOTE = "stand-in for demonstrations"

_ANYWHERE = (
    "gemma",
    "qwen",
    "llama",
    "omnivoice",
    "kokoro",
    "turboquant",
    "polarquant",
    "smollm",
    "silero",
    "openwakeword",
    "whisper",
    "hexgrad",
)
_WHOLE_WORDS = ("mtp", "qjl", "tcq", "turbo3", "turbo4")
_PATTERN = re.compile(rf"{'|'.join(_ANYWHERE)}|(?<![a-z0-9])(?:{'|'.join(_WHOLE_WORDS)})(?![a-z0-9])", re.IGNORECASE)


def display_name(tier: Tier, *, standin: bool = False) -> str:
    """Return the name a user sees: `Eliza-1 2B`, or that a stand-in is one."""
    name = TIERS[tier].display_name
    return f"{name} ({STANDIN_NOTE})" if standin else name


def display_name_of(manifest: Manifest) -> str:
    """Return the name a user sees for this bundle."""
    return display_name(manifest.tier, standin=manifest.is_standin)


def upstream_names_in(text: str) -> list[str]:
    """Return the upstream names in `text`, lower-case and in order of appearance; empty when it may be shown."""
    return [match.casefold() for match in _PATTERN.findall(text)]
