"""The lexicon's table and its search."""

from __future__ import annotations

import gzip
import itertools
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_agent.phonemes.alphabet import alphabet
from eliza_agent.phonemes.lexicon import Lexicon, Variant, load_lexicon

_TAUGHT = str.maketrans({"ɾ": "T", "ʔ": "t"})


_WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\t\n"), min_size=1, max_size=6)


@given(words=st.sets(_WORDS, max_size=30), asked=st.text(st.characters(codec="utf-8"), max_size=6))
def test_the_search_finds_what_the_table_holds_and_nothing_else(words: set[str], asked: str) -> None:
    lines = sorted((word.encode(), f"v{at}".encode()) for at, word in enumerate(words))
    lexicon = Lexicon(b"".join(word + b"\t" + value + b"\n" for word, value in lines))
    for word, value in lines:
        found = lexicon.find(word.decode())
        assert found is not None
        assert found.default == value.decode()
    assert (lexicon.find(asked) is not None) == (asked in words)


@pytest.mark.parametrize("variant", ["en-us", "en-gb"])
def test_the_shipped_table_is_sorted_and_speaks_the_voices_alphabet(variant: Variant) -> None:
    packed = resources.files("eliza_agent.phonemes").joinpath("data", f"{variant}.tsv.gz").read_bytes()
    lines = gzip.decompress(packed).removesuffix(b"\n").split(b"\n")
    words = [line.split(b"\t")[0] for line in lines]
    assert len(words) > 180_000
    assert all(first < second for first, second in itertools.pairwise(words))
    lexicon = load_lexicon(variant)
    for word in words[::97]:
        entry = lexicon.find(word.decode())
        assert entry is not None
        assert set(entry.default.translate(_TAUGHT)) <= alphabet()
        assert all(set(sound.translate(_TAUGHT)) <= alphabet() for sound in entry.by_use.values())


def test_uses_and_reviews_are_told_apart() -> None:
    lexicon = load_lexicon("en-us")
    read, us, played = lexicon.find("read"), lexicon.find("US"), lexicon.find("played")
    assert read is not None
    assert (read.default, read.by_use["VBD"], read.checked) == ("ɹˈid", "ɹˈɛd", True)
    assert us is not None
    assert us.by_use["NOUN"] == ""  # spelled out
    assert played is not None
    assert (played.default, played.checked) == ("plˈAd", False)
    assert lexicon.find("zorblatt") is None
    assert lexicon.find("") is None
