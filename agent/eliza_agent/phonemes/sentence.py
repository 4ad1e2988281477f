"""Text to the voice's phonemes: reads it, says every word in its place and puts the marks back.

The one door of this package. Fails on no Unicode but for text in which nothing can be said, keeps nothing between calls
but the lexicon, and lets no character out that the voice does not know.
"""

from __future__ import annotations

import unicodedata

from eliza_agent.phonemes.alphabet import CLOSING, CONSONANTS, PAUSES, VOWELS, alphabet
from eliza_agent.phonemes.context import Place, uses, weak_form
from eliza_agent.phonemes.lexicon import Variant, load_lexicon
from eliza_agent.phonemes.reading import Kind, Piece, read
from eliza_agent.phonemes.words import Words
from eliza_catalog.errors import VoiceError

# the American flap and glottal stop as this voice was taught them
_TAUGHT = str.maketrans({"ɾ": "T", "ʔ": "t"})


def phonemise(text: str, *, variant: Variant = "en-us") -> str:
    """Return `text` as phonemes of `alphabet()`; empty for text without letters, numbers and marks.

    The length is not limited; one utterance of the voice is (510 phonemes), so callers pass phrases.

    Raises:
        VoiceError: `unspeakable`, the text has letters or numbers but none that can be said in English.
    """
    pieces = read(text)
    if not any(piece.kind in {Kind.WORD, Kind.LETTERS} for piece in pieces) and _has_content(text):
        raise VoiceError("unspeakable", "There is nothing in this text that Eliza-1 can say in English.")
    sounds = _sounds(pieces, Words(load_lexicon(variant), variant), shouting=_is_shouting(text))
    spoken = _assembled(pieces, sounds)
    return "".join(sound for sound in spoken.translate(_TAUGHT) if sound in alphabet())


def _has_content(text: str) -> bool:
    return any(unicodedata.category(character)[0] in "LN" for character in text)


def _is_shouting(text: str) -> bool:
    return sum(character.isupper() for character in text) > 6 and not any(c.islower() for c in text)


def _sounds(pieces: list[Piece], words: Words, *, shouting: bool) -> list[str]:
    """Return one string per piece. Goes from the end, because many a word depends on the sound after it."""
    sounds = [""] * len(pieces)
    vowel_follows: bool | None = None
    for at in range(len(pieces) - 1, -1, -1):
        piece = pieces[at]
        if piece.kind is Kind.WORD or (piece.kind is Kind.LETTERS and piece.text in {"I", "A"}):
            place = Place(
                before=_neighbour(pieces, at - 1), after=_neighbour(pieces, at + 1), vowel_follows=vowel_follows
            )
            alone = words.sound(piece.text, uses(piece.text, place), shouting=shouting)
            sounds[at] = weak_form(piece.text, place, alone) or alone
        elif piece.kind is Kind.LETTERS:
            sounds[at] = words.letters(piece.text)
        else:
            sounds[at] = piece.text
        vowel_follows = _begins_with_vowel(sounds[at], vowel_follows)
    return sounds


def _neighbour(pieces: list[Piece], at: int) -> str:
    inside = 0 <= at < len(pieces) and pieces[at].kind in {Kind.WORD, Kind.LETTERS}
    return pieces[at].text.lower() if inside else ""


def _begins_with_vowel(sound: str, otherwise: bool | None) -> bool | None:
    for character in sound:
        if character in VOWELS:
            return True
        if character in CONSONANTS:
            return False
        if character in PAUSES:
            return None
    return otherwise


def _assembled(pieces: list[Piece], sounds: list[str]) -> str:
    """Join with spaces as they are written: marks cling to their word, a dash stands free."""
    out = ""
    clinging = True
    for piece, sound in zip(pieces, sounds, strict=True):
        mark = piece.kind is Kind.PAUSE
        if not sound or (mark and sound in PAUSES and out.rstrip().endswith(sound)):
            continue
        if mark and sound != "—" and (sound in PAUSES or sound in CLOSING):
            out = out.rstrip()
        elif not clinging and not piece.glued:
            out += " "
        out += sound
        clinging = piece.kind is Kind.OPEN
    return out.strip()
