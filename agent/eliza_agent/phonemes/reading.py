"""Written text as a sequence of words and pauses, in reading order.

Expands what is not a word (numbers, money, times, addresses, abbreviations, signs), drops what cannot be read aloud
(emoji, markup, other scripts) and keeps the voice's pause marks. Knows no sound: words leave as they are spelled.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from eliza_agent.phonemes import amounts, numerals, symbols
from eliza_agent.phonemes.symbols import CURRENCIES, SCALES, UNITS


class Kind(Enum):
    """What a piece of a reading is."""

    WORD = "word"
    LETTERS = "letters"  # a word to be spelled out
    PAUSE = "pause"  # one of the voice's pause marks, or a closing mark
    OPEN = "open"  # an opening mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One word or mark; `glued` pieces follow the one before without a space."""

    kind: Kind
    text: str
    glued: bool = False


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?|\.\d+"
_SIGNED = rf"(?:(?<![\w.)])[-−+])?(?:{_NUMBER})"
_LETTERS = r"[^\W\d_]+(?:'[^\W\d_]+)*"


def _choice(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_UNIT = _choice(UNITS)
_SCALE = _choice(SCALES)
_CURRENCY = "".join(re.escape(sign) for sign in CURRENCIES)
_TOP = "com|org|net|edu|gov|io|ai|dev|app|co|uk|de|eu|me|tv|info"

# The order decides: what stands first wins where several would match.
_READING = re.compile(
    rf"""
      (?P<mail>(?<![\w.+-])[\w.+-]{{1,64}}@(?:[\w-]{{1,63}}\.){{1,8}}[\w-]{{2,20}}\b)
    | (?P<dotted>\b(?:[^\W\d_]\.){{2,}}|\b[^\W\d_](?:\.[^\W\d_])+\b(?!\.\w)|\bPh\.?D\b\.?)
    | (?P<address>(?:https?://|www\.)[^\s<>"]{{0,500}}[\w/]
        | \b(?:[A-Za-z\d-]{{1,63}}\.){{1,8}}(?:{_TOP})\b(?!\.\w)(?:/[\w./?=&%~+\#-]{{0,500}}[\w/])?)
    | (?P<file>(?<![\w-])[\w-]{{0,40}}[A-Za-z_][\w-]{{0,40}}\.(?=[a-z\d]*[a-z])[a-z\d]{{1,5}}\b(?!'))
    | (?P<date>\b(?P<year>\d{{4}})-(?P<month>\d\d)-(?P<day>\d\d)\b)
    | (?P<clock>\b(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?
        (?:\s?(?P<half>[AaPp]\.?[Mm]\b\.?))?(?![\d:]))
    | (?P<oclock>\b(?P<full>1[0-2]|\d)\s?(?P<part>[AaPp]\.?[Mm]\b\.?))
    | (?P<phone>(?<![\w-])(?:\+?\d{{1,3}}[ -])?(?:\(\d{{3}}\)\s?|\d{{3}}-)?\d{{3}}-\d{{4}}(?![\w-]))
    | (?P<money>(?P<currency>[{_CURRENCY}])\s?(?P<price>{_NUMBER})(?:\s?(?P<priced>{_SCALE})\b)?)
    | (?P<version>\bv?(?P<numbers>\d+(?:\.\d+){{2,}})\b)
    | (?P<range>(?<![\w.,-])(?P<low>\d+(?:\.\d+)?)(?:-|\s?–\s?)(?P<high>\d+(?:\.\d+)?)(?![\w-]|\.\d))
    | (?P<fraction>(?<![\w./])(?P<top>\d{{1,3}})/(?P<bottom>\d{{1,3}})(?![\w/]))
    | (?P<rank>\b(?P<ranked>\d{{1,3}}(?:,\d{{3}})+|\d+)(?:st|nd|rd|th)\b)
    | (?P<decade>\b(?P<ten>\d*0)'?s\b)
    | (?P<measure>(?P<measured>{_SIGNED})(?:(?P<unit>{_UNIT})|\s(?P<spaced>(?!x)(?:{_UNIT})))(?![\w'²³]))
    | (?P<scaled>(?P<scaling>{_SIGNED})(?P<scale>k|K|M|B|bn)\b)
    | (?P<number>{_SIGNED})
    | (?P<abbreviation>\b(?P<short>[A-Za-z]{{1,6}})\.(?![\w.]))
    | (?P<compound>{_LETTERS}(?:-{_LETTERS})+)
    | (?P<word>{_LETTERS})
    | (?P<ellipsis>\.{{2,}})
    | (?P<dash>\s-{{1,3}}(?=\s)|\s?[—–―]+|-{{2,}})
    | (?P<line>\n)
    | (?P<quote>["“”„«»])
    | (?P<mark>[;:,.!?()])
    | (?P<hash>\#(?=\d))
    | (?P<sign>[{re.escape("".join(symbols.SIGNS))}])
    """,
    re.VERBOSE,
)

_MARKUP = (
    (re.compile(r"```\w*"), " "),
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\s]*\)"), r"\1"),
    (re.compile(r"^[ \t]*(?:[-*•+>]|\#{1,6})[ \t]+", re.MULTILINE), ""),
    (re.compile(r"[*`~|\\^]+|(?<!\w)_+|_+(?!\w)"), " "),
)
_BEFORE_FOLDING = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "ʼ": "'",
        "´": "'",
        "™": None,
        "®": None,
        "©": None,
        "²": " squared",
        "³": " cubed",
        "\u00ad": None,
        "\u200b": None,
    }
)
_VULGAR = re.compile(r"(\d)\s?(?=[¼½¾⅐-⅞])")
_FOREIGN_DIGIT = re.compile(r"(?![0-9])\d")
_SENTENCE_FINAL = frozenset({"etc", "inc", "jr", "sr", "ltd", "co", "corp"})


def read(text: str) -> list[Piece]:
    """Return what is said when `text` is read aloud; empty when nothing in it can be said."""
    clean = _clean(text)
    pieces: list[Piece] = []
    for match in _READING.finditer(clean):
        pieces += _READERS[str(match.lastgroup)](match, clean, pieces)  # the alternative's group closes last
    return pieces


def _clean(text: str) -> str:
    text = _VULGAR.sub(r"\1 and ", text).translate(_BEFORE_FOLDING)
    text = unicodedata.normalize("NFKC", text).replace("⁄", "/")
    text = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return "\n".join(line.strip() for line in text.splitlines())


def _words(*texts: str) -> list[Piece]:
    return [_word(text) for text in texts]


def _word(text: str, *, glued: bool = False) -> Piece:
    spelled = len(text) == 1 and text != "a"
    return Piece(kind=Kind.LETTERS if spelled else Kind.WORD, text=text, glued=glued)


def _pause(text: str) -> list[Piece]:
    return [Piece(kind=Kind.PAUSE, text=text)]


def _address(match: re.Match[str], _text: str, _before: list[Piece]) -> list[Piece]:
    address = re.sub(r"^https?://", "", match[0])
    pieces: list[Piece] = []
    parts = re.findall(r"[A-Za-z]+|\d+|[^\sA-Za-z\d]", address)
    for at, part in enumerate(parts):
        if part.isdigit() and part.isascii():
            pieces += _words(*(numerals.quantity(part) if len(part) < 5 else numerals.digits(part)))
        elif part in symbols.ADDRESS_SIGNS:
            pieces += _words(*symbols.ADDRESS_SIGNS[part].split()) if at < len(parts) - 1 else []
        elif part.isascii() and part.isalpha():
            short = len(part) <= 2 or part == "www"
            pieces.append(Piece(kind=Kind.LETTERS, text=part.upper()) if short else Piece(kind=Kind.WORD, text=part))
    return pieces


def _date(match: re.Match[str], _text: str, _before: list[Piece]) -> list[Piece]:
    words = amounts.iso_date(match["year"], match["month"], match["day"])
    return _words(*(words or numerals.digits(match[0])))


def _clock(match: re.Match[str], text: str, _before: list[Piece]) -> list[Piece]:
    words = amounts.clock(match["hour"], match["minute"], match["second"], match["half"])
    return _words(*words) + _final_period(match, text)


def _oclock(match: re.Match[str], text: str, _before: list[Piece]) -> list[Piece]:
    return _words(*amounts.clock(match["full"], "0", None, match["part"])) + _final_period(match, text)


def _final_period(match: re.Match[str], text: str) -> list[Piece]:
    """Give back the full stop that the abbreviation has swallowed, where nothing follows on its line."""
    follows = text[match.end() : match.end() + 1]
    return _pause(".") if match[0].endswith(".") and follows in {"", "\n"} else []


def _phone(match: re.Match[str], _text: str, _before: list[Piece]) -> list[Piece]:
    pieces: list[Piece] = []
    for part in re.findall(r"\d+", match[0]):
        pieces += [*(_pause(",") if pieces else []), *_words(*numerals.digits(part))]
    return pieces


def _measure(match: re.Match[str], _text: str, _before: list[Piece]) -> list[Piece]:
    return _words(*amounts.measure(match["measured"], match["unit"] or match["spaced"]))


def _dotted(match: re.Match[str], text: str, _before: list[Piece]) -> list[Piece]:
    letters = match[0].rstrip(".")
    spoken = symbols.DOTTED.get(letters.lower())
    if spoken:
        return _words(*spoken.split())
    pieces = [Piece(kind=Kind.LETTERS, text=letters.replace(".", "").upper())]
    return _speakable(pieces) + _final_period(match, text)


def _abbreviation(match: re.Match[str], text: str, before: list[Piece]) -> list[Piece]:
    short, follows = match["short"], text[match.end() :].lstrip(" ")[:1]
    spoken = _expansion(short, follows, before)
    if spoken is None:
        return [*_plain_word(short, before), *_pause(".")]
    ends = short.lower() in _SENTENCE_FINAL and (follows in {"", "\n"} or follows.isupper())
    return _words(spoken) + (_pause(".") if ends else [])


def _expansion(short: str, follows: str, before: list[Piece]) -> str | None:
    lower, capital = short.lower(), short[0].isupper()
    if lower in symbols.ALWAYS:
        return symbols.ALWAYS[lower]
    if follows.isdigit() and lower in symbols.BEFORE_NUMBER:
        return symbols.BEFORE_NUMBER[lower]
    if not capital:
        return None
    named = bool(before) and before[-1].kind is Kind.WORD and before[-1].text[0].isupper()
    if named and lower in symbols.AFTER_NAME:
        return symbols.AFTER_NAME[lower]
    if follows.isupper() and lower in symbols.BEFORE_NAME:
        return symbols.BEFORE_NAME[lower]
    return symbols.WHEN_CAPITAL.get(lower)


def _compound(match: re.Match[str], _text: str, _before: list[Piece]) -> list[Piece]:
    return _speakable([_word(match[0])])


def _plain_word(text: str, before: list[Piece]) -> list[Piece]:
    if text in symbols.SIGNS:
        return _words(*symbols.SIGNS[text].split())
    value = numerals.roman(text) if len(text) > 1 else None
    if value and before and before[-1].kind is Kind.WORD and before[-1].text[0].isupper():
        return _words(*numerals.cardinal(value))
    return _speakable([_word(text)])


def _speakable(pieces: list[Piece]) -> list[Piece]:
    """Fold accents away and keep what is then written in Latin letters."""
    folded = [Piece(kind=piece.kind, text=fold(piece.text), glued=piece.glued) for piece in pieces]
    return [piece for piece in folded if piece.text.strip("'-") and piece.text.isascii()]


_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "Æ": "Ae", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "ð": "d",
                            "þ": "th", "Þ": "Th", "œ": "oe", "Œ": "Oe", "ı": "i"})  # fmt: skip


def fold(text: str) -> str:
    """Return `text` without accents: café as cafe, Łódź as Lodz."""
    parts = unicodedata.normalize("NFD", text.translate(_LIGATURES))
    return "".join(part for part in parts if not unicodedata.combining(part))


def _dash(_match: re.Match[str], _text: str, before: list[Piece]) -> list[Piece]:
    return _pause("—") if before else []


def _line(_match: re.Match[str], _text: str, before: list[Piece]) -> list[Piece]:
    """A line that ends without a mark still ends what was said."""
    return _pause(".") if before and before[-1].kind in {Kind.WORD, Kind.LETTERS} else []


def _quote(match: re.Match[str], text: str, _before: list[Piece]) -> list[Piece]:
    ahead = text[match.end() : match.end() + 1]
    behind = text[match.start() - 1 : match.start()]
    opens = match[0] in "“„«" or (match[0] == '"' and not ahead.isspace() and ahead and not behind.strip())
    opens = opens or (match[0] == '"' and behind in {"(", "—"})
    return [Piece(kind=Kind.OPEN, text="“")] if opens else _pause("”")


def _mark(match: re.Match[str], _text: str, _before: list[Piece]) -> list[Piece]:
    return [Piece(kind=Kind.OPEN, text="(")] if match[0] == "(" else _pause(match[0])


_Reader = Callable[[re.Match[str], str, list[Piece]], list[Piece]]
_READERS: dict[str, _Reader] = {
    "mail": _address,
    "address": _address,
    "file": _address,
    "date": _date,
    "clock": _clock,
    "oclock": _oclock,
    "phone": _phone,
    "money": lambda m, _t, _b: _words(*amounts.money(m["currency"], m["price"], m["priced"])),
    "version": lambda m, _t, _b: _words(*amounts.version(m["numbers"])),
    "range": lambda m, _t, _b: _words(*amounts.between(m["low"], m["high"])),
    "fraction": lambda m, _t, _b: _words(*amounts.fraction(m["top"], m["bottom"])),
    "rank": lambda m, _t, _b: _words(*amounts.rank(m["ranked"])),
    "decade": lambda m, _t, _b: _words(*amounts.decade(m["ten"])),
    "measure": _measure,
    "scaled": lambda m, _t, _b: _words(*amounts.scaled(m["scaling"], m["scale"])),
    "number": lambda m, _t, _b: _words(*amounts.amount(m["number"])),
    "dotted": _dotted,
    "abbreviation": _abbreviation,
    "compound": _compound,
    "word": lambda m, _t, before: _plain_word(m["word"], before),
    "ellipsis": lambda _m, _t, _b: _pause("…"),
    "dash": _dash,
    "line": _line,
    "quote": _quote,
    "mark": _mark,
    "hash": lambda _m, _t, _b: _words("number"),
    "sign": lambda m, _t, _b: _words(*symbols.SIGNS[m["sign"]].split()),
}
