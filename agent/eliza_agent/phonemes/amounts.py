"""Recognised numerals in their surroundings as words: money, units, percent, times, dates, ranges, fractions.

Each function takes the parts of one regular-expression match of `reading` and returns lower-case words; it never
looks further and never fails on what the expression admits.
"""

from __future__ import annotations

from eliza_agent.phonemes import numerals
from eliza_agent.phonemes.symbols import CURRENCIES, MONTHS, SCALES, UNITS

_PERIODS = {"a": ["A", "M"], "p": ["P", "M"]}
_PARTS = {2: ("half", "halves"), 4: ("quarter", "quarters")}
_LARGEST_PART = 20


def plain(number: str) -> str:
    """Return a number without separators of thousands and without a sign."""
    return number.replace(",", "").lstrip("-+−")


def signed(number: str) -> list[str]:
    """Return "minus" or "plus" where the number has such a sign."""
    return ["minus"] if number[:1] in {"-", "−"} else ["plus"] if number[:1] == "+" else []


def amount(number: str) -> list[str]:
    """Return a number with its sign; four digits without separator are read as a year where years are likely."""
    bare = plain(number)
    if bare == number and len(bare) == 4 and bare.isdigit() and 1100 <= int(bare) <= 2099 and bare[1:] != "000":
        return numerals.year(int(bare))
    return [*signed(number), *numerals.quantity(bare)]


def money(sign: str, number: str, scale: str | None) -> list[str]:
    """Return "$3.50" as three dollars and fifty cents, "$3.5 million" as three point five million dollars."""
    one, many, part, parts = CURRENCIES[sign]
    bare = plain(number)
    if scale:
        return [*numerals.quantity(bare), SCALES[scale], many]
    whole, _, fraction = bare.partition(".")
    if fraction and len(fraction) != 2:
        return [*numerals.quantity(bare), many]
    words = [*numerals.quantity(whole), one if whole == "1" else many] if whole.strip("0") or not fraction else []
    if fraction.strip("0"):
        cents = int(fraction)
        words += [*(["and"] if words else []), *numerals.cardinal(cents), part if cents == 1 else parts]
    return words or ["zero", many]


def measure(number: str, unit: str) -> list[str]:
    """Return a number with its unit, the unit in the number's grammatical form."""
    one, many = UNITS[unit]
    bare = plain(number)
    return [*signed(number), *numerals.quantity(bare), *(one if bare == "1" else many).split()]


def scaled(number: str, scale: str) -> list[str]:
    """Return "10k" as ten thousand."""
    return [*signed(number), *numerals.quantity(plain(number)), SCALES[scale]]


def rank(number: str) -> list[str]:
    """Return "21st" as twenty first."""
    bare = plain(number)
    return numerals.ordinal(int(bare)) if len(bare) <= numerals.LONGEST_CARDINAL else numerals.digits(bare)


def decade(number: str) -> list[str]:
    """Return "1990s" and "90s" as nineties are read."""
    return numerals.plural(amount(number))


def clock(hour: str, minute: str, second: str | None, period: str | None) -> list[str]:
    """Return a time of day; a full hour alone gets its "o'clock"."""
    words = numerals.cardinal(int(hour))
    if int(minute):
        words += [*(["oh"] if int(minute) < 10 else []), *numerals.cardinal(int(minute))]
    elif not period and not second:
        words += ["o'clock"] if int(hour) <= 12 else ["hundred"]
    if second:
        words += ["and", *numerals.cardinal(int(second)), "second" if int(second) == 1 else "seconds"]
    return [*words, *(_PERIODS[period[0].lower()] if period else [])]


def iso_date(year: str, month: str, day: str) -> list[str] | None:
    """Return "2024-03-15" as March fifteenth, twenty twenty-four; None when there is no such month or day."""
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return [MONTHS[int(month) - 1], *numerals.ordinal(int(day)), *amount(year)]


def between(low: str, high: str) -> list[str]:
    """Return "10–20" as ten to twenty."""
    return [*amount(low), "to", *amount(high)]


def fraction(top: str, bottom: str) -> list[str]:
    """Return "3/4" as three quarters where it is a small fraction, else as three slash four."""
    n, d = int(top), int(bottom)
    if not (0 < n < d and 2 <= d <= _LARGEST_PART):
        return [*numerals.quantity(top), "slash", *numerals.quantity(bottom)]
    one, many = _PARTS.get(d) or (numerals.ordinal(d)[-1], numerals.plural(numerals.ordinal(d))[-1])
    return [*numerals.cardinal(n), one if n == 1 else many]


def version(number: str) -> list[str]:
    """Return "1.2.3" as one point two point three; parts with a leading zero digit by digit."""
    words: list[str] = []
    for part in number.split("."):
        words += [*(["point"] if words else []), *numerals.quantity(part)]
    return words
