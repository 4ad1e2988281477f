"""English text to phonemes: what cannot be said first, then the lexicon's own conventions, then any text at all."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from eliza_agent.phonemes import alphabet, phonemise
from eliza_catalog.errors import VoiceError


@pytest.mark.parametrize("text", ["你好，世界", "Привет", "नमस्ते", "ありがとう", "Ω", "Жук 🙂"])
def test_text_of_another_script_alone_is_refused(text: str) -> None:
    with pytest.raises(VoiceError) as caught:
        phonemise(text)
    assert caught.value.code == "voice.unspeakable"


@pytest.mark.parametrize("text", ["", " \n\t ", "🙂👍🏽", "\u200b", "\ufffd", "***", "```"])
def test_text_that_says_nothing_is_silent(text: str) -> None:
    assert phonemise(text) == ""


def test_what_can_be_said_beside_other_scripts_is_said() -> None:
    assert phonemise("Hello 世界 🙂!") == "həlˈO!"


SENTENCES = [
    ("Hello, world!", "həlˈO, wˈɜɹld!"),
    ("hello", "həlˈO"),
    ("the cat", "ðə kˈæt"),
    ("the apple", "ði ˈæpᵊl"),
    ("A book. An apple. I want a book.", "ɐ bˈʊk. ɐn ˈæpᵊl. ˌI wˈɑnt ɐ bˈʊk."),
    ("vitamin A", "vˈITəmən ˈA"),
    ("to go, to eat, to", "tə ɡˌO, tʊ ˈit, tu"),
    ("I am here", "ˌI ɐm hˈɪɹ"),
    ("Come in!", "kˈʌm ˈɪn!"),
    ("I used to read; I have read it.", "ˌI jˈust tə ɹˈid; ˌI hæv ɹˈɛd ɪt."),
    ("Record the record.", "ɹəkˈɔɹd ðə ɹˈɛkəɹd."),
    ("He lives in it; their lives", "hˌi lˈɪvz ɪn ɪt; ðɛɹ lˈIvz"),
    ("what we could. we could go", "wˌʌt wi kˈʊd. wi kʊd ɡˌO"),
    ("better water", "bˈɛTəɹ wˈɔTəɹ"),
    ("a button", "ɐ bˈʌtn"),
    ("cats dogs buses", "kˈæts dˈɔɡz bˈʌsᵻz"),
    ("John's, James's, the dogs' food", "ʤˈɑnz, ʤˈAmzᵻz, ðə dˈɔɡz fˈud"),
    ("walked played wanted stopped baking", "wˈɔkt plˈAd wˈɑntᵻd stˈɑpt bˈAkɪŋ"),
    ("don't, it's, we're, y'all", "dˈOnt, ɪts, wɪɹ, jˈɔl"),
    ("curly don’t", "kˈɜɹli dˈOnt"),
    ("well-known Wi-Fi", "wˌɛlnˈOn wˈIfˌI"),
    ("the USA, the U.S. and GPUs", "ðə jˌuˌɛsˈA, ðə jˌuˈɛs ænd ʤˌipˌijˈuz"),
    ("NASA and AI", "nˈæsə ænd ˈAˌI"),
    ("THE CAT IS HERE", "ðə kˈæt ɪz hˈɪɹ"),
    ("It is NOT here", "ˌɪt ɪz nˈɑt hˈɪɹ"),
    ("US and us", "jˌuˈɛs ænd ˌʌs"),
    ("Dr. Smith and Mrs. Jones", "dˈɑktəɹ smˈɪθ ænd mˈɪsɪz ʤˈOnz"),
    ("café naïve", "kæfˈA nɑˈiv"),
    ("3.14", "θɹˈi pˈYnt wˈʌn fˈɔɹ"),
    ("50%", "fˈɪfti pəɹsˈɛnt"),
    ("$3.50", "θɹˈi dˈɑləɹz ænd fˈɪfti sˈɛnts"),
    ("the 21st", "ðə twˈɛnti fˈɜɹst"),
    ("1984", "nˌIntˈin ˈATi fˈɔɹ"),
    ("3:30 p.m.", "θɹˈi θˈɜɹTi pˈi ˈɛm."),
    ("He said \"wait\" (softly).", "hˌi sˈɛd “wˈAt” (sˈɔftli)."),
    ("wait... what?!", "wˈAt… wˌʌt?!"),
    ("one - two – three—four", "wˈʌn — tˈu — θɹˈi — fˈɔɹ"),
    ("One!!! two,, three", "wˈʌn! tˈu, θɹˈi"),
    ("Heading\n\nThen text", "hˈɛdɪŋ. ðˈɛn tˈɛkst"),
    ("- one\n- two", "wˈʌn. tˈu"),
    ("**bold** and `code`", "bˈOld ænd kˈOd"),
    ("Eliza", "əlˈIzə"),
    ("iPhone GitHub", "ˌIfˈOn ɡˌɪthˈʌb"),
    ("smartphones", "smˈɑɹtfˌOnz"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "phonemes"), SENTENCES)
def test_american_english_follows_the_lexicons_conventions(text: str, phonemes: str) -> None:
    assert phonemise(text) == phonemes


BRITISH = [
    ("Hello, world!", "həlˈQ, wˈɜːld!"),
    ("better water", "bˈɛtə wˈɔːtə"),
    ("the cat can't dance", "ðə kˈat kˈɑːnt dˈɑːns"),
    ("wanted buses", "wˈɒntɪd bˈʌsɪz"),
    ("Eliza", "əlˈIzə"),
    ("GPUs", "ʤˌiːpˌiːjˈuːz"),
]


@pytest.mark.parametrize(("text", "phonemes"), BRITISH)
def test_british_english_follows_its_own(text: str, phonemes: str) -> None:
    assert phonemise(text, variant="en-gb") == phonemes


@settings(max_examples=300, deadline=None)
@given(text=st.text(max_size=80), british=st.booleans())
def test_any_text_gives_phonemes_of_the_alphabet_or_is_unspeakable(text: str, british: bool) -> None:
    try:
        spoken = phonemise(text, variant="en-gb" if british else "en-us")
    except VoiceError:
        assume(False)  # refusals have tests of their own; every other error is a failure here
    assert set(spoken) <= alphabet()
    assert "  " not in spoken
    assert spoken == spoken.strip()


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(categories=["Lo", "Lm"]), min_size=1, max_size=20))
def test_letters_of_other_scripts_are_refused_or_said_never_dropped_to_nothing(text: str) -> None:
    try:
        spoken = phonemise(text)
    except VoiceError:
        return
    assert spoken


_ENGLISH = st.from_regex(r"(?:[A-Za-z]{1,12}|[$£€]?[0-9]{1,7}(?:[.,:/-][0-9]{1,4})?(?:%|kg|th|s|k)?)", fullmatch=True)
_BETWEEN = st.sampled_from([" ", ", ", ". ", "-", "'", "\n", "/", "@", " ("])


@settings(max_examples=300, deadline=None)
@given(words=st.lists(st.tuples(_ENGLISH, _BETWEEN), min_size=1))
def test_anything_in_latin_letters_and_digits_is_said(words: list[tuple[str, str]]) -> None:
    spoken = phonemise("".join(word + between for word, between in words))
    assert set(spoken) <= alphabet()
    assert any(sound.isalpha() for sound in spoken)


@pytest.mark.parametrize("text", ["\ud800", "a\x00b", "9" * 5000, "a" * 20_000, "a-" * 5000, "1,234" * 2000, "." * 9999,
                                  "x@" * 4000, "((((" * 2000, "'" * 5000, "A" * 3000, "1/" * 4000])  # fmt: skip
def test_hostile_text_is_read_in_reasonable_time(text: str) -> None:
    begin = time.perf_counter()
    assert set(phonemise(text)) <= alphabet()
    assert time.perf_counter() - begin < 10


def test_the_lexicon_is_read_at_the_first_word_and_quickly() -> None:
    program = (
        "import time, eliza_agent.phonemes as p; from eliza_agent.phonemes.lexicon import load_lexicon as l;"
        "assert l.cache_info().currsize == 0; t = time.process_time(); p.phonemise('hello');"
        "print(time.process_time() - t); assert l.cache_info().currsize == 1"
    )
    path = [entry for entry in sys.path if entry]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=15,
    )
    assert float(done.stdout) < 0.3
