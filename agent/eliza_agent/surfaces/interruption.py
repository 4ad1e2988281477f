"""Ctrl-C as a cancellation: a call into the library ends before its handles close, so nothing is torn down under it.

The event loop's own handling would drop the task and leave its threads running in the library, and the interpreter
would then die in native code. Where the loop cannot watch signals (Windows) that handling is all there is.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import anyio
from anyio.abc import TaskStatus

from eliza_agent.surfaces.leaving import INTERRUPTED

Result = TypeVar("Result")


async def until_interrupted(call: Callable[[], Awaitable[Result]]) -> Result:
    """Return what `call` returns; a second Ctrl-C ends the process at once.

    Raises:
        KeyboardInterrupt: the first Ctrl-C, after everything has unwound.
    """
    if sys.platform == "win32":
        return await call()
    results: list[Result] = []
    work, watch = anyio.CancelScope(), anyio.CancelScope(shield=True)
    async with anyio.create_task_group() as tasks:
        await tasks.start(_watch, watch, work)
        try:
            with work:
                results.append(await call())
        finally:
            watch.cancel()
    if not results:
        raise KeyboardInterrupt
    return results[0]


@contextmanager
def plain_ctrl_c() -> Iterator[None]:
    """While a question waits for its answer the event loop stands still, so Ctrl-C must end the reading itself."""
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


async def _watch(
    watch: anyio.CancelScope, work: anyio.CancelScope, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
) -> None:
    with watch, anyio.open_signal_receiver(signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            if work.cancel_called:
                os._exit(INTERRUPTED)
            work.cancel()
