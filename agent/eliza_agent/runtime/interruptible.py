"""Runs a blocking native call in a thread so that cancelling the task really stops the call.

Never abandons a thread: a cancelled task leaves only after the call has ended, so no half-used handle stays
behind. Keeps contract section 4 (cancelled at the next kernel boundary) and house rules, section 7 (a cancelled
call is a cancellation, not an error).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import anyio
from anyio import to_thread

Result = TypeVar("Result")

_AGAIN_S = 0.005


async def run_interruptible(call: Callable[[], Result], interrupt: Callable[[], object]) -> Result:
    """Return what `call` returns, from a worker thread.

    When the task is cancelled, `interrupt` is called, again and again until `call` has ended: a call that had
    not reached the library yet would miss a single one.
    """
    claim, ended = threading.Lock(), threading.Event()

    def work() -> Result:
        if not claim.acquire(blocking=False):
            raise RuntimeError("the task was cancelled before this call began")
        try:
            return call()
        finally:
            ended.set()

    try:
        return await to_thread.run_sync(work, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        if not claim.acquire(blocking=False):
            with anyio.CancelScope(shield=True):
                await _interrupt_until(ended, interrupt)
        raise


async def _interrupt_until(ended: threading.Event, interrupt: Callable[[], object]) -> None:
    interrupt()
    while not await to_thread.run_sync(ended.wait, _AGAIN_S):
        interrupt()
