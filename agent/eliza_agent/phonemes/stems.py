"""Sounds of inflected forms from the sound of their stem: plurals, possessives, -ed, -ing and a few more endings.

Works on phonemes and letters only; which stems are known is asked of the caller.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from eliza_agent.phonemes.alphabet import PRIMARY, SECONDARY
from eliza_agent.phonemes.lexicon import Variant

Known = Callable[[str], str | None]  # phonemes of a word that the lexicon holds

_VOICELESS = frozenset("ptkfθ")
_HISSING = frozenset("szʃʒʧʤ")
_FLAPPED_AFTER = frozenset("AIOWYiuæɑəɛɪɹʊʌ")  # a t behind these is flapped before a vowel in American English
_DOUBLED = re.compile(r"([bcdgklmnprstvz])\1$")

_CLITICS = {"'ll": "əl", "'ve": "əv", "'re": "əɹ", "'d": "əd"}
# ending -> American phonemes; the stem is what stands before it
_ENDINGS = {
    "ness": "nəs",
    "less": "ləs",
    "ful": "fəl",
    "ship": "ʃˌɪp",
    "like": "lˌIk",
    "wise": "wˌIz",
    "ment": "mənt",
    "able": "əbᵊl",
    "ish": "ɪʃ",
    "ism": "ɪzəm",
    "ize": "Iz",
    "er": "əɹ",
    "ly": "li",
    "y": "i",
}


def inflected(word: str, known: Known, variant: Variant) -> str | None:
    """Return the phonemes of a word form (lower case) whose stem is known, else None."""
    return (
        _possessive(word, known, variant)
        or _plural(word, known, variant)
        or _past(word, known, variant)
        or _progressive(word, known, variant)
        or _derived(word, known, variant)
    )


def with_s(stem: str, variant: Variant) -> str:
    """Return a stem's phonemes with the ending of plurals, possessives and third persons."""
    if stem[-1] in _VOICELESS:
        return stem + "s"
    return stem + (_weak_i(variant) + "z" if stem[-1] in _HISSING else "z")


def with_ed(stem: str, variant: Variant) -> str:
    """Return a stem's phonemes with the ending of the past."""
    if stem[-1] in "td":
        return _flapped(stem, variant) + _weak_i(variant) + "d"
    return stem + ("t" if stem[-1] in _VOICELESS or stem[-1] in "sʃʧ" else "d")


def with_ing(stem: str, variant: Variant) -> str:
    """Return a stem's phonemes with -ing."""
    return _flapped(_linked(stem, variant), variant) + "ɪŋ"


def _weak_i(variant: Variant) -> str:
    return "ᵻ" if variant == "en-us" else "ɪ"


def _flapped(stem: str, variant: Variant) -> str:
    before = stem[:-1].rstrip(PRIMARY + SECONDARY)[-1:]
    return f"{stem[:-1]}ɾ" if variant == "en-us" and stem[-1] == "t" and before in _FLAPPED_AFTER else stem


def _linked(stem: str, variant: Variant) -> str:
    """British English drops a final r but says it before a vowel."""
    return f"{stem}ɹ" if variant == "en-gb" and (stem[-1] == "ə" or stem.endswith(("ɑː", "ɔː", "ɜː"))) else stem


def _possessive(word: str, known: Known, variant: Variant) -> str | None:
    if word.endswith("s'"):
        return known(word[:-1]) or _plural(word[:-1], known, variant)
    if word.endswith("'s"):
        stem = known(word[:-2]) or inflected(word[:-2], known, variant)
        return with_s(stem, variant) if stem else None
    for clitic, sound in _CLITICS.items():
        stem = known(word.removesuffix(clitic)) if word.endswith(clitic) else None
        if stem:
            return stem + (sound if variant == "en-us" or clitic != "'re" else "ə")
    return None


def _plural(word: str, known: Known, variant: Variant) -> str | None:
    if len(word) < 3 or not word.endswith("s") or word.endswith("ss"):
        return None
    stem = known(word[:-1])
    if not stem and word.endswith("ies") and len(word) > 4:
        stem = known(word[:-3] + "y")
    if not stem and word.endswith("es") and len(word) > 4:
        stem = known(word[:-2])
    return with_s(stem, variant) if stem else None


def _past(word: str, known: Known, variant: Variant) -> str | None:
    if len(word) < 4 or not word.endswith("ed") or word.endswith("eed"):
        return None
    stem = next(_verbs(word[:-2], known), None) or (known(word[:-3] + "y") if word.endswith("ied") else None)
    return with_ed(stem, variant) if stem else None


def _progressive(word: str, known: Known, variant: Variant) -> str | None:
    bare = word.removesuffix("in'") if word.endswith("in'") else word.removesuffix("ing")
    if len(bare) < 2 or bare == word:
        return None
    stem = next(_verbs(bare, known), None)
    return with_ing(stem, variant) if stem else None


def _verbs(bare: str, known: Known) -> Iterator[str]:
    """Yield the sounds of what `bare` may be cut from: bake for bak-, stop for stopp-, play for play-."""
    candidates = [bare + "e", bare] if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", bare) else [bare, bare + "e"]
    if _DOUBLED.search(bare):
        candidates = [bare, bare[:-1]]
    if bare.endswith("ck"):
        candidates.append(bare[:-1])  # picnicking
    for candidate in candidates:
        sound = known(candidate)
        if sound:
            yield sound


def _derived(word: str, known: Known, variant: Variant) -> str | None:
    for ending, sound in _ENDINGS.items():
        bare = word.removesuffix(ending)
        if bare == word or len(bare) < 3:
            continue
        stem = next(_verbs(bare, known), None) if sound[0] in "əɪiI" else known(bare)
        if not stem and bare.endswith("i"):
            stem = known(bare[:-1] + "y")  # happiness
        if stem:
            return _attached(stem, sound, variant)
    return None


def _attached(stem: str, sound: str, variant: Variant) -> str:
    if sound[0] in "əɪiI":
        stem = _flapped(_linked(stem, variant), variant)
    if sound == "li" and stem[-1] == "l":
        stem = stem[:-1]
    return stem + (sound if variant == "en-us" else sound.removesuffix("ɹ"))
