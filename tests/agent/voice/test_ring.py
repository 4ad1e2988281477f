from __future__ import annotations

import threading
from array import array

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.support.pcm import tone

from eliza_agent.voice.ring import EpochPassed, Ring


def test_a_full_ring_takes_less_and_loses_nothing() -> None:
    ring = Ring(4)
    assert ring.write(array("f", [1, 2, 3, 4, 5, 6]), 0) == 4
    assert ring.write(array("f", [5, 6]), 0) == 0
    assert ring.pressure == 1.0
    out = tone(0.0, 8)
    assert ring.read_into(out) == 4
    assert list(out) == [1, 2, 3, 4, 0, 0, 0, 0]


def test_late_audio_of_a_drained_turn_is_refused() -> None:
    ring = Ring(8)
    ring.write(tone(1.0, 5), 0)
    assert ring.drain() == 5
    with pytest.raises(EpochPassed):
        ring.write(tone(1.0, 1), 0)
    assert ring.read_into(tone(0.0, 8)) == 0
    assert ring.write(tone(2.0, 3), ring.epoch) == 3


def test_a_ring_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Ring(0)


def test_nothing_stale_is_read_while_threads_write_and_drain() -> None:
    ring = Ring(64, threading.Lock())
    stop, stale = threading.Event(), list[float]()

    def read() -> None:
        out = tone(0.0, 16)
        while not stop.is_set():
            epoch = ring.epoch
            count = ring.read_into(out)
            stale.extend(value for value in out[:count] if value < epoch)

    reader = threading.Thread(target=read)
    reader.start()
    for epoch in range(300):
        for _ in range(5):
            ring.write(tone(float(epoch), 16), epoch)
        ring.drain()
    stop.set()
    reader.join()
    assert stale == []


class RingModel(RuleBasedStateMachine):
    """The ring against a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.ring, self.model, self.played, self.count = Ring(13), list[float](), 0, 0

    @rule(count=st.integers(0, 30), late=st.booleans())
    def write(self, count: int, late: bool) -> None:
        samples = array("f", range(self.count, self.count + count))
        if late:
            with pytest.raises(EpochPassed):
                self.ring.write(samples, self.ring.epoch - 1)
            return
        taken = self.ring.write(samples, self.ring.epoch)
        assert taken == min(count, 13 - len(self.model))
        self.model.extend(samples[:taken])
        self.count += taken

    @rule(count=st.integers(0, 30))
    def read(self, count: int) -> None:
        out = tone(-1.0, count)
        got = self.ring.read_into(out)
        assert list(out[:got]) == self.model[:count]
        del self.model[:got]
        self.played += got

    @rule(back=st.integers(-2, 20))
    def withdraw(self, back: int) -> None:
        keep = min(max(len(self.model) - back, 0), len(self.model))
        assert self.ring.withdraw(self.ring.written - back) == len(self.model) - keep
        del self.model[keep:]

    @rule()
    def drain(self) -> None:
        assert self.ring.drain() == len(self.model)
        self.model.clear()

    @invariant()
    def counts_agree(self) -> None:
        assert len(self.ring) == len(self.model)
        assert self.ring.played == self.played
        assert self.ring.written == self.played + len(self.model)


TestRingModel = RingModel.TestCase
TestRingModel.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
