"""Turns a question into the token ids of a chat, in the one form the model was trained on.

The form is found by the control tokens that the vocabulary really has; what a user writes is never read as a
control token. Knows no template language and guesses nothing: a vocabulary without a known form is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eliza_catalog.errors import NativeError

Tokenize = Callable[[str, bool, bool], list[int]]
"""(text, add_special, parse_special) -> ids; blocking."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatForm:
    """How one family of models marks a turn: opener, role, new line, text, closer, new line."""

    name: str
    opens: str
    closes: str
    model_role: str
    has_system_turn: bool


FORMS = (
    ChatForm(name="gemma4", opens="<|turn>", closes="<turn|>", model_role="model", has_system_turn=True),
    ChatForm(name="gemma3", opens="<start_of_turn>", closes="<end_of_turn>", model_role="model", has_system_turn=False),
    ChatForm(name="chatml", opens="<|im_start|>", closes="<|im_end|>", model_role="assistant", has_system_turn=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTemplate:
    """The form of one loaded model, and the id that ends a turn."""

    form: ChatForm
    end_id: int

    def ids(self, tokenize: Tokenize, system: str, user: str) -> tuple[int, ...]:
        """Return the prompt up to where the model begins to answer. Blocks on the tokenizer."""
        form = self.form
        turns = [("system", system), ("user", user)] if system and form.has_system_turn else [("user", user)]
        if system and not form.has_system_turn:
            turns = [("user", f"{system}\n\n{user}")]
        ids = tokenize("", True, False)
        for role, text in turns:
            ids += tokenize(f"{form.opens}{role}\n", False, True)
            ids += tokenize(text.strip(), False, False)
            ids += tokenize(f"{form.closes}\n", False, True)
        return tuple(ids + tokenize(f"{form.opens}{form.model_role}\n", False, True))


def find_template(tokenize: Tokenize) -> ChatTemplate:
    """Return the template of the loaded model. Blocks on the tokenizer.

    Raises:
        NativeError: `native.bundle_invalid`, the vocabulary has no known chat form.
    """
    for form in FORMS:
        opens, closes = (tokenize(mark, False, True) for mark in (form.opens, form.closes))
        if len(opens) == len(closes) == 1 and len(tokenize(form.opens, False, False)) > 1:
            return ChatTemplate(form=form, end_id=closes[0])
    details = {"looked_for": [form.opens for form in FORMS]}
    raise NativeError("bundle_invalid", "This Eliza-1 cannot hold a conversation.", details=details)
