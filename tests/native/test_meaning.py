"""Story: a text becomes a vector, and a listener learns whether a speaker has finished."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.meaning import Pooling, embed, end_of_turn
from eliza_native.tokens import tokenize

WIDTH = 64


@pytest.fixture(scope="module")
def context(library: Library, models: Path) -> Iterator[Context]:
    with Context(library, models / "noise") as opened:
        yield opened


def length(vector: Sequence[float]) -> float:
    return math.sqrt(sum(x * x for x in vector))


@pytest.mark.parametrize("pooling", list(Pooling))
def test_a_vector_has_length_one_whatever_the_pooling(context: Context, pooling: Pooling) -> None:
    vector = embed(context, "The kettle is on.", pooling)
    assert len(vector) == WIDTH
    assert length(vector) == pytest.approx(1.0, abs=1e-5)


def test_the_same_text_has_the_same_vector_and_another_text_another(context: Context) -> None:
    one, again, other = (embed(context, text) for text in ("one", "one", "something else"))
    assert one == again
    assert sum(a * b for a, b in zip(one, other, strict=True)) < 0.999


@pytest.mark.parametrize("dimensions", [1, 16, WIDTH])
def test_a_cut_vector_points_where_the_whole_one_begins(context: Context, dimensions: int) -> None:
    whole, cut = embed(context, "words"), embed(context, "words", dimensions=dimensions)
    assert len(cut) == dimensions
    scale = length(whole[:dimensions])
    assert list(cut) == pytest.approx([x / scale for x in whole[:dimensions]], abs=1e-5)


@pytest.mark.parametrize("dimensions", [0, -1, WIDTH + 1, 1 << 40])
def test_a_cut_that_is_none_is_refused(context: Context, dimensions: int) -> None:
    with pytest.raises(NativeError) as caught:
        embed(context, "words", dimensions=dimensions)
    assert caught.value.code == "native.invalid_argument"


def test_a_text_longer_than_the_model_reads_is_refused(context: Context) -> None:
    with pytest.raises(NativeError) as caught:
        embed(context, "x " * 9000)
    assert caught.value.code == "native.invalid_argument"


@given(text=st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable()))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_has_a_vector(context: Context, text: str) -> None:
    assert length(embed(context, text, Pooling.MEAN)) == pytest.approx(1.0, abs=1e-4)


def test_chances_are_chances(context: Context) -> None:
    ids = tokenize(context, "Are you there?")
    answer = end_of_turn(context, ids, 20)
    assert 0.0 <= answer.probability <= answer.top_probability <= 1.0
    assert end_of_turn(context, ids, answer.top).probability == pytest.approx(answer.top_probability, abs=1e-3)


@pytest.mark.parametrize(("ids", "target"), [([], 1), ([5], -1), ([5], 1 << 30), ([1 << 30], 5), ([5], 1 << 40)])
def test_a_question_about_nothing_is_refused(context: Context, ids: list[int], target: int) -> None:
    with pytest.raises(NativeError) as caught:
        end_of_turn(context, ids, target)
    assert caught.value.code == "native.invalid_argument"
