"""The real weights: float against the official code stage by stage, and what ships against onnxruntime's int8.

The export dequantises to the same float weights on all sides. Our q8_0 and onnxruntime's int8 both round
activations, each in its own way, so they are measured by their distance from the float computation.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the official implementation needs torch")
pytest.importorskip("transformers", reason="the official implementation needs transformers")
pytest.importorskip("onnxruntime", reason="the rival is onnxruntime")
pytest.importorskip("onnx", reason="the export is read with onnx")
if importlib.util.find_spec("kokoro") is None:
    pytest.skip("the official kokoro package is not installed", allow_module_level=True)

import numpy as np
from tests.parity.kokoro_official import build_model, load_canonical, run_official
from tests.support.kokoro_export import run_export
from tests.support.kokoro_package import real_export, real_model, real_phrase, real_voice
from tests.support.kokoro_stages import Said, build_dump, relative_rms, run_dump, units_of
from tests.support.native_library import native_library

from eliza_catalog.convert.kokoro import Dtype
from eliza_catalog.convert.kokoro_layout import KokoroShape
from eliza_catalog.convert.kokoro_onnx import read_onnx
from eliza_catalog.convert.kokoro_vocabulary import VOCABULARY
from eliza_native.context import Context
from eliza_native.speech import Speech

pytestmark = [pytest.mark.parity, pytest.mark.timeout(1500)]

IPA = "ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ."
UNIT_SAMPLES = 600
BANDS = 20
FLOOR_DB = -70.0

F32_TOLERANCES = {
    "bert": 1e-5, "encoded": 1e-5, "durations": 2e-6, "content": 2e-6, "f0": 2e-6, "n": 2e-6, "decoder": 4e-6,
    "source": 1e-2, "spectrum": 1e-2, "wave": 3e-2,
}  # fmt: skip
# the float export keeps its LSTMs' rounding
EXPORT_TOLERANCES = {"f0": 4e-3, "n": 6e-3, "decoder": 8e-3}


@pytest.fixture(scope="module")
def dump_tool() -> Path:
    return build_dump()


@pytest.fixture(scope="module")
def in_float(dump_tool: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return say(dump_tool, "f32", tmp_path_factory.mktemp("f32"))


@pytest.fixture(scope="module")
def shipped(dump_tool: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return say(dump_tool, "q8_0", tmp_path_factory.mktemp("q8_0"))


def say(tool: Path, dtype: Dtype, folder: Path, noise: float = 0.0) -> dict[str, Any]:
    return run_dump(tool, Said(model=real_model(dtype), voice=real_voice(), ipa=IPA, noise=noise), folder)


def levels_db(wave: Any, units: Any) -> Any:
    """Return each phoneme's level in bands of equal width up to 12 kHz: what is heard, whatever the phase."""
    ends = np.cumsum(units) * UNIT_SAMPLES
    out = []
    for start, end in zip(ends - units * UNIT_SAMPLES, ends, strict=True):
        power = np.square(np.abs(np.fft.rfft(wave[start:end] * np.hanning(end - start)))) / (end - start)
        out.append([10 * np.log10(band.mean() + 10 ** (FLOOR_DB / 10)) for band in np.array_split(power, BANDS)])
    return np.array(out)


def distance_db(one: Any, other: Any) -> float:
    return float(np.sqrt(np.mean(np.square(one - other))))


def test_float_weights_agree_with_the_official_code(in_float: dict[str, Any]) -> None:
    model = build_model(KokoroShape(vocabulary=VOCABULARY))
    load_canonical(model, read_onnx(real_export()))
    phrase = real_phrase(IPA)
    official = run_official(model, phrase.ids, phrase.style)
    assert units_of(in_float["durations"]).tolist() == official["units"].tolist()
    errors = {stage: relative_rms(in_float[stage], official[stage]) for stage in F32_TOLERANCES}
    print({stage: f"{error:.1e}" for stage, error in errors.items()})
    assert {stage: error for stage, error in errors.items() if error > F32_TOLERANCES[stage]} == {}


def test_the_export_is_read_as_onnxruntime_reads_it(in_float: dict[str, Any]) -> None:
    export = run_export(real_phrase(IPA), in_float=True)
    assert units_of(in_float["durations"]).tolist() == export["units"].tolist()
    errors = {stage: relative_rms(in_float[stage], export[stage]) for stage in EXPORT_TOLERANCES}
    print({stage: f"{error:.1e}" for stage, error in errors.items()})
    assert {stage: error for stage, error in errors.items() if error > EXPORT_TOLERANCES[stage]} == {}
    heard = distance_db(*(levels_db(one["wave"], export["units"]) for one in (in_float, export)))
    print(f"{heard:.2f} dB")
    assert heard < 2.0


def test_what_ships_is_as_near_to_float_as_onnxruntime(in_float: dict[str, Any], shipped: dict[str, Any]) -> None:
    rival = run_export(real_phrase(IPA))
    units = {"float": units_of(in_float["durations"]), "ours": units_of(shipped["durations"]), "rival": rival["units"]}
    assert np.abs(units["ours"] - units["rival"]).max() <= 1
    assert np.abs(units["ours"] - units["float"]).max() <= 1
    levels = {
        name: levels_db(one["wave"], units[name])
        for name, one in (("float", in_float), ("ours", shipped), ("rival", rival))
    }
    ours, theirs = (distance_db(levels[name], levels["float"]) for name in ("ours", "rival"))
    between = distance_db(levels["ours"], levels["rival"])
    print(f"from float: ours {ours:.2f} dB, onnxruntime {theirs:.2f} dB; between them {between:.2f} dB")
    assert ours < 1.25 * theirs
    assert between < 3.5


def test_the_built_library_sounds_as_its_own_stages(dump_tool: Path, tmp_path: Path) -> None:
    """The instrumented tool leaves the matrix unit out; the library uses it where there is one."""
    noisy = say(dump_tool, "q8_0", tmp_path / "noisy", noise=1.0)
    with Context(native_library(), tmp_path) as context:
        speech = Speech(context)
        speech.load(real_model("q8_0"), real_voice())
        wave = np.array(speech.synthesize_ipa(IPA), dtype=np.float32)
    units = units_of(noisy["durations"])
    assert abs(len(wave) - len(noisy["wave"])) <= UNIT_SAMPLES
    assert len(wave) == units.sum() * UNIT_SAMPLES
    apart = distance_db(levels_db(wave, units), levels_db(noisy["wave"], units))
    print(f"{apart:.2f} dB")
    assert apart < 2.0
