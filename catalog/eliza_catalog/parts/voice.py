"""What surrounds a speech model in a bundle: its phoneme table, its voices and the default preset.

The first voice of a bundle is its default, and the preset names it. Converts no weights (that is `convert`); keeps
the `tts/kokoro/` and `cache/` layout of contract section 2.
"""

from __future__ import annotations

from pathlib import Path

from eliza_catalog.disk import write_whole
from eliza_catalog.parts.demo import DemoFile
from eliza_catalog.parts.preset import VoicePreset, encode_preset
from eliza_catalog.stage import canonical_json
from eliza_catalog.terms import FileGroup
from eliza_catalog.tiers import DEFAULT_VOICE_PRESET

FOLDER = "tts/kokoro"
MODEL_PATH = f"{FOLDER}/kokoro-82m-v1_0.gguf"


def voice_files(model: Path, voices: list[Path], work: Path) -> tuple[DemoFile, ...]:
    """Return the files of the voice and cache groups; writes the phoneme table and the preset into `work`.

    Args:
        model: the speech model.
        voices: style tables named `<voice>.bin`, the default voice first.
        work: a folder for what is written.
    """
    from eliza_catalog.convert.kokoro_vocabulary import VOCABULARY

    tokens = work / "tokenizer.json"
    write_whole(tokens, canonical_json({"version": "1.0", "model": {"vocab": {"$": 0, **VOCABULARY}}}))
    preset = work / "voice-preset-default.bin"
    write_whole(preset, encode_preset(VoicePreset(metadata={"backend": "kokoro", "voice": voices[0].stem})))
    return (
        DemoFile(group=FileGroup.VOICE, path=MODEL_PATH, source=model),
        DemoFile(group=FileGroup.VOICE, path=f"{FOLDER}/tokenizer.json", source=tokens),
        *(DemoFile(group=FileGroup.VOICE, path=f"{FOLDER}/voices/{voice.name}", source=voice) for voice in voices),
        DemoFile(group=FileGroup.CACHE, path=DEFAULT_VOICE_PRESET, source=preset),
    )
