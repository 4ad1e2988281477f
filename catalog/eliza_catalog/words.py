"""The names a user may see, and the upstream names he may not.

`upstream_names_in` is the test of every user-visible text: messages, remedies, help and status. Developer
`details` and logs may name upstream parts. Keeps the branding rule of contract section 9.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from eliza_catalog.terms import Tier

if TYPE_CHECKING:  # `status` must answer at once: it needs names, not the manifest's shapes
    from eliza_catalog.manifest import Manifest

_NAMES: Mapping[Tier, str] = MappingProxyType(
    {
        Tier.T2B: "Eliza-1 2B",
        Tier.T4B: "Eliza-1 4B",
        Tier.T9B: "Eliza-1 9B",
        Tier.T27B: "Eliza-1 27B",
        Tier.T27B_256K: "Eliza-1 27B 256k",
    }
)
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
    name = _NAMES[tier]
    return f"{name} ({STANDIN_NOTE})" if standin else name


def display_name_of(manifest: Manifest) -> str:
    """Return the name a user sees for this bundle."""
    return display_name(manifest.tier, standin=manifest.is_standin)


def upstream_names_in(text: str) -> list[str]:
    """Return the upstream names in `text`, lower-case and in order of appearance; empty when it may be shown."""
    return [match.casefold() for match in _PATTERN.findall(text)]
