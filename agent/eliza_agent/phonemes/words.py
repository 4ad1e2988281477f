"""One written word as phonemes: looked up, inflected, taken apart, spelled or, at last, sounded out.

Always answers for a word of Latin letters and never looks at the words around it, but for the use it is told.
"""

from __future__ import annotations

import re

from eliza_agent.phonemes import spelling, stems
from eliza_agent.phonemes.alphabet import PRIMARY, SECONDARY, VOWELS, emphasise, weaken
from eliza_agent.phonemes.lexicon import Entry, Lexicon, Variant

# American phonemes of words that the lexicons lack and an assistant says often, and one that they say in one way only
_OWN = {
    "eliza": "əlˈIzə",
    "ggml": "ʤˌiʤˌiˌɛmˈɛl",
    "gguf": "ʤˈiɡˌʌf",
    "json": "ʤˈAsən",
    "yaml": "jˈæməl",
    "wifi": "wˈIfˌI",
    "vulkan": "vˈʌlkən",
    "qwen": "kwˈɛn",
    "tokenizer": "tˈOkənˌIzəɹ",
    "backend": "bˈækˌɛnd",
    "ollama": "Olˈɑmə",
    "kubernetes": "kˌubəɹnˈɛɾiz",
    "lives": "lˈIvz",
}
_OWN_VERBS = {"lives": "lˈɪvz"}
# capitals that are letters though the lexicon knows a word, when the text around them is not shouting
_SPELLED = frozenset({"US", "IT", "UN", "PM", "AM", "OR", "ID", "PR", "HR", "ER", "PA", "LA", "MA", "PC", "TV", "AD"})
_PREFIXES = {
    "un": "ˌʌn",
    "re": "ɹˌi",
    "non": "nˌɑn",
    "pre": "pɹˌi",
    "multi": "mˌʌlti",
    "anti": "ˌænti",
    "inter": "ˌɪntəɹ",
    "over": "ˌOvəɹ",
    "under": "ˌʌndəɹ",
    "sub": "sˌʌb",
    "super": "sˌupəɹ",
    "micro": "mˌIkɹO",
    "mis": "mˌɪs",
    "dis": "dˌɪs",
}
_SHORTEST_PART = 3
_CASES = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z']+|[A-Z]")


class Words:
    """The sounds of single words in one variant of English."""

    def __init__(self, lexicon: Lexicon, variant: Variant) -> None:
        self._lexicon = lexicon
        self._variant: Variant = variant

    def sound(self, word: str, uses: tuple[str, ...] = (), *, shouting: bool = False) -> str:
        """Return the phonemes of `word`; `uses` are the lexicon's use names that fit the place, best first.

        `shouting` says that everything around is in capitals, so that capitals mean nothing. Empty only where the
        word holds no letter.
        """
        if shouting:
            return self._joined(word.lower(), uses)
        if word.isupper() and len(word) > 1:
            return self._capitals(word, uses)
        if re.fullmatch(r"[A-Z]{2,}'?s", word) and len(word) > 2:
            return stems.with_s(self.letters(word.rstrip("s").rstrip("'")), self._variant)
        sound = self._joined(word, uses)
        return emphasise(sound, strongly=False) if word[:1].isupper() else sound

    def letters(self, word: str) -> str:
        """Return a word spelled out, with the stress on its last letter."""
        found = [self._lexicon.find(letter.upper()) for letter in word]
        names = [weaken(entry.default) for entry in found if entry]
        sound = "".join(names)
        before, mark, last = sound.rpartition(SECONDARY)
        return before + PRIMARY + last if mark else sound

    def _capitals(self, word: str, uses: tuple[str, ...]) -> str:
        exact = self._lexicon.find(word)
        if word in _SPELLED:
            return self.letters(word)
        if exact and exact.default:
            return emphasise(_use(exact, uses), strongly=True)
        entry = self._lexicon.find(word.lower())
        if entry and entry.checked and "-" not in word:
            return emphasise(_use(entry, uses), strongly=True)
        if word.lower() in _OWN:
            return self._own(word.lower(), uses)
        if "-" in word or "'" in word or len(word) > 5:
            return self._joined(word.lower(), uses)
        return self.letters(word)

    def _joined(self, word: str, uses: tuple[str, ...]) -> str:
        """Look a hyphenated word up as a whole, else say its parts in one go with the stress on the last."""
        whole = self.known(word, uses)
        if whole or "-" not in word:
            return whole or self._unlisted(word, uses)
        parts = [self.sound(part) for part in word.split("-") if part.strip("'")]
        return "".join([*(weaken(part) for part in parts[:-1]), *parts[-1:]])

    def known(self, word: str, uses: tuple[str, ...] = ()) -> str | None:
        """Return what the lexicon holds for `word`, whatever its capitals; checked entries before derived ones."""
        lower = word.lower()
        if lower in _OWN:
            return self._own(lower, uses)
        spellings = (word, lower, word.capitalize()) if lower != word else (word, word.capitalize())
        entries = [entry for spelled in spellings if (entry := self._lexicon.find(spelled)) and entry.default]
        best = next((entry for entry in entries if entry.checked), entries[0] if entries else None)
        return _use(best, uses) if best else None

    def _own(self, lower: str, uses: tuple[str, ...]) -> str:
        sound = _OWN_VERBS.get(lower, _OWN[lower]) if "VERB" in uses else _OWN[lower]
        return sound if self._variant == "en-us" else spelling.as_british(sound)

    def _unlisted(self, word: str, uses: tuple[str, ...]) -> str:
        lower = word.lower().strip("'")
        if lower != word and (bare := self.known(lower, uses)):
            return bare
        cases = _CASES.findall(word)
        if len(cases) > 1:
            return self._in_one_go([self.sound(part) if len(part) > 1 else self.letters(part) for part in cases])
        found = stems.inflected(word.lower(), self.known, self._variant) or self._taken_apart(lower)
        return found or self._guessed(lower)

    def _taken_apart(self, word: str) -> str | None:
        """Try a prefix and a known rest, then two known words; the second counts from its longest."""
        for prefix, sound in _PREFIXES.items():
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) > _SHORTEST_PART:
                stem = self.known(rest) or stems.inflected(rest, self.known, self._variant)
                if stem:
                    return (sound if self._variant == "en-us" else spelling.as_british(sound)) + stem
        for cut in range(_SHORTEST_PART, len(word) - _SHORTEST_PART):
            first, second = self._checked(word[:cut]), self._checked(word[cut:])
            if first and second:
                return first + weaken(second)
        return None

    def _checked(self, word: str) -> str | None:
        entry = self._lexicon.find(word)
        if entry and entry.checked and len(word) > _SHORTEST_PART:
            return entry.default
        return stems.inflected(word, self._checked, self._variant) if word.endswith("s") and len(word) > 5 else None

    def _guessed(self, word: str) -> str:
        letters = word.replace("'", "").replace("-", "")
        if not re.search("[aeiouy]", letters):
            return self.letters(letters)
        sound = spelling.sound_out(letters)
        if not any(part in VOWELS for part in sound):
            return self.letters(letters)
        return sound if self._variant == "en-us" else spelling.as_british(sound)

    @staticmethod
    def _in_one_go(parts: list[str]) -> str:
        return "".join([*(weaken(part) for part in parts[:-1]), *parts[-1:]])


def _use(entry: Entry, uses: tuple[str, ...]) -> str:
    for use in uses:
        if entry.by_use.get(use):
            return entry.by_use[use]
    return entry.default
