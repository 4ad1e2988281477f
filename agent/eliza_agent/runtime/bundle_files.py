"""Which file of a bundle does what, as the manifest's groups say.

Only `require_present` looks at the disk; what a file's bytes are is for the proof and the library to find out. A
group that a use needs and the manifest lacks is a typed error, never a guess by file name. Keeps contract
section 2 (the manifest is the source of truth).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from eliza_catalog.errors import ContractError, IntegrityError, VoiceError
from eliza_catalog.manifest import Artifact, Manifest
from eliza_catalog.terms import FileGroup, RuntimeClass

PRESET_PATH = "cache/voice-preset-default.bin"
"""The one cache path that the manifest's contract fixes (facts 2.3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceFiles:
    """The voice's model, and its style table (rows of float32, one per phoneme count)."""

    model: Path
    table: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleFiles:
    """The files of one bundle, absolute below `root`; `ctx` is the text file's context in tokens."""

    root: Path
    text: Path
    ctx: int
    preset: Path
    drafter: Path | None = None
    voice: VoiceFiles | None = None
    vad: Path | None = None
    asr: Path | None = None
    vision: Path | None = None
    embedding: Path | None = None

    def require_voice(self) -> VoiceFiles:
        """Return the voice's files.

        Raises:
            VoiceError: `voice.absent`.
        """
        if self.voice is None:
            raise VoiceError("absent", "This Eliza-1 cannot speak on this device.")
        return self.voice

    def require_vad(self) -> Path:
        """Return the speech detector's file.

        Raises:
            VoiceError: `voice.absent`.
        """
        if self.vad is None:
            raise VoiceError("absent", "This Eliza-1 cannot listen on this device.")
        return self.vad

    def require_asr(self) -> Path:
        """Return the first file of those that understand speech.

        Raises:
            VoiceError: `voice.absent`.
        """
        if self.asr is None:
            raise VoiceError("absent", "This Eliza-1 does not understand speech on this device.")
        return self.asr

    def require_vision(self) -> Path:
        """Return the file that makes pictures readable.

        Raises:
            VoiceError: `voice.absent`.
        """
        if self.vision is None:
            raise VoiceError("absent", "This Eliza-1 does not see on this device.")
        return self.vision


def require_present(files: BundleFiles) -> None:
    """Look whether every file that the library will open is there. Blocks on the disk.

    Raises:
        IntegrityError: `integrity.missing`, with all that are not.
    """
    voice = (files.voice.model, files.voice.table) if files.voice else ()
    senses = (files.vad, files.asr, files.vision, files.embedding)
    wanted = (files.text, files.drafter, *senses, *voice)
    gone = [path.relative_to(files.root).as_posix() for path in wanted if path is not None and not path.is_file()]
    if gone:
        raise IntegrityError("missing", "Files of this Eliza-1 are gone.", details={"paths": gone})


def bundle_files(manifest: Manifest, root: Path, *, voice_name: str | None = None) -> BundleFiles:
    """Return the files of the bundle at `root`.

    Args:
        manifest: the bundle's manifest.
        root: the folder its paths are relative to.
        voice_name: the style table to speak with, by its file's stem; the first listed when None.

    Raises:
        ContractError: `contract.violated`; `details.group` names the group that lacks its file.
        VoiceError: `voice.absent`, the named voice is not in the bundle.
    """
    text = _first(manifest, FileGroup.TEXT, (a for a in _group(manifest, FileGroup.TEXT) if _runs_here(a)))
    preset = _first(
        manifest, FileGroup.CACHE, (a for a in _group(manifest, FileGroup.CACHE) if str(a.path) == PRESET_PATH)
    )

    def one(group: FileGroup) -> Path | None:
        return next((artifact.path.below(root) for artifact in _group(manifest, group)), None)

    return BundleFiles(
        root=root,
        text=text.path.below(root),
        ctx=text.ctx or 0,
        preset=preset.path.below(root),
        drafter=one(FileGroup.MTP),
        voice=_voice(manifest, root, voice_name),
        vad=one(FileGroup.VAD),
        asr=one(FileGroup.ASR),
        vision=one(FileGroup.VISION),
        embedding=one(FileGroup.EMBEDDING),
    )


def _group(manifest: Manifest, group: FileGroup) -> list[Artifact]:
    return [artifact for _, artifact in manifest.artifacts(group)]


def _runs_here(artifact: Artifact) -> bool:
    return artifact.runtime_class in (None, RuntimeClass.LLAMA_CPP)


def _first(manifest: Manifest, group: FileGroup, artifacts: Iterable[Artifact]) -> Artifact:
    for artifact in artifacts:
        return artifact
    details = {"group": group.value, "bundle": str(manifest.id)}
    raise ContractError("violated", "A part of this Eliza-1 is missing from its manifest.", details=details)


def _voice(manifest: Manifest, root: Path, voice_name: str | None) -> VoiceFiles | None:
    artifacts = _group(manifest, FileGroup.VOICE)
    if not artifacts:
        return None
    # The group mixes model, tables and texts; their formats are told apart by extension, their roles by order.
    model = _first(manifest, FileGroup.VOICE, (a for a in artifacts if _suffix(a) == ".gguf"))
    tables = [artifact for artifact in artifacts if _suffix(artifact) == ".bin"]
    named = [a for a in tables if voice_name in (None, Path(str(a.path)).stem)]
    if tables and not named:
        raise VoiceError("absent", f"This Eliza-1 has no voice named {voice_name}.", details={"voice": voice_name})
    table = _first(manifest, FileGroup.VOICE, named)
    return VoiceFiles(model=model.path.below(root), table=table.path.below(root))


def _suffix(artifact: Artifact) -> str:
    return Path(str(artifact.path)).suffix
