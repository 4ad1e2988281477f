"""The tiny stand-in: a whole bundle of a few MiB, generated in seconds from fixed seeds.

Its text model says `TINY_TEXT` to anything, its voice hums, only its speech detector is real. It is what tests
install; nothing it says or sings means anything (contract section 2, as a `local-standin`).
"""

from __future__ import annotations

from pathlib import Path

from eliza_catalog.parts.demo import DemoFile, DemoParts, Origin, artifact_path, demo_spec
from eliza_catalog.parts.tiny_file import DAMP
from eliza_catalog.parts.tiny_projector import write_tiny_projector
from eliza_catalog.parts.tiny_text import CONTEXT_TOKENS, DRAFTER, TARGET, write_tiny_drafter, write_tiny_text
from eliza_catalog.parts.tiny_voice import write_tiny_voice_model, write_tiny_voice_table
from eliza_catalog.parts.vad import ORIGIN as VAD_ORIGIN
from eliza_catalog.parts.vad import vad_file
from eliza_catalog.parts.voice import voice_files
from eliza_catalog.stage_spec import StageSpec
from eliza_catalog.terms import FileGroup

DEFAULT_VOICE = "af_tiny"
_LICENSE = "Generated from a seed by eliza_catalog.parts; SPDX-License-Identifier: Apache-2.0\n"
_DETECTOR_LICENSE = "The speech detector is under the MIT License; its text lies in the package it comes from.\n"


def make_tiny_parts(into: Path, silero: Path, *, damp: float = DAMP, vad_license: str = "") -> DemoParts:
    """Generate the tiny parts into a folder.

    Args:
        into: the folder.
        silero: the speech detector's GGUF (`parts.vad.vad_part` makes one).
        damp: how much the layers say; `1.0` gives a text model whose answers are noise and whose drafter is
            often wrong, the default one that always answers `TINY_TEXT`.
        vad_license: the licence text that travels with the detector.

    Raises:
        IntegrityError, StorageError: as the writers.
    """
    into.mkdir(parents=True, exist_ok=True)
    text, drafter, projector = into / "text.gguf", into / "drafter.gguf", into / "mmproj.gguf"
    voice, table = into / "voice.gguf", into / f"{DEFAULT_VOICE}.bin"
    write_tiny_text(text, damp=damp)
    write_tiny_drafter(drafter, damp=damp)
    write_tiny_projector(projector)
    write_tiny_voice_model(voice, seed=5)
    write_tiny_voice_table(table, seed=6)
    return DemoParts(
        files=(
            DemoFile(group=FileGroup.TEXT, path=artifact_path("text", context="4k"), source=text, ctx=CONTEXT_TOKENS),
            *voice_files(voice, [table], into),
            DemoFile(group=FileGroup.VISION, path=artifact_path("vision"), source=projector),
            DemoFile(group=FileGroup.MTP, path=artifact_path("drafter"), source=drafter),
            vad_file(silero),
        ),
        origins={slot: _generated(slot) for slot in ("text", "voice", "vision", "drafter")} | {"vad": VAD_ORIGIN},
        licenses={
            **{f"LICENSE.{part}": _LICENSE for part in ("text", "voice", "vision", "mtp")},
            "LICENSE.vad": vad_license or _DETECTOR_LICENSE,
        },
        state_bytes_per_token=_state_bytes_per_token(),
        evidence={"parts": "tiny, generated from seeds"},
    )


def tiny_spec(into: Path, silero: Path, *, damp: float = DAMP, vad_license: str = "") -> StageSpec:
    """Generate the tiny parts and return what to stage."""
    return demo_spec(make_tiny_parts(into, silero, damp=damp, vad_license=vad_license))


def _generated(slot: str) -> Origin:
    note = f"a tiny {slot} part with seeded weights; it knows nothing"
    return Origin(base="local-standin:generated", license="Apache-2.0", repo="generated", note=note)


def _state_bytes_per_token() -> int:
    """Return keys and values of all the target's layers in f16; the drafter shares them and adds none."""
    assert DRAFTER.full_head == TARGET.full_head
    heads = sum(TARGET.head_size(index) for index in range(len(TARGET.sliding)))
    return heads * TARGET.state_heads * 2 * 2
