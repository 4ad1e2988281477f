"""Makes `eliza_agent/phonemes/data/*.tsv.gz` out of the lexicons in misaki's wheel; run by hand, never shipped.

`python agent/regenerate_lexicon.py MISAKI_WHEEL`, the wheel from `pip download --no-deps misaki==0.9.4`. The package
itself is not a dependency: it refuses newer Pythons and brings compiled parts, while its data need neither.
"""

from __future__ import annotations

import gzip
import json
import sys
import zipfile
from pathlib import Path

VARIANTS = {"en-us": "us", "en-gb": "gb"}
DATA = Path(__file__).resolve().parent / "eliza_agent" / "phonemes" / "data"

Uses = dict[str, str | None]


def main() -> None:
    """Write both tables."""
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        for variant, prefix in VARIANTS.items():
            gold = json.loads(wheel.read(f"misaki/data/{prefix}_gold.json"))
            silver = json.loads(wheel.read(f"misaki/data/{prefix}_silver.json"))
            packed = gzip.compress(table(gold, silver), compresslevel=9, mtime=0)
            (DATA / f"{variant}.tsv.gz").write_bytes(packed)


def table(gold: dict[str, str | Uses], silver: dict[str, str]) -> bytes:
    """Return the sorted lines `word TAB value NEWLINE`; gold wins over silver."""
    lines = {word: f"~{phonemes}" for word, phonemes in silver.items() if phonemes}
    lines.update({word: value for word, uses in gold.items() if (value := line_value(uses))})
    ordered = sorted((word.encode("utf-8"), value.encode("utf-8")) for word, value in lines.items())
    return b"".join(word + b"\t" + value + b"\n" for word, value in ordered)


def line_value(uses: str | Uses) -> str:
    """Return phonemes as they are, or `USE=phonemes` pairs; an empty right side means "spelled out"."""
    if isinstance(uses, str):
        return uses
    return " ".join(f"{use}={phonemes or ''}" for use, phonemes in sorted(uses.items()))


if __name__ == "__main__":
    main()
