"""Numbers as English words: cardinals, ordinals, years, digits, decimals.

Takes numbers that were already recognised and never looks at text around them; no currency, no unit.
"""

from __future__ import annotations

_SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
          "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")  # fmt: skip
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SCALES = ["", "thousand", "million", "billion", "trillion", "quadrillion", "quintillion"]
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
LONGEST_CARDINAL = 3 * len(_SCALES)  # digits; longer numbers are read digit by digit


def cardinal(number: int) -> list[str]:
    """Return the words of a number that is not negative and has at most `LONGEST_CARDINAL` digits."""
    if number == 0:
        return ["zero"]
    words: list[str] = []
    for power in range(len(_SCALES) - 1, -1, -1):
        group = number // 1000**power % 1000
        if group:
            words += _below_thousand(group)
            words += [_SCALES[power]] if power else []
    return words


def _below_thousand(number: int) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [_SMALL[hundreds], "hundred"] if hundreds else []
    if rest >= 20:
        tens, ones = divmod(rest, 10)
        return [*words, _TENS[tens], *([_SMALL[ones]] if ones else [])]
    return [*words, *([_SMALL[rest]] if rest else [])]


def ordinal(number: int) -> list[str]:
    """Return the words of "the n-th"."""
    *front, last = cardinal(number)
    if last in _ORDINALS:
        return [*front, _ORDINALS[last]]
    return [*front, f"{last[:-1]}ieth" if last.endswith("y") else f"{last}th"]


def year(number: int) -> list[str]:
    """Return a number of four digits as years are read: nineteen eighty-four, two thousand one, twenty ten."""
    century, rest = divmod(number, 100)
    if century % 10 == 0 and rest < 10:
        return cardinal(number)
    if rest == 0:
        return [*cardinal(century), "hundred"]
    return [*cardinal(century), *(["oh"] if rest < 10 else []), *cardinal(rest)]


def digits(text: str) -> list[str]:
    """Return one word per digit; every other character is passed over."""
    return [_SMALL[int(character)] for character in text if character in "0123456789"]


def quantity(text: str) -> list[str]:
    """Return the words of digits with an optional fraction ("1200", "3.14", ".5"); no sign, no separators."""
    whole, point, fraction = text.partition(".")
    if len(whole) > LONGEST_CARDINAL or (len(whole) > 1 and whole.startswith("0")):
        words = digits(whole)
    else:
        words = cardinal(int(whole)) if whole else []
    return [*words, "point", *digits(fraction)] if point and fraction else words or ["zero"]


def plural(words: list[str]) -> list[str]:
    """Return the words with the last one in the plural: nineteen nineties, two thousands."""
    *front, last = words
    if last.endswith("y"):
        return [*front, f"{last[:-1]}ies"]
    return [*front, f"{last}es" if last.endswith("x") else f"{last}s"]


_ROMAN = {"I": 1, "V": 5, "X": 10}


def roman(text: str) -> int | None:
    """Return the value of a well-formed Roman numeral below forty, or None."""
    if not text or any(character not in _ROMAN for character in text):
        return None
    values = [_ROMAN[character] for character in text]
    total = sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))
    tens, ones = divmod(total, 10)
    forms = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
    return total if text == "X" * tens + forms[ones] and total < 40 else None
