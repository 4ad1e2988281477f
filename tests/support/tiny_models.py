"""Writes the tiny models that the engine's tests run: `python tests/support/tiny_models.py FOLDER`.

`sure/` is a bundle whose text model always says the same sentence and whose drafter agrees; `noise/` is one
whose answers are noise and whose drafter is often wrong. `foreign.gguf` is the sure text model with one word
of its vocabulary spelled otherwise; `mmproj.gguf` is a GGUF that is no text model; `words.txt` is
the sentence. `voice/` is a bundle with a tiny voice and two style tables, `whole/` one with both.
`sure/` and `noise/` have the projector below `vision/`; `ear/` and `murmur/` are bundles that hear with
those two models below `asr/`, `published/` hears with its text model.
`hearing/` always hears the same sentence, `packed/` the same with q8_0 matrices, `unsure/` hears nobody, `stuck/`
repeats itself, and what `muddled/` hears is noise.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from eliza_catalog.parts.tiny_file import DAMP
from eliza_catalog.parts.tiny_hearing import TINY_SENTENCE, TinyHearing, write_tiny_hearing
from eliza_catalog.parts.tiny_projector import write_tiny_projector
from eliza_catalog.parts.tiny_text import write_tiny_drafter, write_tiny_text
from eliza_catalog.parts.tiny_vocabulary import TINY_TEXT
from eliza_catalog.parts.tiny_voice import write_tiny_voice_model, write_tiny_voice_table

NOISE = 1.0
HEARING = {
    "hearing": TinyHearing(),
    "packed": TinyHearing(dtype="q8_0"),
    "unsure": TinyHearing(is_unsure=True),
    "stuck": TinyHearing(said=TINY_SENTENCE[:3] * 60),
    "muddled": TinyHearing(muddled=True),
}


def write_tiny_models(into: Path) -> None:
    """Write all of them below `into`; the same bytes every time."""
    for name, damp in (("sure", DAMP), ("noise", NOISE)):
        for folder in ("text", "mtp"):
            (into / name / folder).mkdir(parents=True, exist_ok=True)
        write_tiny_text(into / name / "text" / "text.gguf", damp=damp)
        write_tiny_drafter(into / name / "mtp" / "drafter-2b.gguf", damp=damp)
    write_tiny_projector(into / "mmproj.gguf")
    for seeing, hearing in (("sure", "ear"), ("noise", "murmur")):
        _copy(into / "mmproj.gguf", into / seeing / "vision" / "mmproj.gguf")
        _copy(into / "mmproj.gguf", into / hearing / "asr" / "eliza-1-asr-mmproj.gguf")
        _copy(into / seeing / "text" / "text.gguf", into / hearing / "asr" / "eliza-1-asr.gguf")
    _copy(into / "noise" / "text" / "text.gguf", into / "published" / "text" / "text.gguf")
    _copy(into / "mmproj.gguf", into / "published" / "asr" / "mmproj-audio-e2b-bf16.gguf")
    model = (into / "sure" / "text" / "text.gguf").read_bytes()
    word = TINY_TEXT.split()[0].encode()
    assert word in model, "the vocabulary lost its first word"
    (into / "foreign.gguf").write_bytes(model.replace(word, word.swapcase()))
    (into / "words.txt").write_text(TINY_TEXT, encoding="utf-8")
    _write_voice(into / "voice")
    shutil.copytree(into / "sure", into / "whole", dirs_exist_ok=True)
    _write_voice(into / "whole")
    for name, wanted in HEARING.items():
        write_tiny_hearing(into / name / "asr" / "eliza-1-asr.gguf", wanted)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def _write_voice(bundle: Path) -> None:
    voices = bundle / "tts" / "kokoro" / "voices"
    voices.mkdir(parents=True, exist_ok=True)
    write_tiny_voice_model(voices.parent / "voice.gguf", seed=1)
    for seed, name in enumerate(("af_bella", "af_heart")):
        write_tiny_voice_table(voices / f"{name}.bin", seed=seed)


if __name__ == "__main__":
    write_tiny_models(Path(sys.argv[1]))
