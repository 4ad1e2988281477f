"""Where `eliza-agent` begins: the verb that programs poll is answered at once, the others get a command line."""

from __future__ import annotations

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and leave with a documented exit code."""
    words = sys.argv[1:]
    if words and words[0] == "status" and set(words[1:]) <= {"--json"}:
        # Answered without building a command-line parser: that alone would cost a third of the time allowed.
        from eliza_agent.surfaces.status import quick_status

        sys.exit(quick_status(as_json="--json" in words))
    from eliza_agent.surfaces.cli import cli

    cli(prog_name="eliza-agent", windows_expand_args=False)
    raise AssertionError("click leaves by itself")
