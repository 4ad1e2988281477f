"""Which model architectures are for stand-ins only: a bundle that may be a default never carries one.

Asked by the publisher before an upload and by devices after a download. Keeps contract section 1 (what Eliza-1 is
made of).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from eliza_catalog.terms import FileGroup

STANDIN_ONLY: Mapping[FileGroup, frozenset[str]] = MappingProxyType({FileGroup.ASR: frozenset({"whisper"})})
"""File group to what a GGUF header there may say in a stand-in and nowhere else."""


def is_standin_only(group: FileGroup, architecture: str | None) -> bool:
    """Say whether a file of this group and architecture may be part of stand-ins only."""
    return architecture in STANDIN_ONLY.get(group, frozenset())
