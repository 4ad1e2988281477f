"""The field's vocabulary as types, spelled as the manifest spells it.

A value of these types is valid by construction: a digest is a digest, a bundle path cannot leave its
folder. Holds no rule about combinations and does no I/O (contract sections 1, 2, 6; facts 2).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import NewType

from eliza_catalog.errors import ManifestError

BundleId = NewType("BundleId", str)
"""`eliza-1-<tier or slug>`, as the manifest's `id`."""


class Tier(StrEnum):
    """The five device tiers."""

    T2B = "2b"
    T4B = "4b"
    T9B = "9b"
    T27B = "27b"
    T27B_256K = "27b-256k"


class Backend(StrEnum):
    """A compute backend of the one library."""

    METAL = "metal"
    VULKAN = "vulkan"
    CUDA = "cuda"
    ROCM = "rocm"
    CPU = "cpu"


class Kernel(StrEnum):
    """A fused operation that a bundle may require; the values are the manifest's names."""

    TURBOQUANT_Q3 = "turboquant_q3"
    TURBOQUANT_Q4 = "turboquant_q4"
    QJL = "qjl"
    POLARQUANT = "polarquant"
    TURBO3_TCQ = "turbo3_tcq"
    MTP = "mtp"


class FileGroup(StrEnum):
    """A group of artifacts in `manifest.files`."""

    TEXT = "text"
    VOICE = "voice"
    ASR = "asr"
    VISION = "vision"
    MTP = "mtp"
    CACHE = "cache"
    EMBEDDING = "embedding"
    IMAGEGEN = "imagegen"
    VAD = "vad"
    WAKEWORD = "wakeword"
    TURN = "turn"
    EOT_LORA_ADAPTER = "eotLoraAdapter"
    EMOTION = "emotion"
    LIB = "lib"


class LineageSlot(StrEnum):
    """A component whose upstream base and licence the manifest records."""

    TEXT = "text"
    VOICE = "voice"
    DRAFTER = "drafter"
    ASR = "asr"
    EMBEDDING = "embedding"
    IMAGEGEN = "imagegen"
    VISION = "vision"
    VAD = "vad"
    WAKEWORD = "wakeword"
    TURN = "turn"
    EMOTION = "emotion"


class VerifiedStatus(StrEnum):
    """What the publisher's kernel verification said of one backend."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FAIL = "fail"
    SKIPPED = "skipped"


class ReleaseState(StrEnum):
    """How far a bundle is on its way to a release."""

    LOCAL_STANDIN = "local-standin"
    BASE_V1_CANDIDATE = "base-v1-candidate"
    BASE_V1 = "base-v1"
    FINETUNED_V2 = "finetuned-v2"
    UPLOAD_CANDIDATE = "upload-candidate"
    FINAL = "final"


class RuntimeClass(StrEnum):
    """Which runtime a text artifact is for."""

    LLAMA_CPP = "llama-cpp"
    LITERT_LM = "litert-lm"


class VoiceBackend(StrEnum):
    """Which speech model a voice artifact is for."""

    OMNIVOICE = "omnivoice"
    KOKORO = "kokoro"


class RunMode(StrEnum):
    """The product's shape: where models run and what may be seen."""

    LOCAL = "local"
    LOCAL_ONLY = "local-only"
    CLOUD = "cloud"
    REMOTE = "remote"


_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, order=True)
class Sha256:
    """A SHA-256 digest as 64 lower-case hex digits."""

    hex: str

    def __post_init__(self) -> None:
        if not _SHA256.fullmatch(self.hex):
            raise ManifestError("malformed", "A digest in the manifest is not 64 lower-case hex digits.")

    def __str__(self) -> str:
        return self.hex


_DEVICE_NAMES = {"con", "prn", "aux", "nul"} | {f"{n}{i}" for n in ("com", "lpt") for i in range(1, 10)}
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_MAX_PATH_CHARS = 240


@dataclass(frozen=True, slots=True, order=True)
class BundlePath:
    """A relative POSIX path that cannot leave the bundle folder on any operating system.

    Refused: empty, absolute, drive letters, backslashes, `.` and `..` segments, control characters,
    Windows device names, segments ending in a dot or a space, and more than 240 characters.

    Raises:
        ManifestError: `manifest.path_unsafe`.
    """

    text: str

    def __post_init__(self) -> None:
        fault = _path_fault(self.text)
        if fault:
            raise ManifestError(
                "path_unsafe",
                "A file name in the manifest is not safe.",
                details={"path": self.text, "fault": fault},
            )

    def below(self, root: Path) -> Path:
        """Return this path below `root`."""
        return root.joinpath(*self.segments)

    @property
    def segments(self) -> tuple[str, ...]:
        """The path's segments."""
        return PurePosixPath(self.text).parts

    @property
    def folded(self) -> str:
        """The form in which two paths that one case-insensitive or composing disk would merge are equal."""
        return unicodedata.normalize("NFC", self.text.casefold())

    def __str__(self) -> str:
        return self.text


def _path_fault(text: str) -> str | None:
    if not text or len(text) > _MAX_PATH_CHARS:
        return "empty or too long"
    if text.startswith("/") or text.endswith("/") or _FORBIDDEN.search(text):
        return "absolute, a folder, or a forbidden character"
    return next((fault for segment in text.split("/") if (fault := _segment_fault(segment))), None)


def _segment_fault(segment: str) -> str | None:
    if segment in ("", ".", ".."):
        return "an empty, `.` or `..` segment"
    if segment[-1] in ". ":
        return "a segment that ends in a dot or a space"
    if segment.split(".", 1)[0].casefold() in _DEVICE_NAMES:
        return "a device name"
    return None
