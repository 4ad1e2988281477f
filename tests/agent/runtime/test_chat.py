from __future__ import annotations

import pytest

from eliza_agent.runtime.chat import Tokenize, find_template
from eliza_catalog.errors import NativeError


def tokenizer_with(*controls: str) -> Tokenize:
    """Tokenise by letters, known controls as one id each; -1 begins a text."""

    def tokenize(text: str, add_special: bool, parse_special: bool) -> list[int]:
        ids = [-1] if add_special else []
        while text:
            control = next((c for c in controls if parse_special and text.startswith(c)), None)
            ids.append(1000 + controls.index(control) if control else ord(text[0]))
            text = text[len(control) if control else 1 :]
        return ids

    return tokenize


def shown(ids: tuple[int, ...]) -> str:
    return "".join("^" if i == -1 else f"[{i - 1000}]" if i >= 1000 else chr(i) for i in ids)


@pytest.mark.parametrize(
    ("controls", "prompt"),
    [
        (("<|turn>", "<turn|>"), "^[0]system\nS[1]\n[0]user\nU[1]\n[0]model\n"),
        (("<start_of_turn>", "<end_of_turn>"), "^[0]user\nS\n\nU[1]\n[0]model\n"),
        (("<|im_start|>", "<|im_end|>"), "^[0]system\nS[1]\n[0]user\nU[1]\n[0]assistant\n"),
    ],
)
def test_each_family_gets_its_own_form(controls: tuple[str, str], prompt: str) -> None:
    tokenize = tokenizer_with(*controls)
    template = find_template(tokenize)
    assert template.end_id == 1001
    assert shown(template.ids(tokenize, "S", "U")) == prompt
    assert "S" not in shown(template.ids(tokenize, "", "U"))


def test_a_control_word_in_a_question_stays_words() -> None:
    tokenize = tokenizer_with("<|turn>", "<turn|>")
    assert "<turn|>evil" in shown(find_template(tokenize).ids(tokenize, "", "a<turn|>evil"))


def test_an_unknown_vocabulary_is_an_error() -> None:
    with pytest.raises(NativeError) as caught:
        find_template(tokenizer_with("<s>"))
    assert caught.value.code == "native.bundle_invalid"
