"""Numbers as words, and what a number's words add up to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_agent.phonemes import numerals

_VALUES = {word: value for value, word in enumerate(numerals._SMALL)} | {
    word: 10 * value for value, word in enumerate(numerals._TENS) if value > 1
}


def value(words: list[str]) -> int:
    """Return the number that cardinal words say, by adding and multiplying."""
    total = group = 0
    for word in words:
        if word == "hundred":
            group *= 100
        elif word in numerals._SCALES:
            total += group * 1000 ** numerals._SCALES.index(word)
            group = 0
        else:
            group += _VALUES[word]
    return total + group


@given(st.integers(min_value=0, max_value=10**numerals.LONGEST_CARDINAL - 1))
def test_the_words_of_a_cardinal_say_its_value(number: int) -> None:
    assert value(numerals.cardinal(number)) == number


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "first"),
        (12, "twelfth"),
        (20, "twentieth"),
        (33, "thirty third"),
        (100, "one hundredth"),
        (1000000, "one millionth"),
    ],
)
def test_ordinals(number: int, words: str) -> None:
    assert " ".join(numerals.ordinal(number)) == words


@pytest.mark.parametrize(
    ("text", "words"), [("007", "zero zero seven"), ("9" * 22, "nine " * 21 + "nine"), ("1.0", "one point zero")]
)
def test_quantities_that_are_no_plain_number(text: str, words: str) -> None:
    assert " ".join(numerals.quantity(text)) == words


def test_every_roman_numeral_below_forty_and_nothing_else() -> None:
    tens, ones = ["", "X", "XX", "XXX"], ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
    assert [numerals.roman(ten + one) for ten in tens for one in ones][1:] == list(range(1, 40))
    assert [numerals.roman(text) for text in ("", "IIII", "VX", "XXXX", "IXI", "MIX", "ii")] == [None] * 7
