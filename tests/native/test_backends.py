"""The library as modules: one package for processors old and new, and for a host with and without a GPU.

Built and run by `make backends` only, for it takes minutes; on a machine without a GPU, Mesa's software device stands
in for one (Debian: glslc libvulkan-dev mesa-vulkan-drivers spirv-headers).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "backends"
pytestmark = [pytest.mark.backends, pytest.mark.timeout(3600)]

ANSWER = """
import json, sys
from pathlib import Path
from tests.support.text_turns import run
from eliza_catalog.errors import NativeError
from eliza_native.context import Context
from eliza_native.library import open_library
from eliza_native.text import StreamConfig
library = open_library(None)
report = library.report()
with Context(library, Path(sys.argv[1])) as context:
    prompt = [11 + place * 41 % 250 for place in range(40)]
    config = StreamConfig(context_size=256, max_tokens=24, n_gpu_layers=int(sys.argv[2]))
    try:
        tokens = run(context, prompt, config).tokens
    except NativeError as error:
        sys.exit(error.details["said"])
devices = {backend.name: [device.description for device in backend.devices] for backend in report.backends}
print(json.dumps({"tokens": tokens, "devices": devices, "features": report.cpu_features,
                  "kernels": sorted(report.kernels)}))
"""


def build(*options: str) -> Path:
    """Build into one folder, so that nothing is compiled twice, and return the folder of the libraries."""
    configure = ["cmake", "-S", str(ROOT / "native"), "-B", str(BUILD), "-G", "Ninja"]
    flags = [f"-DPython3_EXECUTABLE={sys.executable}", "-DELIZA_DYNAMIC_BACKENDS=ON", *options]
    compiling = ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count() or 2), "--target", "elizainference"]
    for command in ([*configure, *flags], compiling):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return BUILD / "lib"


@pytest.fixture(scope="session")
def modules() -> Path:
    has_vulkan = shutil.which("glslc") is not None and Path("/usr/include/vulkan/vulkan.h").is_file()
    if not has_vulkan:
        pytest.skip("NEEDS glslc, the Vulkan headers and a Vulkan device")
    return build("-DELIZA_BACKENDS=cpu;vulkan")


def attempt(folder: Path, code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "ELIZA_NATIVE_LIB": str(next(folder.glob("*elizainference.so"))),
        "ELIZA_THREADS": "1",
        "GGML_VK_VISIBLE_DEVICES": "0",  # else a software device is passed over
        "PYTHONPATH": os.pathsep.join(str(ROOT / each) for each in (".", "agent", "capabilities", "catalog", "native")),
    }
    command = [sys.executable, "-c", code, *arguments] if code else [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)


def run(folder: Path, code: str, *arguments: str) -> str:
    done = attempt(folder, code, *arguments)
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]
    return done.stdout


@pytest.fixture(scope="session")
def on_cpu(modules: Path, models: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads(run(modules, ANSWER, str(models / "noise"), "0"))
    return told


def test_the_devices_are_found_beside_the_library(on_cpu: dict[str, object]) -> None:
    devices = on_cpu["devices"]
    assert isinstance(devices, dict)
    assert {"CPU", "Vulkan"} <= set(devices)
    assert devices["Vulkan"], "the Vulkan loader shows no device"
    assert on_cpu["kernels"] == ["mtp"]


def test_a_gpu_says_what_the_processor_says(modules: Path, models: Path, on_cpu: dict[str, object]) -> None:
    on_gpu = json.loads(run(modules, ANSWER, str(models / "noise"), "-1"))
    assert len(on_gpu["tokens"]) == 24
    assert on_gpu["tokens"] == on_cpu["tokens"]


def test_every_generation_of_processors_that_runs_here_says_the_same(
    modules: Path, models: Path, on_cpu: dict[str, object], tmp_path: Path
) -> None:
    generations = sorted(modules.glob("libggml-cpu-*.so"))
    assert len(generations) > 5
    ran = {}
    for module in generations:
        folder = tmp_path / module.stem
        folder.mkdir()
        for library in modules.glob("*.so"):
            if library == module or not library.name.startswith(("libggml-cpu", "libggml-vulkan")):
                (folder / library.name).symlink_to(library)
        done = attempt(folder, ANSWER, str(models / "noise"), "0")
        if done.returncode == 0:
            ran[module.stem] = json.loads(done.stdout)["tokens"]
        else:  # made for a processor that this one is not: said so, not crashed
            assert "no code for this processor" in done.stderr, done.stderr[-3000:]
    assert "libggml-cpu-x64" in ran
    assert all(tokens == on_cpu["tokens"] for tokens in ran.values()), ran


def test_the_device_pass_holds_with_modules(modules: Path) -> None:
    run(modules, "", "-m", "pytest", "-q", "-m", "slow", "tests/agent/verify/test_device_pass_real.py")
