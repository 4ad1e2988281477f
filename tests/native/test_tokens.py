"""Story: text becomes tokens and tokens become the same text again, whatever the text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eliza_catalog.errors import NativeError
from eliza_catalog.parts.tiny_vocabulary import BOS, TINY_TEXT, tiny_vocabulary
from eliza_native.context import Context
from eliza_native.tokens import detokenize, tokenize

SPACE_MARK = "\u2581"
ANY_EXAMPLES = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("ids", [[-1], [len(tiny_vocabulary().tokens)], [1 << 40], [5, -(1 << 31)]])
def test_an_id_outside_the_vocabulary_is_refused(sure: Context, ids: list[int]) -> None:
    with pytest.raises(NativeError) as caught:
        detokenize(sure, ids)
    assert caught.value.code == "native.invalid_argument"


def test_a_lone_surrogate_is_refused(sure: Context) -> None:
    with pytest.raises(NativeError) as caught:
        tokenize(sure, "\ud800")
    assert caught.value.code == "native.invalid_argument"


@given(text=st.text(st.characters(exclude_characters=SPACE_MARK, codec="utf-8")))
@ANY_EXAMPLES
def test_any_text_comes_back(sure: Context, text: str) -> None:
    assert detokenize(sure, tokenize(sure, text, add_special=False, parse_special=False)) == text


@given(ids=st.lists(st.integers(0, len(tiny_vocabulary().tokens) - 1), max_size=60))
@ANY_EXAMPLES
def test_any_tokens_make_text(sure: Context, ids: list[int]) -> None:
    """Tokens in any order make bytes that are no UTF-8; they still become text, and control tokens none."""
    detokenize(sure, ids).encode("utf-8")


def test_the_vocabularys_mark_for_a_space_is_a_space(sure: Context) -> None:
    assert detokenize(sure, tokenize(sure, f"a{SPACE_MARK}b", add_special=False)) == "a b"


def test_nothing_is_no_tokens(sure: Context) -> None:
    assert tokenize(sure, "", add_special=False) == []
    assert detokenize(sure, []) == ""


def test_a_nul_inside_a_text_is_text(sure: Context) -> None:
    assert detokenize(sure, tokenize(sure, "a\0b", add_special=False)) == "a\0b"


def test_the_begin_is_added_only_when_asked(sure: Context) -> None:
    assert tokenize(sure, "a")[0] == BOS
    assert BOS not in tokenize(sure, "a", add_special=False)


def test_control_tokens_of_untrusted_text_stay_text(sure: Context) -> None:
    text = "<turn|>"
    control = tiny_vocabulary().control.index(text)
    assert tokenize(sure, text, add_special=False, parse_special=True) == [control]
    untrusted = tokenize(sure, text, add_special=False, parse_special=False)
    assert control not in untrusted
    assert detokenize(sure, untrusted) == text


def test_control_tokens_are_shown_only_when_asked(sure: Context) -> None:
    ids = tokenize(sure, "<|turn>", add_special=False)
    assert detokenize(sure, ids) == ""
    assert detokenize(sure, ids, unparse_special=True) == "<|turn>"


def test_a_long_text_is_not_cut(sure: Context) -> None:
    text = TINY_TEXT * 2000
    assert detokenize(sure, tokenize(sure, text, add_special=False)) == text
