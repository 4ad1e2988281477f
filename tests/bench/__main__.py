"""Run the benches one after the other: `python -m tests.bench [NAME ...] [--mib N]` (or `make bench`).

Fetches the public models once, builds llama.cpp's own bench beside our library once (with the compiler cache), and
prints what each bench prints. Each compares with a peer in the same run; a figure of a busy machine says little.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.support.kokoro_package import real_export, real_voice
from tests.support.silero_package import cache_folder

from eliza_catalog.parts.small import text_part

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "bench"


def built() -> tuple[Path, Path]:
    """Build our library and llama-bench in one folder, so that both run the same objects; return the two."""
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(BUILD), "-G", "Ninja", "-DELIZA_BUILD_BENCH=ON"]
    targets = ["--target", "elizainference", "llama-bench", "-j", str(os.cpu_count() or 2)]
    for command in ([*configure, f"-DPython3_EXECUTABLE={sys.executable}"], ["cmake", "--build", str(BUILD), *targets]):
        subprocess.run(command, check=True, stdout=sys.stderr)
    library = next((BUILD / "lib").glob("*elizainference.*"))
    return library, next(path for path in BUILD.rglob("llama-bench*") if path.is_file() and os.access(path, os.X_OK))


def llm() -> list[str]:
    """Return the arguments of the text bench; the library it loads is the one built here."""
    library, bench = built()
    os.environ["ELIZA_NATIVE_LIB"] = str(library)
    return [str(text_part(cache_folder(), lambda told: print(told, file=sys.stderr))), str(bench)]


def kokoro() -> list[str]:
    """Return the arguments of the voice bench."""
    return [str(real_export()), str(real_voice())]


BENCHES: dict[str, Callable[[], list[str]]] = {
    "status": list,
    "vad": list,
    "kokoro": kokoro,
    "whisper": list,
    "llm": llm,
    "download": list,
}


def main() -> int:
    """Run the named benches, or all; the exit code is 1 when one could not run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *BENCHES], help="default: all")
    parser.add_argument("--mib", type=int, default=1024, help="size of the verified download")
    asked = parser.parse_args()
    failed = []
    for name in asked.names or list(BENCHES):
        print(f"== {name}", flush=True)
        arguments = ["--mib", str(asked.mib)] if name == "download" else BENCHES[name]()
        if subprocess.run([sys.executable, str(HERE / f"{name}.py"), *arguments], cwd=ROOT, check=False).returncode:
            failed.append(name)
    if failed:
        print("could not run: " + ", ".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
