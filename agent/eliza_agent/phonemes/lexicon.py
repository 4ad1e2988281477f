"""Known words and how they sound: one sorted table per variant of English, read once from this package's data.

Holds no rule of pronunciation and never guesses. The table stays one block of bytes that is searched in place, which
loads many times quicker than a dictionary of two hundred thousand strings and takes a tenth of its memory.
The data are misaki's lexicons (Apache-2.0), see data/NOTICE; `agent/regenerate_lexicon.py` makes them.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Literal

Variant = Literal["en-us", "en-gb"]

SILVER_MARK = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """How one word sounds.

    Attributes:
        default: phonemes where nothing is known about the sentence.
        by_use: phonemes by part of speech (`VERB`, `NOUN`, ...) or `None` for "last in its clause";
            an empty string means that the word is spelled out in that use.
        checked: reviewed by the lexicon's makers, as opposed to derived by a machine.
    """

    default: str
    by_use: dict[str, str]
    checked: bool


class Lexicon:
    """A sorted table of lines `word TAB phonemes`, searched by bisection."""

    def __init__(self, table: bytes) -> None:
        self._table = table

    def find(self, word: str) -> Entry | None:
        """Return the entry spelled exactly like `word`, or None."""
        key = word.encode("utf-8", "replace")
        low, high = 0, len(self._table)
        while low < high:
            begin = max(low, self._table.rfind(b"\n", low, (low + high) // 2) + 1)
            end = self._table.find(b"\n", begin)
            found = self._table[begin : self._table.find(b"\t", begin)]
            if found == key:
                return _entry(self._table[begin + len(key) + 1 : end].decode("utf-8"))
            if found < key:
                low = end + 1
            else:
                high = begin
        return None


def _entry(value: str) -> Entry:
    checked = not value.startswith(SILVER_MARK)
    if "=" not in value:
        return Entry(default=value.removeprefix(SILVER_MARK), by_use={}, checked=checked)
    uses = dict(use.split("=", 1) for use in value.split(" "))
    return Entry(default=uses.pop("DEFAULT"), by_use=uses, checked=checked)


@lru_cache(maxsize=2)
def load_lexicon(variant: Variant) -> Lexicon:
    """Return the lexicon of `variant`; read and unpacked at the first call, about 30 ms."""
    packed = resources.files(__package__).joinpath("data", f"{variant}.tsv.gz").read_bytes()
    return Lexicon(gzip.decompress(packed))
