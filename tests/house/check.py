"""Run every check of the house and fail at the end if one failed, so that one run shows all.

Usage: `python tests/house/check.py [--format]` from the top of the checkout; `--format` rewrites the C++ files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
PACKAGES = [
    "agent/eliza_agent",
    "capabilities/eliza_capabilities",
    "catalog/eliza_catalog",
    "native/eliza_native",
]


def cpp_files() -> list[str]:
    """Our own C and C++ files."""
    return sorted(str(p.relative_to(ROOT)) for p in (ROOT / "native").rglob("*") if p.suffix in {".c", ".cpp", ".h"})


def commands(rewrite: bool) -> list[list[str]]:
    """The checks, in the order of their speed."""
    clang = [
        str(BIN / "clang-format"),
        "--style=file:native/.clang-format",
        *(["-i"] if rewrite else ["-n", "-Werror"]),
    ]
    return [
        [str(BIN / "ruff"), "check", "."],
        [str(BIN / "ruff"), "format", "--check", "."],
        [*clang, *cpp_files()],
        [str(BIN / "lint-imports")],
        [str(BIN / "mypy"), *PACKAGES, "tests", "packaging"],
    ]


def main() -> int:
    """Run them all."""
    # The import walls are those of this tree, whatever is installed beside it.
    rooms = os.pathsep.join(str(ROOT / package.split("/")[0]) for package in PACKAGES)
    environment = {**os.environ, "PYTHONPATH": rooms}
    failed = []
    for command in commands("--format" in sys.argv):
        name = Path(command[0]).name
        print(f"== {name}", flush=True)
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0:
            failed.append(name)
    print("failed: " + ", ".join(failed) if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
