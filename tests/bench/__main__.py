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

from eliza_catalog.parts.__main__ import make_demo_hub
from eliza_catalog.parts.small import text_part

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
BUILD = ROOT / "build" / "bench"


def built() -> tuple[Path, Path, Path]:
    """Build our library, llama-bench and our own `measure` in one folder, so that all run the same objects."""
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(BUILD), "-G", "Ninja", "-DELIZA_BUILD_BENCH=ON"]
    targets = ["--target", "elizainference", "llama-bench", "measure", "-j", str(os.cpu_count() or 2)]
    for command in ([*configure, f"-DPython3_EXECUTABLE={sys.executable}"], ["cmake", "--build", str(BUILD), *targets]):
        subprocess.run(command, check=True, stdout=sys.stderr)
    library = next((BUILD / "lib").glob("*elizainference.*"))
    os.environ["ELIZA_NATIVE_LIB"] = str(library)
    return library, program("llama-bench"), program("measure")


def program(name: str) -> Path:
    """Return a built program."""
    return next(path for path in BUILD.rglob(f"{name}*") if path.is_file() and os.access(path, os.X_OK))


def say(told: str) -> None:
    """Tell on stderr what is fetched."""
    print(told, file=sys.stderr)


def bundle(kind: str) -> str:
    """Return the folder of a stand-in, made once."""
    return str(make_demo_hub(kind, ROOT / "build" / f"bench-{kind}", cache_folder()))


def llm() -> list[str]:
    """Return the arguments of the text bench; the library it loads is the one built here."""
    _, bench, _ = built()
    return [str(text_part(cache_folder(), say)), str(bench)]


def engine() -> list[str]:
    """Return the arguments of the bench without Python."""
    _, bench, measure = built()
    return [str(text_part(cache_folder(), say)), str(bench), str(measure)]


def speculation() -> list[str]:
    """Return the arguments of the drafting bench."""
    folder = Path(bundle("small"))
    return [str(next(folder.glob("text/*.gguf"))), str(next(folder.glob("mtp/*.gguf")))]


def kokoro() -> list[str]:
    """Return the arguments of the voice bench."""
    return [str(real_export()), str(real_voice())]


BENCHES: dict[str, Callable[[], list[str]]] = {
    "status": list,
    "vad": list,
    "kokoro": kokoro,
    "whisper": list,
    "llm": llm,
    "engine": engine,
    "speculation": speculation,
    "interruption": lambda: [bundle("tiny")],
    "regions": lambda: [bundle("small")],
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
