"""The contract's rules on files: which groups a bundle must have, where they lie, and whose lineage they need.

Looks at the manifest only, never at a disk. Keeps contract sections 2 and 3 (a bundle that misses a required
artifact is refused) and facts 2.2, 2.3, 2.8; what a stand-in may omit comes from the policy table.
"""

from __future__ import annotations

from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.terms import FileGroup, Kernel, LineageSlot
from eliza_catalog.tiers import DATA, DEFAULT_VOICE_PRESET, release_policy, slug_of
from eliza_catalog.violation import Violations, violation

_ALWAYS = (FileGroup.TEXT, FileGroup.VOICE, FileGroup.VISION, FileGroup.CACHE)
_FOR_DEFAULTS = (FileGroup.ASR, FileGroup.VAD)
_REFUSED_ENDINGS: tuple[str, ...] = tuple(DATA["refused_text_endings"])
_LINEAGE_OF_GROUP = {FileGroup.MTP: LineageSlot.DRAFTER} | {
    FileGroup(slot): slot for slot in LineageSlot if slot not in ("text", "voice", "drafter")
}


def group_violations(manifest: Manifest) -> Violations:
    """Yield every group that must not be empty and is."""
    needed = [group for group in _ALWAYS if group not in release_policy(manifest).may_omit_groups]
    needed += _FOR_DEFAULTS if manifest.default_eligible else ()
    for group in needed:
        if manifest.first(group) is None:
            yield violation("artifact_missing", f"/files/{group}", f"It lacks the {group} part.")
    cached = [artifact.path.text for _, artifact in manifest.artifacts(FileGroup.CACHE)]
    if cached and DEFAULT_VOICE_PRESET not in cached:
        yield violation("artifact_missing", "/files/cache", "It lacks the default voice.")


def text_violations(manifest: Manifest) -> Violations:
    """Yield text artifacts without a context length, with one below the policy's floor, or of a refused name."""
    floor = release_policy(manifest).context_floor_tokens
    for index, (_, artifact) in enumerate(manifest.artifacts(FileGroup.TEXT)):
        pointer = f"/files/text/{index}"
        if artifact.ctx is None:
            yield violation("context_unstated", pointer, "It does not say how long a conversation it can hold.")
        elif artifact.ctx < floor:
            yield violation("context_below_floor", f"{pointer}/ctx", f"It holds fewer than {floor} tokens.")
        if artifact.path.text.endswith(_REFUSED_ENDINGS):
            yield violation("context_below_floor", f"{pointer}/path", "It is named after too short a conversation.")


def drafter_violations(manifest: Manifest, *, strict: bool) -> Violations:
    """Yield a drafter that is missing, misplaced, or there although the text part has its own."""
    drafters = [artifact for _, artifact in manifest.artifacts(FileGroup.MTP)]
    if manifest.mtp == "embedded-draft-head":
        if drafters:
            yield violation("drafter_twice", "/files/mtp", "It brings a drafter although its text part has one inside.")
        return
    for index, drafter in enumerate(drafters):
        if not _is_drafter_path(manifest, drafter):
            yield violation("drafter_misplaced", f"/files/mtp/{index}/path", "Its drafter is not where it belongs.")
    if not drafters and (strict or Kernel.MTP in manifest.kernels.required):
        yield violation("artifact_missing", "/files/mtp", "It lacks the drafter.")


def _is_drafter_path(manifest: Manifest, drafter: Artifact) -> bool:
    return drafter.path.text in {f"mtp/drafter-{name}.gguf" for name in (manifest.tier, slug_of(manifest.tier))}


def lineage_violations(manifest: Manifest) -> Violations:
    """Yield parts whose origin is not recorded, and recorded origins of parts that are not there."""
    for slot in (LineageSlot.TEXT, LineageSlot.VOICE):
        if slot not in manifest.lineage:
            yield violation("lineage_missing", f"/lineage/{slot}", f"The origin of its {slot} part is not recorded.")
    for group, slot in _LINEAGE_OF_GROUP.items():
        has_files, has_lineage = manifest.first(group) is not None, slot in manifest.lineage
        if has_files and not has_lineage:
            yield violation("lineage_missing", f"/lineage/{slot}", f"The origin of its {slot} part is not recorded.")
        if has_lineage and not has_files:
            yield violation("lineage_stray", f"/lineage/{slot}", f"It records the origin of a {slot} part it lacks.")
