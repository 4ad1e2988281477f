"""Words that no lexicon holds: forms of known stems, parts, and letter rules."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_agent.phonemes.alphabet import PRIMARY, alphabet
from eliza_agent.phonemes.lexicon import load_lexicon
from eliza_agent.phonemes.spelling import as_british, sound_out
from eliza_agent.phonemes.stems import inflected
from eliza_agent.phonemes.words import Words

AMERICAN = Words(load_lexicon("en-us"), "en-us")
BRITISH = Words(load_lexicon("en-gb"), "en-gb")


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [
        ("zorblatt", "zˈɔɹblət"),
        ("kokoro", "kOkˈɔɹO"),
        ("knight", "nˈIt"),
        ("phone", "fˈOn"),
        ("nation", "nˈAʃᵊn"),
        ("makes", "mˈAks"),
        ("baked", "bˈAkt"),
        ("wanted", "wˈɑntᵻd"),
        ("quickly", "kwˈɪkli"),
        ("happy", "hˈæpi"),
        ("thought", "θˈɔt"),
        ("school", "skˈul"),
        ("anthropic", "ænθɹˈɑpɪk"),
    ],
)
def test_letter_rules_get_regular_words_right(word: str, phonemes: str) -> None:
    assert sound_out(word) == phonemes


@given(st.from_regex("[a-z]{1,30}", fullmatch=True))
def test_letter_rules_answer_with_one_stress_in_the_alphabet(word: str) -> None:
    sound = sound_out(word)
    assert set(sound) <= alphabet()
    assert sound.count(PRIMARY) <= 1
    assert set(as_british(sound)) <= alphabet()


def test_letter_rules_come_near_the_lexicon_for_most_sounds() -> None:
    """About one sound in five is wrong on words the rules have never seen; a broken table would be far worse."""
    lexicon = load_lexicon("en-us")
    words = [w for w in re.findall(r"(?m)^([a-z]{5,12})\t", lexicon._table.decode()) if w.isascii()][::211]
    wrong = total = 0
    for word in words:
        entry = lexicon.find(word)
        assert entry is not None
        wanted = re.sub("[ˈˌ]", "", entry.default).translate(str.maketrans("ɾʔᵊ", "ttə"))
        got = re.sub("[ˈˌ]", "", sound_out(word)).replace("ᵊ", "ə")
        wrong, total = wrong + distance(got, wanted), total + len(wanted)
    assert len(words) > 300
    assert wrong / total < 0.25


def distance(one: str, other: str) -> int:
    """Return the edit distance."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        fresh = [i]
        for j, b in enumerate(other, 1):
            fresh.append(min(row[j] + 1, fresh[-1] + 1, row[j - 1] + (a != b)))
        row = fresh
    return row[-1]


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [
        ("walks", "wˈɔks"),
        ("wishes", "wˈɪʃᵻz"),
        ("cities", "sˈɪɾiz"),
        ("cat's", "kˈæts"),
        ("bus's", "bˈʌsᵻz"),
        ("cats'", "kˈæts"),
        ("waited", "wˈAɾᵻd"),
        ("stopped", "stˈɑpt"),
        ("carried", "kˈɛɹid"),
        ("baking", "bˈAkɪŋ"),
        ("running", "ɹˈʌnɪŋ"),
        ("runnin'", "ɹˈʌnɪŋ"),
        ("picnicking", "pˈɪknˌɪkɪŋ"),
        ("happiness", "hˈæpinəs"),
        ("cat'll", "kˈætəl"),
    ],
)
def test_forms_come_from_their_stem(word: str, phonemes: str) -> None:
    stems = {"walk", "wish", "city", "cat", "bus", "wait", "stop", "carry", "bake", "run", "picnic", "happy"}
    assert inflected(word, lambda stem: AMERICAN.known(stem) if stem in stems else None, "en-us") == phonemes


@pytest.mark.parametrize("word", ["xyzzy's", "s", "ed", "ing", "'s", "s'", "", "ies"])
def test_forms_without_a_known_stem_are_left_alone(word: str) -> None:
    assert inflected(word, lambda _stem: None, "en-us") is None


@pytest.mark.parametrize(
    ("word", "phonemes"),
    [
        ("llamafile", "lˈɑməfˌIl"),
        ("rethinkable", "ɹiθˈɪŋkəbᵊl"),
        ("ggml", "ʤˌiʤˌiˌɛmˈɛl"),
        ("GPU's", "ʤˌipˌijˈuz"),
        ("LLMs", "ˌɛlˌɛlˈɛmz"),
        ("xkcd", "ˌɛkskˌAsˌidˈi"),
        ("OpenGL", "ˌOpᵊnʤˌiˈɛl"),
    ],
)
def test_words_are_taken_apart_before_they_are_guessed(word: str, phonemes: str) -> None:
    assert AMERICAN.sound(word) == phonemes


def test_british_forms_link_their_r() -> None:
    assert BRITISH.sound("tutoring").endswith("əɹɪŋ")


@given(st.from_regex("[A-Za-z][A-Za-z'-]{0,20}", fullmatch=True))
def test_every_word_of_letters_has_a_sound(word: str) -> None:
    for words in (AMERICAN, BRITISH):
        assert words.sound(word)
