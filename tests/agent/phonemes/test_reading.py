"""Written text as words and pauses, before any sound."""

from __future__ import annotations

import pytest

from eliza_agent.phonemes.reading import Kind, fold, read


def spoken(text: str) -> str:
    """Return a reading as one line: spelled words in angle brackets, marks as they are."""
    return " ".join(f"<{piece.text}>" if piece.kind is Kind.LETTERS else piece.text for piece in read(text))


READINGS = [
    ("Hello, world!", "Hello , world !"),
    ("$1,299.99", "one thousand two hundred ninety nine dollars and ninety nine cents"),
    ("$1 £1.01 €0.50 $0", "one dollar one pound and one penny fifty cents zero dollars"),
    ("$5M, $3.5 million, £2bn", "five million dollars , three point five million dollars , two billion pounds"),
    ("-5 degrees, +3, 0.5, .25", "minus five degrees , plus three , zero point five , point two five"),
    ("1,234,567.89", "one million two hundred thirty four thousand five hundred sixty seven point eight nine"),
    ("in 1984, 2001, 2010, 1900, 2000, 1906", ("in nineteen eighty four , two thousand one , twenty ten , "
     "nineteen hundred , two thousand , nineteen oh six")),
    ("the 1990s and the 80s", "the nineteen nineties and the eighties"),
    ("1st 2nd 3rd 12th 20th 21st 100th", "first second third twelfth twentieth twenty first one hundredth"),
    ("3:30 p.m. then", "three thirty <P> <M> then"),
    ("at 9am, 3:05, 12:00, 15:00", "at nine <A> <M> , three oh five , twelve o'clock , fifteen hundred"),
    ("2024-03-15", "March fifteenth twenty twenty four"),
    ("2024-13-99", "two zero two four one three nine nine"),
    ("10–20, 5-7", "ten to twenty , five to seven"),
    ("1/2, 3/4, 2/3, 9/11", "one half , three quarters , two thirds , nine elevenths"),
    ("7/2", "seven slash two"),
    ("2½", "two and one half"),
    ("5kg, 1 km, 60 mph, 10°C, 16 kHz, 16GB", ("five kilograms , one kilometer , sixty miles per hour , "
     "ten degrees Celsius , sixteen kilohertz , sixteen gigabytes")),
    ("5 months", "five months"),
    ("10k people", "ten thousand people"),
    ("v1.2.3", "one point two point three"),
    ("555-1234", "five five five , one two three four"),
    ("(555) 123-4567", "five five five , one two three , four five six seven"),
    ("No. 5, #7, Fig. 3", "number five , number seven , figure three"),
    ("He ate a fig. No. It is", "He ate a fig . No . It is"),
    ("e.g. this, i.e. that, etc.", "for example this , that is that , etcetera ."),
    ("Dr. Smith, 12 Main St. near St. Paul", "doctor Smith , twelve Main street near saint Paul"),
    ("U.S. Army. In the U.S.", "<US> Army . In the <US> ."),
    ("a cat sat. The end", "a cat sat . The end"),
    ("World War II, Henry VIII, I", "World War two , Henry eight , <I>"),
    ("me@host.io", "<ME> at host dot <IO>"),
    ("https://www.example.com/a_b?x=1.", ("<WWW> dot example dot com slash <A> underscore <B> question mark <X> "
     "equals one .")),
    ("see example.org, ok", "see example dot org , ok"),
    ("model.gguf config.json", "model dot gguf config dot json"),
    ("end.Next", "end . Next"),
    ("2 + 2 = 4 & more", "two plus two equals four and more"),
    ("[a link](http://x.y/z) and ![img](u)", "a link and img"),
    ("# Title\n* item\n> quote", "Title . item . quote"),
    ("m² and x³", "<m> squared and <x> cubed"),
    ("\"one\" “two” ('three')", "“ one ” “ two ” ( three )"),
    ("٣ ３ ①", "three three one"),
    ("Ｆｕｌｌ ﬁt", "Full fit"),
    ("Łódź Привет straße", "Lodz strasse"),
    ("10,000 1,00", "ten thousand one , zero zero"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), READINGS)
def test_text_is_read_as_people_say_it(text: str, words: str) -> None:
    assert spoken(text) == words


@pytest.mark.parametrize(("text", "bare"), [("Crème Brûlée", "Creme Brulee"), ("Ærø", "Aero"), ("Þór", "Thor")])
def test_accents_fold_away(text: str, bare: str) -> None:
    assert fold(text) == bare
