"""Stories of the bar: true bytes, a rate of now, and not too many words."""

from __future__ import annotations

import pytest

from eliza_agent.download.events import DownloadEvent, Progress
from eliza_agent.download.meter import Meter
from eliza_catalog.terms import BundlePath, Sha256

A, B = Sha256("a" * 64), Sha256("b" * 64)
PATH = BundlePath("text/t.gguf")


class Bar:
    """A meter of 1,000 bytes with a clock of its own."""

    def __init__(self) -> None:
        self.now, self.events = 0.0, list[DownloadEvent]()
        self.meter = Meter(1_000, self.events.append, 10, clock=lambda: self.now)

    @property
    def last(self) -> Progress:
        event = self.events[-1]
        assert isinstance(event, Progress)
        return event


@pytest.fixture
def bar() -> Bar:
    return Bar()


def test_what_was_there_counts_and_makes_no_rate(bar: Bar) -> None:
    bar.meter.credit(A, 400)
    bar.meter.moved(B, PATH, 100)  # a kept part, seen for the first time
    bar.now = 1.0
    bar.meter.moved(B, PATH, 100)
    assert (bar.last.received_bytes, bar.last.bytes_per_s, bar.last.eta_s) == (500, 0.0, None)


def test_the_rate_is_of_the_last_seconds(bar: Bar) -> None:
    bar.meter.moved(A, PATH, 0)
    for second in range(1, 21):
        bar.now = float(second)
        bar.meter.moved(A, PATH, min(10, second) * 50)
    assert bar.last.bytes_per_s == 0.0
    bar.now = 21.0
    bar.meter.moved(A, PATH, 1_000)
    assert 50 < bar.last.bytes_per_s <= 500
    assert bar.last.eta_s == 0.0


def test_a_restart_takes_the_bar_back_and_no_rate_is_negative(bar: Bar) -> None:
    bar.meter.moved(A, PATH, 0)
    bar.now = 1.0
    bar.meter.moved(A, PATH, 600)
    bar.now = 2.0
    bar.meter.moved(A, PATH, 0)
    assert bar.last.received_bytes == 0
    assert bar.last.bytes_per_s >= 0


def test_no_more_than_ten_events_a_second(bar: Bar) -> None:
    for step in range(1_000):
        bar.now = step / 1_000
        bar.meter.moved(A, PATH, step)
    assert 8 <= len(bar.events) <= 11
