"""The PCM ring between synthesis and the loudspeaker: write, read, withdraw, drain now.

Holds float samples and absolute positions, and never loses audio by itself: a full ring takes less, and the
writer waits. Knows no clock and no thread; whoever shares it hands in the lock that guards it. Keeps contract
section 4 (barge-in drains at once) and facts 6.4, without the silent overwrite described there.
"""

from __future__ import annotations

from array import array
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

Samples: TypeAlias = "array[float] | memoryview"


class EpochPassed(Exception):
    """Audio was taken back since the writer began; what comes late was not taken."""


class Ring:
    """A ring of mono float samples with absolute positions.

    Positions count samples from the ring's birth; what is taken back unheard leaves no gap, so `played` is the
    number of samples that the speaker really got. Taking back starts a new epoch; a writer states the epoch it
    belongs to, so late audio of an old turn or of a withdrawn phrase can never be heard.

    Args:
        capacity_samples: how many unread samples it can hold; at least one.
        guard: held during every operation; hand in a lock when threads share the ring.
    """

    def __init__(self, capacity_samples: int, guard: AbstractContextManager[object] | None = None) -> None:
        if capacity_samples < 1:
            raise ValueError("a ring holds at least one sample")
        self._capacity = capacity_samples
        self._guard = guard if guard is not None else nullcontext()
        self._store = memoryview(array("f", bytes(4 * capacity_samples)))
        self._read = 0
        self._written = 0
        self._epoch = 0

    @property
    def capacity(self) -> int:
        """Samples that fit."""
        return self._capacity

    @property
    def epoch(self) -> int:
        """The current epoch; `drain` and `withdraw` start the next."""
        return self._epoch

    @property
    def written(self) -> int:
        """Position after the last sample taken."""
        return self._written

    @property
    def played(self) -> int:
        """Position after the last sample handed to the speaker."""
        return self._read

    def __len__(self) -> int:
        return self._written - self._read

    @property
    def pressure(self) -> float:
        """Fill level, 0 to 1."""
        return len(self) / self._capacity

    def write(self, samples: Samples, epoch: int) -> int:
        """Take as many samples as fit and return that number, which may be 0.

        Raises:
            EpochPassed: audio was taken back since `epoch`; nothing was taken.
        """
        source = memoryview(samples)
        with self._guard:
            if epoch != self._epoch:
                raise EpochPassed
            count = min(len(source), self._capacity - len(self))
            at = self._written % self._capacity
            first = min(count, self._capacity - at)
            self._store[at : at + first] = source[:first]
            self._store[: count - first] = source[first:count]
            self._written += count
            return count

    def read_into(self, out: Samples) -> int:
        """Fill the head of `out` with the oldest samples and return how many there were."""
        target = memoryview(out)
        with self._guard:
            count = min(len(target), len(self))
            at = self._read % self._capacity
            first = min(count, self._capacity - at)
            target[:first] = self._store[at : at + first]
            target[first:count] = self._store[: count - first]
            self._read += count
            return count

    def withdraw(self, position: int) -> int:
        """Take back the unread samples from `position` on, start the next epoch; return how many they were."""
        with self._guard:
            keep_to = min(max(position, self._read), self._written)
            dropped = self._written - keep_to
            self._written = keep_to
            self._epoch += 1
            return dropped

    def drain(self) -> int:
        """Throw away everything unread, start the next epoch, and return how many samples went."""
        with self._guard:
            dropped = len(self)
            self._written = self._read
            self._epoch += 1
            return dropped
