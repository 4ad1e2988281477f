"""Story: memory runs out, or the bundle is deleted under a running engine; it says so and never crashes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.hearing import Vad
from eliza_native.library import Library
from eliza_native.meaning import embed
from eliza_native.text import StreamConfig, TextStream

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="NEEDS Linux: address space limits and open deleted files"
)

# What a program does with little room: every family once. Prints the error codes that it met.
HUNGRY = """
import resource, sys, threading
from array import array
from pathlib import Path
from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.hearing import Hearing
from eliza_native.library import open_library
from eliza_native.meaning import embed, end_of_turn
from eliza_native.text import StreamConfig, TextStream
from eliza_native.vision import describe_image

models, room_mib, picture = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]).read_bytes()
library = open_library(None)
finished = []

def starve():
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = held + (room_mib << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with Context(library, models / "noise") as noise, Context(library, models / "hearing") as ears:
        use_everything(noise, ears)
    finished.append(True)

def use_everything(noise, ears):
    for use in (
        lambda: generate(noise), lambda: embed(noise, "word " * 40), lambda: end_of_turn(noise, [11, 12], 20),
        lambda: describe_image(noise, picture), lambda: Hearing(ears).transcribe(array("f", [0.1, -0.1] * 20000)),
        lambda: generate(noise),
    ):
        try:
            use()
            print("done")
        except NativeError as error:
            print(error.code, file=sys.stdout)
            print(error.code, error.details, file=sys.stderr)
        except MemoryError:  # Python itself has no room left
            print("python")

def generate(context):
    with TextStream(context, StreamConfig(context_size=4096, max_tokens=8)) as stream:
        stream.prefill([11 + place % 200 for place in range(600)])
        while not stream.next().final:
            pass

# A main thread's stack grows while it runs, and dies where it cannot; another thread's is whole from the start.
threading.stack_size(16 << 20)
starving = threading.Thread(target=starve)
starving.start()
starving.join()
sys.exit(0 if finished else 1)
"""


def hungry(models: Path, room_mib: int, picture: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HUNGRY, str(models), str(room_mib), str(picture)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from eliza_agent.verify.perception_steps import picture_for_test

    path = tmp_path_factory.mktemp("picture") / "square.png"
    path.write_bytes(picture_for_test())
    return path


@pytest.mark.parametrize("room_mib", [*range(1, 20, 2), *range(20, 120, 12)])
def test_little_room_is_an_error_and_no_crash(models: Path, picture: Path, room_mib: int) -> None:
    done = hungry(models, room_mib, picture)
    assert done.returncode == 0, (room_mib, done.returncode, done.stdout, done.stderr[-1500:])
    assert set(done.stdout.split()) <= {"done", "python", "native.out_of_memory", "native.status"}


def test_enough_room_is_enough(models: Path, picture: Path) -> None:
    assert set(hungry(models, 4096, picture).stdout.split()) == {"done"}


@pytest.fixture
def doomed(library: Library, models: Path, tmp_path: Path) -> Path:
    shutil.copytree(models / "noise", tmp_path / "doomed")
    return tmp_path / "doomed"


def test_what_is_loaded_outlives_its_files(library: Library, doomed: Path) -> None:
    with Context(library, doomed) as context, TextStream(context, StreamConfig(context_size=256)) as stream:
        stream.prefill([11, 12, 13])
        shutil.rmtree(doomed)
        while not stream.next().final:
            pass
        assert len(embed(context, "still here")) == 64


def test_what_was_not_loaded_is_told_to_be_gone(library: Library, doomed: Path) -> None:
    with Context(library, doomed) as context:
        shutil.rmtree(doomed)
        for use in (lambda: TextStream(context, StreamConfig()), lambda: embed(context, "word"), lambda: Vad(context)):
            with pytest.raises(NativeError) as caught:
                use()
            assert caught.value.code == "native.bundle_invalid"


def test_an_evicted_region_of_a_deleted_bundle_does_not_come_back(library: Library, doomed: Path) -> None:
    with Context(library, doomed) as context:
        context.acquire("text")
        context.evict("text")
        shutil.rmtree(doomed)
        with pytest.raises(NativeError) as caught:
            context.acquire("text")
        assert caught.value.code == "native.bundle_invalid"
