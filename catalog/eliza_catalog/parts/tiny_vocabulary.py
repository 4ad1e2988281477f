"""The vocabulary of the generated tiny models, and the text that they always say.

Byte-pair tokens in the form llama.cpp's `gemma4` tokenizer reads: control tokens, 256 byte tokens, ASCII, and one
token per word of the text. Each word occurs once, so "the next word" is a function of the word: that is what makes
the greedy answer exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

TINY_TEXT = (
    "Hello, this is a tiny stand-in for Eliza-1. It knows these words only, "
    "and always says them in the same order. Then it stops."
)
"""What the tiny text model answers to anything, greedily sampled, before it ends its turn."""

CONTROL_TOKENS = (
    "<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<|turn>", "<turn|>",
    "<|image>", "<image|>", "<|audio>", "<audio|>",
)  # fmt: skip
PAD, EOS, BOS, UNK = 0, 1, 2, 3
END_OF_TURN = "<turn|>"
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|turn>{{ m['role'] }}\n{{ m['content'] }}<turn|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|turn>model\n{% endif %}"
)
_SPACE = "\u2581"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Tokens by id, the merges that build them, and which token follows which.

    `spoken` are the ids of the text's words and of the end of turn; `following[id]` is the token after `id`, the
    text's first word for every token outside the text.
    """

    control: tuple[str, ...]
    byte: tuple[str, ...]
    normal: tuple[str, ...]
    merges: tuple[str, ...]
    spoken: tuple[int, ...]
    following: tuple[int, ...]

    @property
    def tokens(self) -> tuple[str, ...]:
        """All tokens by id."""
        return self.control + self.byte + self.normal


@cache
def tiny_vocabulary() -> Vocabulary:
    """Return the one vocabulary that target and drafter share."""
    words = [_SPACE + word if place else word for place, word in enumerate(TINY_TEXT.split())]
    normal = dict.fromkeys([_SPACE, "\n", *map(chr, range(33, 127))])
    merges: dict[str, None] = {}
    for word in words:  # merged from the left, so that every word ends as one token
        for end in range(1, len(word)):
            merges.setdefault(f"{word[:end]} {word[end]}")
            normal.setdefault(word[: end + 1])
    byte = tuple(f"<0x{value:02X}>" for value in range(256))
    ids = {token: place for place, token in enumerate((*CONTROL_TOKENS, *byte, *normal))}
    spoken = (*(ids[word] for word in words), ids[END_OF_TURN])
    return Vocabulary(
        control=CONTROL_TOKENS,
        byte=byte,
        normal=tuple(normal),
        merges=tuple(merges),
        spoken=spoken,
        following=_following(len(ids), spoken),
    )


def _following(size: int, spoken: Sequence[int]) -> tuple[int, ...]:
    after = [spoken[0]] * size
    for token, following in pairwise((*spoken, EOS)):
        after[token] = following
    return tuple(after)
