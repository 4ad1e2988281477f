"""What the words around a word change about it: weak articles, "to" and "used to", and which of two readings fits.

A handful of cheap rules on the neighbours' spelling, no grammar; where none applies the lexicon's default stands.
"""

from __future__ import annotations

from dataclasses import dataclass

_BEFORE_THIRD_PERSON = frozenset({"he", "she", "it", "who", "which"})
_AFTER_VERB = frozenset({"in", "at", "on", "near", "with", "by", "up", "under"})
_BEFORE_VERB = frozenset({
    "to", "i", "you", "we", "they", "will", "would", "can", "could", "should", "must", "may", "might", "shall", "not",
    "don't", "doesn't", "didn't", "won't", "can't", "couldn't", "wouldn't", "shouldn't", "let's", "please", "i'll",
    "you'll", "we'll", "they'll", "i'd", "you'd", "we'd", "they'd",
})  # fmt: skip
_BEFORE_NOUN = frozenset({
    "a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their", "no", "some", "any", "every",
    "each", "another", "one", "new", "of",
})  # fmt: skip
_BEFORE_PARTICIPLE = frozenset({"have", "has", "had", "i've", "you've", "we've", "they've", "was", "were", "been", "be",
                                "is", "are", "got", "having"})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a word stands.

    Attributes:
        before: the word before, lower case, empty at the start of a clause.
        after: the word after, lower case, empty at the end of a clause.
        vowel_follows: whether the next sound is a vowel; None at the end of a clause.
    """

    before: str
    after: str
    vowel_follows: bool | None


def weak_form(word: str, place: Place, sounds: str) -> str | None:
    """Return the phonemes of a function word whose sound depends on what follows, else None.

    `sounds` is how the lexicon says the word by itself; it stands where nothing follows.
    """
    lower = word.lower()
    if lower == "a" and word != "A":
        return "ɐ"
    if word == "A":  # the article at the start of a sentence, or the letter
        return "ɐ" if place.after and not place.before else None
    if lower == "an":
        return "ɐn"
    if word == "I":
        return "ˌI"
    if lower == "the":
        return "ði" if place.vowel_follows else "ðə"
    if place.vowel_follows is None:
        return "ˈɪn" if lower == "in" else None
    if lower == "to":
        return "tʊ" if place.vowel_follows else "tə"
    if word == "am":
        return sounds.replace(sounds[0], "ɐ", 1)
    return "ɪn" if lower == "in" else None


def uses(word: str, place: Place) -> tuple[str, ...]:
    """Return the lexicon's names of the uses that fit this place, best first."""
    found: list[str] = []
    if word.lower() == "used" and place.after == "to" and place.before not in _BEFORE_PARTICIPLE - {"got"}:
        found.append("VBD")
    if place.vowel_follows is None:
        found.append("None")
    if place.before in _BEFORE_PARTICIPLE:
        found += ["VBN", "ADJ"]
    elif place.before in _BEFORE_VERB or place.before in _BEFORE_THIRD_PERSON:
        found.append("VERB")
    elif place.before in _BEFORE_NOUN:
        found.append("NOUN")
    elif word.lower() in {"live", "lives"} and place.after in _AFTER_VERB:
        found.append("VERB")
    elif not place.before and place.after in _BEFORE_NOUN - {"of"}:
        found.append("VERB")  # an instruction: "record the ..."
    return tuple(found)
