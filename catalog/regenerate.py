"""Rebuild the generated files below `eliza_catalog/data/` from the sources they follow.

Run `python catalog/regenerate.py` after changing the manifest's dataclasses; with `--check` it writes nothing and
fails when a file has drifted. Developers only; it is not part of the package.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from eliza_catalog.schema import manifest_schema  # noqa: E402 - the package beside this script, installed or not

SCHEMA_FILE = HERE / "eliza_catalog" / "data" / "manifest.v1.schema.json"


def schema_text() -> str:
    """Return the schema file as it should be."""
    return json.dumps(manifest_schema(), indent=2, ensure_ascii=True) + "\n"


def main() -> int:
    """Write the schema file, or with `--check` compare it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file has drifted")
    if parser.parse_args().check:
        has_drifted = not SCHEMA_FILE.exists() or SCHEMA_FILE.read_text("utf-8") != schema_text()
        sys.stderr.write(f"{SCHEMA_FILE.name} has drifted; run python catalog/regenerate.py\n" if has_drifted else "")
        return int(has_drifted)
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
