"""What a drafter brings: tokens per second with and without it, and how many of its proposals stood.

`python tests/bench/speculation.py MODEL.gguf DRAFTER.gguf [--draft N] [--rounds N]` from the repository's root. Each
question is answered both ways in turns, and both answers must be the same. The small stand-in's drafter is as large as
its model, so it can only slow it; a trained one is needed to show a gain.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.native_library import native_library  # noqa: E402
from tests.support.text_turns import Turn, finish  # noqa: E402

from eliza_native.context import Context  # noqa: E402
from eliza_native.text import StreamConfig, TextStream  # noqa: E402
from eliza_native.tokens import tokenize  # noqa: E402

QUESTIONS = ("List the numbers from one to twenty.", "What is rain?", "Say the alphabet.")
ANSWER_TOKENS = 96


def answer(context: Context, config: StreamConfig, question: str) -> tuple[Turn, float]:
    """Return the answer and its tokens per second, the prompt not counted."""
    text = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
    with TextStream(context, config) as stream:
        stream.prefill(tokenize(context, text))
        begin = time.perf_counter()
        turn = finish(stream)
        return turn, len(turn.tokens) / (time.perf_counter() - begin)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("drafter", type=Path)
    parser.add_argument("--draft", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    plain = StreamConfig(context_size=512, max_tokens=ANSWER_TOKENS)
    drafted = StreamConfig(context_size=512, max_tokens=ANSWER_TOKENS, drafter=asked.drafter, draft_max=asked.draft)
    speeds: dict[str, list[float]] = {"plain": [], "drafted": []}
    proposals = kept = 0
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "text").mkdir()
        (Path(folder) / "text" / "model.gguf").symlink_to(asked.model.resolve())
        with Context(native_library(), Path(folder)) as context:
            answer(context, drafted, QUESTIONS[0])  # pages the weights in
            for _ in range(asked.rounds):
                for question in QUESTIONS:
                    alone, alone_speed = answer(context, plain, question)
                    together, together_speed = answer(context, drafted, question)
                    if alone.tokens != together.tokens:
                        raise SystemExit(f"the drafter changed the answer to '{question}'")
                    speeds["plain"].append(alone_speed)
                    speeds["drafted"].append(together_speed)
                    proposals, kept = proposals + together.drafted, kept + together.accepted
    medians = {name: round(statistics.median(each), 2) for name, each in speeds.items()}
    ratio = round(medians["drafted"] / medians["plain"], 3)
    counts = {"drafted": proposals, "accepted": kept, "acceptance": round(kept / max(proposals, 1), 3)}
    print(json.dumps({"tokens_per_s": {**medians, "ratio": ratio}, "proposals": counts}, indent=2))


if __name__ == "__main__":
    main()
