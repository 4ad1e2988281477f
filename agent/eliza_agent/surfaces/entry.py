"""Where `eliza-agent` begins: the verb that programs poll is answered at once, the others get a command line."""

from __future__ import annotations

import gc
import os
import signal
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave with a documented exit code."""
    if sys.platform != "win32":
        # Until a verb runs there is nothing to unwind, and an exception inside an import would be told as another one.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    words = sys.argv[1:]
    as_json = "--json" in words
    try:
        if words and words[0] == "status" and set(words[1:]) <= {"--json"}:
            _answer_at_once(as_json)
        from eliza_agent.surfaces.cli import run_words

        sys.exit(run_words(words, as_json=as_json))
    except KeyboardInterrupt:
        from eliza_agent.surfaces.leaving import leave_interrupted

        leave_interrupted(as_json)


def _answer_at_once(as_json: bool) -> NoReturn:
    """Answer `status` within the tenth of a second that it may take.

    Building a command-line parser would cost a third of that. Collecting garbage while modules load and taking the
    interpreter down in order were measured at a sixth together; reading three small files needs neither.
    """
    gc.disable()
    from eliza_agent.surfaces.status import quick_status

    code = quick_status(as_json=as_json)
    sys.stdout.flush()
    os._exit(code)
