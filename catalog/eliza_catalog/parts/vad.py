"""The speech detector of every stand-in: the real one, fetched and converted once."""

from __future__ import annotations

from pathlib import Path

from eliza_catalog.parts.demo import DemoFile, Origin
from eliza_catalog.parts.fetch import PACKAGES, Say, fetch, opened_member, read_text
from eliza_catalog.parts.made import made_once
from eliza_catalog.terms import FileGroup

PATH = "vad/silero-vad-v5.gguf"
ORIGIN = Origin(
    base="silero-vad v5", license="MIT", repo="silero-vad 6.2.3", note="16 kHz weights, renamed, values unchanged"
)
_PACKAGE = PACKAGES["silero-vad"]
_MODEL = "silero_vad/data/silero_vad_16k_op15.onnx"
_LICENSE = "silero_vad-6.2.3.dist-info/licenses/LICENSE"


def vad_part(cache: Path, say: Say) -> Path:
    """Return the detector's GGUF, fetching and converting it if it is not kept.

    Raises:
        DownloadError, IntegrityError, StorageError: as `fetch`.
    """
    archive = fetch(_PACKAGE, cache, say)

    def make(out: Path) -> None:
        from eliza_catalog.convert.silero import convert_silero

        source = out.with_name("source.onnx")
        with opened_member(archive, _MODEL) as stream:
            source.write_bytes(stream.read())
        convert_silero(source, out)

    return made_once(cache, "silero-vad-v5.gguf", [str(_PACKAGE.sha256)], make)


def vad_license(cache: Path, say: Say) -> str:
    """Return the licence text that travels with the detector."""
    return read_text(fetch(_PACKAGE, cache, say), _LICENSE)


def vad_file(source: Path) -> DemoFile:
    """Return the detector's place in a bundle."""
    return DemoFile(group=FileGroup.VAD, path=PATH, source=source)
