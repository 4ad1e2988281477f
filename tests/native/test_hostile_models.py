"""Model files whose headers would end or hang the runtime in the middle of a computation: refused when they load."""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.gguf_change import change_number, change_type
from tests.support.text_turns import mtp_drafter, run

from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.library import Library
from eliza_native.text import StreamConfig

I32 = 26
PROMPT = [5, 6, 7, 8]


@pytest.fixture
def bundle(models: Path, tmp_path: Path) -> Path:
    shutil.copytree(models / "noise", tmp_path / "bundle")
    return tmp_path / "bundle"


def refused(library: Library, bundle: Path, *, drafting: bool = False) -> str:
    with Context(library, bundle) as context:
        config = StreamConfig(context_size=256, max_tokens=4)
        if drafting:
            config = replace(config, drafter=mtp_drafter(context), draft_max=2)
        with pytest.raises(NativeError) as caught:
            run(context, PROMPT, config)
    assert caught.value.code == "native.bundle_invalid"
    return str(caught.value.details["said"])


@pytest.mark.parametrize("tensor", ["output_norm.weight", "output.weight", "token_embd.weight", "blk.0.attn_q.weight"])
def test_a_tensor_of_a_type_that_nothing_multiplies(library: Library, bundle: Path, tensor: str) -> None:
    change_type(bundle / "text" / "text.gguf", tensor, I32)
    assert f"has a tensor of type i32: {tensor}" in refused(library, bundle)


@pytest.mark.parametrize("turned", [0, 1, 33, 64, 2**32 - 2])
@pytest.mark.parametrize("layers", ["", "_swa"])
def test_more_or_fewer_values_turned_than_a_head_has(library: Library, bundle: Path, turned: int, layers: str) -> None:
    change_number(bundle / "text" / "text.gguf", f"gemma4.rope.dimension_count{layers}", turned)
    assert f"says {turned} for gemma4.rope.dimension_count{layers}" in refused(library, bundle)


def test_narrow_heads_turned_like_wide_ones(library: Library, bundle: Path) -> None:
    key = "gemma4.rope.dimension_count_swa"
    change_number(bundle / "text" / "text.gguf", key, 16, to=key.upper())
    assert "says 32 for" in refused(library, bundle)


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf])
def test_a_norm_that_divides_by_nothing(library: Library, bundle: Path, epsilon: float) -> None:
    key = "gemma4.attention.layer_norm_rms_epsilon"
    change_number(bundle / "text" / "text.gguf", key, epsilon)
    assert key in refused(library, bundle)


def test_a_drafter_whose_heads_nobody_answers(library: Library, bundle: Path) -> None:
    change_number(bundle / "mtp" / "drafter-2b.gguf", "gemma4-assistant.attention.head_count_kv", 0)
    assert "has 4 heads over 0 in layer 0" in refused(library, bundle, drafting=True)


def test_a_drafter_of_integers(library: Library, bundle: Path) -> None:
    change_type(bundle / "mtp" / "drafter-2b.gguf", "blk.0.ffn_up.weight", I32)
    assert "blk.0.ffn_up.weight" in refused(library, bundle, drafting=True)


def test_a_context_of_endless_length(library: Library, bundle: Path) -> None:
    change_number(bundle / "text" / "text.gguf", "gemma4.context_length", 2**31 - 1)
    with Context(library, bundle) as context, pytest.raises(NativeError) as caught:
        run(context, PROMPT, StreamConfig(context_size=0))
    assert "at most 4194304 tokens" in caught.value.details["said"]


@pytest.mark.parametrize(
    ("grammar", "reason"),
    [
        ('root ::= "a"{3,1}', "from more to less"),
        ('root ::= "a"{1,9999}', "over 2000 times"),
        ("root ::= " + "(" * 65 + '"a"' + ")" * 65, "more than 64 deep"),
        ("root ::= " + "[a-z]? " * 257, "more than 256 repetitions"),
        ("root ::= " + " " * 65536, "more than 65536 bytes"),
    ],
)
def test_grammars_that_would_not_end(library: Library, models: Path, grammar: str, reason: str) -> None:
    with Context(library, models / "noise") as context, pytest.raises(NativeError) as caught:
        run(context, PROMPT, StreamConfig(context_size=256, grammar=grammar))
    assert reason in caught.value.details["said"]


@pytest.mark.parametrize(
    "grammar",
    [
        'root ::= ("[a" | "\\"(" | [\\](-z]){1,3} # ((( and {3,1}\n',
        'root ::= "a"{ 0 , 2 } ("b" | "c")* "d"{2} "e"{1,}',
    ],
)
def test_text_in_a_grammar_is_no_grammar(library: Library, models: Path, grammar: str) -> None:
    with Context(library, models / "noise") as context:
        assert run(context, PROMPT, StreamConfig(context_size=256, max_tokens=4, grammar=grammar)).tokens


def test_what_the_parser_says_is_told_and_not_printed(
    library: Library, models: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with Context(library, models / "noise") as context, pytest.raises(NativeError) as caught:
        run(context, PROMPT, StreamConfig(context_size=256, grammar="root ::= ("))
    assert "error parsing grammar" in caught.value.details["said"]
    assert capfd.readouterr().err == ""
