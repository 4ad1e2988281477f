"""The rollback queue: which phrases may still be withdrawn, and how much of the answer was heard.

Follows each phrase from the chunker to the speaker by positions in the ring, and says what a rejected span
takes back. Cancels and drains nothing itself; the caller obeys. Keeps contract section 4 (coupling of drafter
and speech) and facts 6.3, but splits at the rejected token instead of dropping the accepted head.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from eliza_agent.voice.chunker import Phrase, Token
from eliza_agent.voice.turn import Spoken


class PhraseState(StrEnum):
    """How far a phrase has come."""

    QUEUED = "queued"
    SYNTHESISING = "synthesising"
    BUFFERED = "buffered"
    PLAYED = "played"
    WITHDRAWN = "withdrawn"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """What the caller must do: cancel the running synthesis, take back ring samples, say the rest again.

    `ring_from` is a ring position or None; `again` are accepted tokens whose sound was taken back with them.
    """

    phrase_ids: tuple[int, ...] = ()
    cancel_synthesis: bool = False
    ring_from: int | None = None
    again: tuple[Token, ...] = ()


@dataclass(slots=True, kw_only=True)
class _Entry:
    phrase: Phrase
    state: PhraseState = PhraseState.QUEUED
    ring_start: int = 0
    ring_end: int | None = None

    @property
    def is_open(self) -> bool:
        return self.state in (PhraseState.QUEUED, PhraseState.SYNTHESISING, PhraseState.BUFFERED)


class Rollback:
    """The phrases of one turn, in the order in which they are spoken."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._played_to = 0
        self._withdrawn = 0
        self._begun = False

    @property
    def withdrawn(self) -> int:
        """How many phrases were taken back, wholly or from the middle."""
        return self._withdrawn

    @property
    def unspoken(self) -> tuple[Phrase, ...]:
        """Phrases that are not wholly played and still wanted."""
        return tuple(entry.phrase for entry in self._entries if entry.is_open)

    def states(self) -> dict[int, PhraseState]:
        """Each phrase's state by id."""
        return {entry.phrase.id: entry.state for entry in self._entries}

    def add(self, phrase: Phrase) -> None:
        """Take a new phrase."""
        self._entries.append(_Entry(phrase=phrase))

    def is_wanted(self, phrase_id: int) -> bool:
        """Whether the phrase should still be spoken."""
        return self._entry(phrase_id).is_open

    def synthesising(self, phrase_id: int, ring_start: int) -> None:
        """Its sound is being made; the first sample will stand at `ring_start`."""
        entry = self._entry(phrase_id)
        if entry.state is PhraseState.QUEUED:
            entry.state, entry.ring_start = PhraseState.SYNTHESISING, ring_start

    def buffered(self, phrase_id: int, ring_end: int) -> None:
        """All of its sound is in the ring, up to `ring_end`."""
        entry = self._entry(phrase_id)
        if entry.state is PhraseState.SYNTHESISING:
            entry.state, entry.ring_end = PhraseState.BUFFERED, ring_end
            self.played_to(self._played_to)

    def skipped(self, phrase_id: int) -> None:
        """It has no sound."""
        self._entry(phrase_id).state = PhraseState.SKIPPED

    def played_to(self, position: int) -> None:
        """The speaker has taken everything before `position`."""
        self._played_to = max(self._played_to, position)
        for entry in self._entries:
            self._begun = self._begun or _has_begun(entry, self._played_to)
            if entry.state is PhraseState.BUFFERED and entry.ring_end is not None:
                entry.state = PhraseState.PLAYED if entry.ring_end <= self._played_to else PhraseState.BUFFERED

    def reject_from(self, index: int) -> Withdrawal:
        """Withdraw what comes from tokens at `index` and after and is not yet heard."""
        hit = [entry for entry in self._entries if entry.is_open and entry.phrase.end > index]
        return self._withdraw(hit, index)

    def withdraw_all(self) -> Withdrawal:
        """Withdraw everything not yet heard (barge-in); nothing is said again."""
        return replace(self._withdraw([entry for entry in self._entries if entry.is_open], 0), again=())

    def spoken_tokens(self) -> tuple[Token, ...]:
        """The tokens that were heard, by the ring's positions; a phrase heard in part counts by proportion."""
        heard: list[Token] = []
        for entry in self._entries:
            if entry.state is PhraseState.PLAYED:
                heard.extend(entry.phrase.tokens)
            elif entry.state is not PhraseState.SKIPPED:
                heard.extend(entry.phrase.tokens[: _heard_count(entry, self._played_to)])
        return tuple(heard)

    def spoken(self, accepted: int) -> tuple[Spoken, int]:
        """How much of the first `accepted` tokens was heard, and the index after the last one that was.

        Phrases without sound do not count against the whole.
        """
        heard = {token.index for token in self.spoken_tokens()}
        skipped = [entry for entry in self._entries if entry.state is PhraseState.SKIPPED]
        mute = {token.index for entry in skipped for token in entry.phrase.tokens}
        end = max(heard, default=-1) + 1
        if heard and heard | mute >= set(range(accepted)):
            return Spoken.WHOLLY, end
        return (Spoken.PARTLY, end) if self._begun else (Spoken.NOT_AT_ALL, 0)

    def _withdraw(self, hit: list[_Entry], index: int) -> Withdrawal:
        if not hit:
            return Withdrawal()
        in_ring = [entry for entry in hit if entry.state is not PhraseState.QUEUED]
        ring_from = min((max(entry.ring_start, self._played_to) for entry in in_ring), default=None)
        cancels = any(entry.state is PhraseState.SYNTHESISING for entry in hit)
        again = [token for entry in hit for token in self._close(entry) if token.index < index]
        self._withdrawn += len(hit)
        ids = tuple(entry.phrase.id for entry in hit)
        return Withdrawal(phrase_ids=ids, cancel_synthesis=cancels, ring_from=ring_from, again=tuple(again))

    def _close(self, entry: _Entry) -> tuple[Token, ...]:
        """End the entry at what was heard (that is gone, contract section 4); return its unheard tokens."""
        count, tokens = _heard_count(entry, self._played_to), entry.phrase.tokens
        if count:
            entry.phrase = replace(entry.phrase, tokens=tokens[:count])
            entry.state, entry.ring_end = PhraseState.PLAYED, self._played_to
        else:
            entry.state = PhraseState.WITHDRAWN
        return tokens[count:]

    def _entry(self, phrase_id: int) -> _Entry:
        return next(entry for entry in self._entries if entry.phrase.id == phrase_id)


def _has_begun(entry: _Entry, played_to: int) -> bool:
    return entry.state in (PhraseState.SYNTHESISING, PhraseState.BUFFERED) and played_to > entry.ring_start


def _heard_count(entry: _Entry, played_to: int) -> int:
    """Tokens of an unfinished phrase that were heard: by proportion; none while its length is unknown."""
    if entry.state is not PhraseState.BUFFERED or entry.ring_end is None or played_to <= entry.ring_start:
        return 0
    length = max(1, entry.ring_end - entry.ring_start)
    return min(len(entry.phrase.tokens), len(entry.phrase.tokens) * (played_to - entry.ring_start) // length)
