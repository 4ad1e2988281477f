"""The phrase chunker: accepted tokens in, phrases out, the first one sooner.

A phrase ends at punctuation, at a token cap or when its time is up; a number, an abbreviation or an address is
never cut. Speaks to nobody and reads no clock: the time is handed in. Keeps contract section 4 (streaming
handoff, token cap, drop on reject); spans are half-open.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from eliza_catalog.errors import InternalError

_CLOSERS = "\"')]}»”’*_`"
_OPENERS = "\"'([{«“‘*_`"
_WIDE_MARKS = "。！？、，；："
_MARKS = ",.!?;:…"
_TITLES = frozenset(("dr.", "mr.", "mrs.", "ms.", "prof.", "rev.", "sr.", "jr.", "st.", "mt.", "gov."))
_SHORT_FORMS = frozenset(("approx.", "cf.", "dept.", "ed.", "etc.", "fig.", "inc.", "ltd.", "vs."))
_DOTTED = re.compile(r"(?:[A-Za-z]\.)+")
_LIST_NUMBER = re.compile(r"\d{1,3}\.")
_ADDRESS = re.compile(r"://|^www\.|@|^(?:https?|ftp|file|mailto):")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """One accepted token: its place among the generated ones (from 0), its id, and the text it completed."""

    index: int
    id: int
    text: str


class Terminator(StrEnum):
    """Why a phrase ended."""

    PUNCTUATION = "punctuation"
    CAP = "max-cap"
    TIME = "time-budget"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrase:
    """A run of tokens to be spoken in one go; covers the token span [start, end)."""

    id: int
    tokens: tuple[Token, ...]
    terminator: Terminator

    @property
    def start(self) -> int:
        """Index of the first token."""
        return self.tokens[0].index

    @property
    def end(self) -> int:
        """Index after the last token."""
        return self.tokens[-1].index + 1

    @property
    def text(self) -> str:
        """The words."""
        return "".join(token.text for token in self.tokens)

    @property
    def has_words(self) -> bool:
        """Whether there is anything that could be spoken at all."""
        return has_words(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPolicy:
    """How phrases are cut. The caps count tokens; a budget of 0 or less switches the clock off."""

    max_tokens: int = 30
    first_max_tokens: int = 12
    budget_ms: int = 700
    first_budget_ms: int = 350

    def cap(self, *, first: bool) -> int:
        """Most tokens of the next phrase."""
        return max(1, min(self.max_tokens, self.first_max_tokens) if first else self.max_tokens)

    def budget_s(self, *, first: bool) -> float:
        """Seconds a word may wait; infinite when the clock is off."""
        if self.budget_ms <= 0:
            return math.inf
        first_ms = min(self.first_budget_ms, math.ceil(self.budget_ms / 2))
        return (first_ms if first and self.first_budget_ms > 0 else self.budget_ms) / 1000


class Chunker:
    """Collects accepted tokens and hands out phrases; see the module's text."""

    def __init__(self, policy: ChunkPolicy | None = None) -> None:
        self._policy = policy or ChunkPolicy()
        self._pending: list[Token] = []
        self._since_s = 0.0
        self._next_index = 0
        self._next_id = 0

    @property
    def pending(self) -> tuple[Token, ...]:
        """Tokens that are in no phrase yet."""
        return tuple(self._pending)

    @property
    def due_at_s(self) -> float | None:
        """When `poll` will next have something to say, or None while it will not by itself."""
        if not has_words(_joined(self._pending)):
            return None
        budget_s = self._policy.budget_s(first=self._next_id == 0)
        patience = 1 if self._word_cut() else 2
        return None if math.isinf(budget_s) else self._since_s + patience * budget_s

    def push(self, token: Token, now_s: float) -> tuple[Phrase, ...]:
        """Take the next accepted token and return the phrases it completed.

        Raises:
            InternalError: `internal.broken_promise`, a token was left out or came twice.
        """
        if token.index != self._next_index:
            details = {"expected": self._next_index, "got": token.index}
            raise InternalError("broken_promise", "Words arrived out of order.", details=details)
        phrases: list[Phrase] = []
        if self._pending and self._ends_before(token.text):
            phrases.append(self._cut(self._without_unfinished(len(self._pending)), Terminator.PUNCTUATION, now_s))
        if not self._pending:
            self._since_s = now_s
        self._pending.append(token)
        self._next_index += 1
        if self._ends_here():
            phrases.append(self._cut(len(self._pending), Terminator.PUNCTUATION, now_s))
        elif len(self._pending) >= self._policy.cap(first=self._next_id == 0):
            phrases.append(self._cut(self._word_cut() or len(self._pending), Terminator.CAP, now_s))
        phrases.extend(self.poll(now_s))
        return tuple(phrases)

    def poll(self, now_s: float) -> tuple[Phrase, ...]:
        """Return the phrase whose time is up, if there is one; a half-finished word stays behind."""
        due_at_s = self.due_at_s
        if due_at_s is None or now_s < due_at_s:
            return ()
        return (self._cut(self._word_cut() or len(self._pending), Terminator.TIME, now_s),)

    def finish(self) -> tuple[Phrase, ...]:
        """Return what is left as a last phrase."""
        return (self._cut(len(self._pending), Terminator.END, self._since_s),) if self._pending else ()

    def drop_from(self, index: int) -> int:
        """Forget tokens at `index` and after, which the verifier rejected; return how many were still here.

        The next token to be pushed is then the one at `index`.
        """
        kept = [token for token in self._pending if token.index < index]
        dropped = len(self._pending) - len(kept)
        self._pending = kept
        self._next_index = min(self._next_index, max(index, 0))
        return dropped

    def flush(self) -> int:
        """Forget everything that is in no phrase yet (barge-in); return how many tokens went."""
        dropped, self._pending = len(self._pending), []
        return dropped

    def take_back(self, tokens: tuple[Token, ...], now_s: float) -> None:
        """Put tokens of a withdrawn phrase in front again; they are still accepted and not yet heard."""
        if tokens and not self._pending:
            self._since_s = now_s
        self._pending = [*tokens, *self._pending]

    def _cut(self, count: int, terminator: Terminator, now_s: float) -> Phrase:
        head, self._pending = tuple(self._pending[:count]), self._pending[count:]
        self._since_s = now_s
        self._next_id += 1
        return Phrase(id=self._next_id - 1, tokens=head, terminator=terminator)

    def _ends_here(self) -> bool:
        text = _joined(self._pending)
        return has_words(text) and _ends_phrase(text, surely=True)

    def _ends_before(self, text: str) -> bool:
        text_before = _joined(self._pending)
        if not has_words(text_before) or not starts_word(self._pending[-1].text, text):
            return False
        new_line = text[0] == "\n" and bool(text.strip())
        return _ends_phrase(text_before + "\n" if new_line else text_before, surely=False)

    def _word_cut(self) -> int:
        """Where the last word begins, if speakable words come before it; else 0."""
        for at in range(len(self._pending) - 1, 0, -1):
            if starts_word(self._pending[at - 1].text, self._pending[at].text):
                at = self._without_unfinished(at)
                return at if has_words(_joined(self._pending[:at])) else 0
        return 0

    def _without_unfinished(self, at: int) -> int:
        """Step back over tokens without text: they are the first bytes of the character that follows."""
        while at > 1 and not self._pending[at - 1].text:
            at -= 1
        return at


def has_words(text: str) -> bool:
    """Whether the text has a letter or digit."""
    return any(char.isalnum() for char in text)


def starts_word(before: str, text: str) -> bool:
    """Whether a word begins at `text`: after a space, or where a script without spaces is written."""
    return bool(text) and (text[0].isspace() or _is_wide(text[0]) or (before != "" and _is_wide(before[-1])))


def _is_wide(char: str) -> bool:
    return "\u2e80" <= char <= "\u9fff" or "\uff00" <= char <= "\uffef"


def _joined(tokens: list[Token]) -> str:
    return "".join(token.text for token in tokens)


def _ends_phrase(text: str, *, surely: bool) -> bool:
    """Whether the text ends a phrase: for sure, or provided that a new word follows."""
    stripped = text.rstrip()
    spaced = len(stripped) < len(text)
    if "\n" in text[len(stripped) :]:
        return not _LIST_NUMBER.fullmatch(stripped.strip())
    marked = stripped.rstrip(_CLOSERS)
    if not marked or marked[-1] not in _MARKS + _WIDE_MARKS:
        return False
    if marked[-1] in _WIDE_MARKS:
        return True
    word = marked.split()[-1].lstrip(_OPENERS)
    if _is_abbreviation(word) or _LIST_NUMBER.fullmatch(marked.strip()):
        return False
    return not surely or spaced or not _may_go_on(word)


def _is_abbreviation(word: str) -> bool:
    return word.lower() in _TITLES | _SHORT_FORMS or (_DOTTED.fullmatch(word) is not None and word != "I.")


def _may_go_on(word: str) -> bool:
    """Whether the mark at the end of `word` may be inside it: 3.14, 1,000, 10:30, v2.0, an address."""
    return word[-1] in ".…" or (word[-1] in ",:" and word[-2:-1].isdigit()) or _ADDRESS.search(word) is not None
