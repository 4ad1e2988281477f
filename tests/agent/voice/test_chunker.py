from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_agent.voice.chunker import Chunker, ChunkPolicy, Phrase, Terminator, Token
from eliza_catalog.errors import InternalError

NO_CLOCK = ChunkPolicy(budget_ms=0, first_max_tokens=30)


def tokens_of(text: str) -> list[str]:
    """Cut a text the way byte-pair tokenisers do: words with their space, single marks, digits in twos."""
    return re.findall(r"\s?[A-Za-z]{1,5}|\s?\d{1,2}|\s?[^A-Za-z\d\s]|\s", text)


def phrases_of(text: str, policy: ChunkPolicy = NO_CLOCK) -> list[Phrase]:
    chunker = Chunker(policy)
    out: list[Phrase] = []
    for index, piece in enumerate(tokens_of(text)):
        out.extend(chunker.push(Token(index=index, id=index, text=piece), 0.0))
    out.extend(chunker.finish())
    return out


def words_of(text: str, policy: ChunkPolicy = NO_CLOCK) -> list[str]:
    return [phrase.text.strip() for phrase in phrases_of(text, policy)]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("Hello there. How are you?", ["Hello there.", "How are you?"]),
        ("Pi is 3.14 or so. Yes.", ["Pi is 3.14 or so.", "Yes."]),
        ("It costs 1,000 coins, right? Yes", ["It costs 1,000 coins,", "right?", "Yes"]),
        ("Take fruit, e.g. apples. Good", ["Take fruit,", "e.g. apples.", "Good"]),
        ("Ask Dr. Grey. She knows.", ["Ask Dr. Grey.", "She knows."]),
        ("J. R. Smith came. I left", ["J. R. Smith came.", "I left"]),
        ("So do I. Then we go", ["So do I.", "Then we go"]),
        ("See https://example.org/a.b?c=1 now. Bye", ["See https://example.org/a.b?c=1 now.", "Bye"]),
        ("Meet at 10:30 sharp. Bye", ["Meet at 10:30 sharp.", "Bye"]),
        ("Wait... what? No", ["Wait...", "what?", "No"]),
        ('He said "go." Then left.', ['He said "go."', "Then left."]),
        ("One thing\nAnother thing\n", ["One thing", "Another thing"]),
        ("1. Bread\n2. Milk\n", ["1. Bread", "2. Milk"]),
        ("你好。再见。", ["你好。", "再见。"]),
        ("call foo.bar(a, b) now", ["call foo.bar(a,", "b) now"]),
    ],
)
def test_text_is_cut_where_a_reader_would_pause(text: str, phrases: list[str]) -> None:
    assert words_of(text) == phrases


def test_a_comma_hands_the_phrase_over_in_the_same_call() -> None:
    chunker = Chunker(NO_CLOCK)
    assert chunker.push(Token(index=0, id=1, text="Well"), 0.0) == ()
    (phrase,) = chunker.push(Token(index=1, id=2, text=","), 0.0)
    assert (phrase.text, phrase.start, phrase.end, phrase.terminator) == ("Well,", 0, 2, Terminator.PUNCTUATION)


def test_marks_alone_are_no_phrase_of_their_own() -> None:
    assert words_of("Really?! Yes.") == ["Really?", "! Yes."]
    assert words_of("?!") == ["?!"]


def test_the_cap_cuts_at_a_word() -> None:
    policy = ChunkPolicy(budget_ms=0, max_tokens=6, first_max_tokens=4)
    cut = phrases_of("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda", policy)
    assert len(cut[0].tokens) <= 4
    assert all(len(phrase.tokens) <= 6 for phrase in cut)
    assert all(phrase.text.startswith(" ") for phrase in cut[1:])


def test_the_first_phrase_waits_only_half_as_long() -> None:
    chunker = Chunker(ChunkPolicy(budget_ms=700, first_budget_ms=350))
    chunker.push(Token(index=0, id=0, text="well"), 10.0)
    chunker.push(Token(index=1, id=1, text=" you"), 10.1)
    assert chunker.due_at_s == pytest.approx(10.35)
    assert chunker.poll(10.34) == ()
    (first,) = chunker.poll(10.36)
    assert (first.text, first.terminator) == ("well", Terminator.TIME)
    chunker.push(Token(index=2, id=2, text=" see"), 10.4)
    assert chunker.poll(10.9) == ()
    (second,) = chunker.poll(11.07)
    assert second.text == " you"


def test_a_stalled_single_word_is_spoken_in_the_end() -> None:
    chunker = Chunker(ChunkPolicy(budget_ms=700, first_budget_ms=350))
    chunker.push(Token(index=0, id=0, text="Hi"), 0.0)
    assert chunker.poll(0.6) == ()
    assert [phrase.text for phrase in chunker.poll(0.71)] == ["Hi"]


def test_rejected_tokens_are_dropped_and_written_anew() -> None:
    chunker = Chunker(NO_CLOCK)
    for index, text in enumerate(["I", " am", " not"]):
        chunker.push(Token(index=index, id=index, text=text), 0.0)
    assert chunker.drop_from(2) == 1
    chunker.push(Token(index=2, id=9, text=" here"), 0.0)
    assert [phrase.text for phrase in chunker.finish()] == ["I am here"]


def test_a_token_left_out_is_an_error() -> None:
    with pytest.raises(InternalError) as caught:
        Chunker().push(Token(index=1, id=0, text="x"), 0.0)
    assert caught.value.details == {"expected": 0, "got": 1}


def test_bytes_of_a_character_stay_with_it() -> None:
    chunker = Chunker(NO_CLOCK)
    pieces = ["Yes", ".", "", "", " 世", " x"]
    cut = [p for i, text in enumerate(pieces) for p in chunker.push(Token(index=i, id=i, text=text), 0.0)]
    assert [(phrase.text, phrase.end) for phrase in cut] == [("Yes.", 2)]


PIECES = st.sampled_from(["", "a", " b", "c", ".", ",", "!", " 3", "14", "\n", "。", "世", ' "', " Dr", " word", "://"])


@given(
    st.lists(st.tuples(PIECES, st.floats(0, 0.5), st.booleans()), max_size=80),
    st.integers(1, 8),
    st.sampled_from([0, 100, 700]),
)
def test_nothing_is_lost_doubled_or_too_long(steps: list[tuple[str, float, bool]], cap: int, budget_ms: int) -> None:
    chunker = Chunker(ChunkPolicy(max_tokens=cap, first_max_tokens=cap, budget_ms=budget_ms))
    now_s, phrases = 0.0, list[Phrase]()
    for index, (text, wait_s, polls) in enumerate(steps):
        now_s += wait_s
        if polls:
            phrases.extend(chunker.poll(now_s))
        phrases.extend(chunker.push(Token(index=index, id=index, text=text), now_s))
    phrases.extend(chunker.finish())
    out = [token.index for phrase in phrases for token in phrase.tokens]
    assert out == list(range(len(steps)))
    spoken = [phrase for phrase in phrases[:-1] if phrase.terminator is not Terminator.CAP]
    assert all(phrase.has_words for phrase in spoken)
    assert [phrase.id for phrase in phrases] == list(range(len(phrases)))
