from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.support.pcm import tone

from eliza_agent.voice.chunker import Chunker, ChunkPolicy, Phrase, Terminator, Token
from eliza_agent.voice.ring import Ring
from eliza_agent.voice.rollback import PhraseState, Rollback
from eliza_agent.voice.turn import Spoken


def phrase(phrase_id: int, start: int, end: int) -> Phrase:
    tokens = tuple(Token(index=at, id=at, text=f" w{at}") for at in range(start, end))
    return Phrase(id=phrase_id, tokens=tokens, terminator=Terminator.PUNCTUATION)


def test_a_rejected_token_takes_back_only_what_is_unheard() -> None:
    rollback = Rollback()
    for at, (start, end) in enumerate([(0, 3), (3, 6), (6, 9)]):
        rollback.add(phrase(at, start, end))
    rollback.synthesising(0, 0)
    rollback.buffered(0, 300)
    rollback.played_to(300)
    rollback.synthesising(1, 300)
    rollback.buffered(1, 600)
    rollback.synthesising(2, 600)
    taken = rollback.reject_from(5)
    assert taken.phrase_ids == (1, 2)
    assert taken.cancel_synthesis
    assert taken.ring_from == 300
    assert [token.index for token in taken.again] == [3, 4]
    assert rollback.states() == {0: PhraseState.PLAYED, 1: PhraseState.WITHDRAWN, 2: PhraseState.WITHDRAWN}


def test_half_open_span_leaves_the_phrase_that_ends_there() -> None:
    rollback = Rollback()
    rollback.add(phrase(0, 0, 3))
    assert rollback.reject_from(3).phrase_ids == ()


def test_a_phrase_heard_in_part_keeps_its_heard_words() -> None:
    rollback = Rollback()
    rollback.add(phrase(0, 0, 4))
    rollback.synthesising(0, 0)
    rollback.buffered(0, 400)
    rollback.played_to(250)
    taken = rollback.reject_from(3)
    assert (taken.ring_from, [token.index for token in taken.again]) == (250, [2])
    assert rollback.spoken(4) == (Spoken.PARTLY, 2)


def test_silence_is_not_at_all_and_everything_is_wholly() -> None:
    rollback = Rollback()
    rollback.add(phrase(0, 0, 2))
    assert rollback.spoken(2) == (Spoken.NOT_AT_ALL, 0)
    rollback.synthesising(0, 0)
    rollback.buffered(0, 10)
    rollback.played_to(10)
    assert rollback.spoken(2) == (Spoken.WHOLLY, 2)
    assert rollback.spoken(3) == (Spoken.PARTLY, 2)


def test_a_phrase_without_sound_does_not_spoil_the_whole() -> None:
    rollback = Rollback()
    rollback.add(phrase(0, 0, 2))
    rollback.add(phrase(1, 2, 3))
    rollback.synthesising(0, 0)
    rollback.buffered(0, 10)
    rollback.skipped(1)
    rollback.played_to(10)
    assert rollback.spoken(3) == (Spoken.WHOLLY, 2)


class Speech(RuleBasedStateMachine):
    """Any order of tokens, rejections, synthesis and playback, with the real chunker and ring.

    Each token sounds as ten samples of its own serial number, so the played samples tell what was heard.
    """

    def __init__(self) -> None:
        super().__init__()
        self.chunker, self.rollback, self.ring = Chunker(ChunkPolicy(max_tokens=4, budget_ms=0)), Rollback(), Ring(1000)
        self.accepted: list[Token] = []
        self.withdrawn: set[int] = set()
        self.heard: list[float] = []
        self.queue: list[Phrase] = []
        self.serial = 1

    def _add(self, phrases: tuple[Phrase, ...]) -> None:
        for new in phrases:
            self.rollback.add(new)
            self.queue.append(new)

    @rule(text=st.sampled_from([" a", ".", ",", " b"]))
    def accept(self, text: str) -> None:
        token = Token(index=len(self.accepted), id=self.serial, text=text)
        self.serial += 1
        self.accepted.append(token)
        self._add(self.chunker.push(token, 0.0))

    @precondition(lambda self: self.queue)
    @rule()
    def synthesise(self) -> None:
        spoken = self.queue.pop(0)
        if not self.rollback.is_wanted(spoken.id):
            return
        self.rollback.synthesising(spoken.id, self.ring.written)
        for token in spoken.tokens:
            assert self.ring.write(tone(float(token.id), 10), self.ring.epoch) == 10
        self.rollback.buffered(spoken.id, self.ring.written)

    @rule(count=st.integers(1, 60))
    def play(self, count: int) -> None:
        out = tone(0.0, count)
        got = self.ring.read_into(out)
        self.heard.extend(out[:got])
        self.rollback.played_to(self.ring.played)

    @precondition(lambda self: self.accepted)
    @rule(data=st.data())
    def reject(self, data: st.DataObject) -> None:
        # The verifier never takes back what was already heard: the chunker gets verified tokens only.
        heard_to = max((token.index + 1 for token in self.accepted if float(token.id) in self.heard), default=0)
        index = data.draw(st.integers(heard_to, len(self.accepted)))
        self.withdrawn |= {token.id for token in self.accepted[index:]}
        self.accepted = self.accepted[:index]
        taken = self.rollback.reject_from(index)
        if taken.ring_from is not None:
            self.ring.withdraw(taken.ring_from)
        self.chunker.drop_from(index)
        self.chunker.take_back(taken.again, 0.0)

    @invariant()
    def what_is_heard_was_accepted_and_never_withdrawn(self) -> None:
        ids = {int(sample) for sample in self.heard}
        assert not ids & self.withdrawn
        assert ids <= {token.id for token in self.accepted}

    @invariant()
    def every_accepted_token_is_in_exactly_one_place(self) -> None:
        waiting = [token.index for token in self.chunker.pending]
        open_phrases = [token.index for phrase in self.rollback.unspoken for token in phrase.tokens]
        played = [token.index for token in self.rollback.spoken_tokens()]
        assert set(waiting) | set(open_phrases) | set(played) == set(range(len(self.accepted)))
        assert len(waiting) == len(set(waiting))
        assert not set(waiting) & set(open_phrases)

    def teardown(self) -> None:
        self._add(self.chunker.finish())
        while self.queue:
            self.synthesise()
            self.play(60)
        while len(self.ring):
            self.play(60)
        order = [int(sample) for sample in self.heard]
        assert sorted(set(order)) == sorted(token.id for token in self.accepted)
        if self.accepted:
            assert self.rollback.spoken(len(self.accepted))[0] is Spoken.WHOLLY


TestSpeech = Speech.TestCase
TestSpeech.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
