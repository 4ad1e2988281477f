"""Every stage of a synthesis against the official implementation, with seeded weights of several widths.

The random part of the excitation is off on both sides; what remains is arithmetic and must agree. Tolerances
are relative root mean squares, a few times above what was measured; a wrong layer is off by 0.1 and more.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the official implementation needs torch")
pytest.importorskip("transformers", reason="the official implementation needs transformers")
if importlib.util.find_spec("kokoro") is None:
    pytest.skip("the official kokoro package is not installed", allow_module_level=True)

import numpy as np
from tests.parity.kokoro_official import run_official, seeded_model
from tests.support.kokoro_stages import Said, build_dump, relative_rms, run_dump, units_of

from eliza_catalog.convert.kokoro import STYLE_ROWS, Dtype, convert_state, write_voice
from eliza_catalog.convert.kokoro_layout import KokoroShape
from eliza_catalog.convert.kokoro_vocabulary import VOCABULARY

pytestmark = [pytest.mark.parity, pytest.mark.timeout(1500)]

# as the real one: two upsamplings, three kernels, every width a multiple of 32 or not at all
LIKE_REAL = KokoroShape(
    hidden=64, style=32, layers=3, bert_embedding=32, bert_hidden=96, bert_heads=3, bert_ffn=128, bert_layers=4,
    decoder_hidden=96, decoder_residual=32, upsample_channels=128, vocabulary=VOCABULARY,
)  # fmt: skip
# nothing divides by 32, and the other numbers of the header differ too
ODD = KokoroShape(
    hidden=40, style=12, layers=1, max_duration=20, text_kernel=3, bert_embedding=24, bert_hidden=36, bert_heads=3,
    bert_ffn=50, bert_layers=2, decoder_hidden=56, decoder_residual=10, upsample_channels=48, upsample_rates=(4, 6),
    resblock_kernels=(3, 5), fft=16, hop=4, vocabulary=VOCABULARY,
)  # fmt: skip
DEEP = KokoroShape(
    hidden=32, style=8, layers=2, bert_embedding=16, bert_hidden=32, bert_heads=2, bert_ffn=32, bert_layers=1,
    decoder_hidden=32, decoder_residual=8, upsample_channels=64, upsample_rates=(6, 4, 2), resblock_kernels=(3, 7),
    vocabulary=VOCABULARY,
)  # fmt: skip

LONG = "hˈɛloʊ wˈɜːld! ɪt ɪz ɐ sˈɛntəns, wɪð θˈɪŋz — jˈuː nˈoʊ?"

# Relative root mean square error with f32 weights. The source is looser: its phase sums up the rounding errors
# of F0 over the whole phrase, 300 samples a frame.
TOLERANCES = {
    "bert": 2e-6, "encoded": 3e-6, "durations": 3e-6, "content": 3e-6, "f0": 4e-6, "n": 3e-5, "decoder": 1e-4,
    "source": 1e-2, "spectrum": 1e-4, "wave": 1e-4,
}  # fmt: skip


@pytest.fixture(scope="session")
def dump_tool() -> Path:
    return build_dump()


def style_table(shape: KokoroShape, seed: int) -> Any:
    drawn = np.random.default_rng(seed).standard_normal((STYLE_ROWS, 2 * shape.style)) * 0.5
    return drawn.astype(np.float32)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    shape: KokoroShape
    ipa: str
    speed: float = 1.0
    dtype: Dtype = "f32"
    f0_hz: float = 140.0


def both(tool: Path, case: Case, folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (ours, official): up to the source without noise, then with the same noise in both.

    What ours held with noise in the source is there as `noisy`.
    """
    model = seeded_model(case.shape, seed=7, f0_hz=case.f0_hz)
    table = style_table(case.shape, seed=8)
    convert_state(model.state_dict(), case.shape, folder / "kokoro.gguf", case.dtype)
    write_voice(table, folder / "voice.bin")
    said = Said(model=folder / "kokoro.gguf", voice=folder / "voice.bin", ipa=case.ipa, speed=case.speed)
    ours = run_dump(tool, said, folder / "still")
    noisy = run_dump(tool, dataclasses.replace(said, noise=1.0), folder / "noisy")
    ids = [VOCABULARY[one] for one in case.ipa if one in VOCABULARY]
    official = run_official(model, ids, table[len(case.ipa) - 1], case.speed, excitation=noisy["source"])
    weight = model.decoder.generator.m_source.l_linear.weight.detach().numpy()
    official["source_gain"] = float(np.linalg.norm(weight))
    return {**ours, "spectrum": noisy["spectrum"], "wave": noisy["wave"], "noisy": noisy["source"]}, official


def errors_of(ours: dict[str, Any], official: dict[str, Any]) -> dict[str, float]:
    errors = {stage: relative_rms(ours[stage], official[stage]) for stage in TOLERANCES}
    print({stage: f"{error:.1e}" for stage, error in errors.items()})
    return errors


F32_CASES = {
    "like_real_one_phoneme": Case(shape=LIKE_REAL, ipa="a"),
    "like_real": Case(shape=LIKE_REAL, ipa=LONG),
    "like_real_fast": Case(shape=LIKE_REAL, ipa=LONG, speed=1.7),
    "odd_one_phoneme": Case(shape=ODD, ipa="a"),
    "odd_slow": Case(shape=ODD, ipa=LONG, speed=0.6),
    "deep": Case(shape=DEEP, ipa=LONG),
}


@pytest.mark.parametrize("case", F32_CASES.values(), ids=F32_CASES.keys())
def test_every_stage_agrees(dump_tool: Path, case: Case, tmp_path: Path) -> None:
    ours, official = both(dump_tool, case, tmp_path)
    assert len(set(official["units"].tolist())) > 1
    assert units_of(ours["durations"], case.speed).tolist() == official["units"].tolist()
    errors = errors_of(ours, official)
    assert {stage: error for stage, error in errors.items() if error > TOLERANCES[stage]} == {}


def test_below_ten_hertz_there_is_no_voice_but_noise(dump_tool: Path, tmp_path: Path) -> None:
    ours, official = both(dump_tool, Case(shape=DEEP, ipa=LONG, f0_hz=10.0), tmp_path)
    hz = np.repeat(official["f0"].reshape(-1), DEEP.samples_per_frame)
    voiced = hz > 10.0
    assert 0.1 < voiced.mean() < 0.9
    assert relative_rms(ours["source"], official["source"]) < TOLERANCES["source"]
    noise = np.arctanh(ours["noisy"].astype(np.float64)) - np.arctanh(ours["source"].astype(np.float64))
    for where, loud in ((voiced, 0.003), (~voiced, 0.1 / 3)):
        assert abs(noise[where].mean()) < 0.02 * loud
        assert noise[where].std() == pytest.approx(loud * official["source_gain"], rel=0.02)


# What smaller weights cost: both types round the weights, q8_0 the other side of every product too. The source is
# not among them: its phase sums up every difference in F0.
SMALL: dict[Dtype, dict[str, float]] = {
    "f16": {"bert": 1e-3, "durations": 2e-3, "content": 2e-3, "f0": 2e-3, "n": 1e-2, "decoder": 1e-2, "wave": 4e-3},
    "q8_0": {"bert": 2e-2, "durations": 3e-2, "content": 4e-2, "f0": 3e-2, "n": 2e-1, "decoder": 2e-1, "wave": 8e-2},
}


@pytest.mark.parametrize("dtype", SMALL)
def test_smaller_weights_stay_close(dump_tool: Path, dtype: Dtype, tmp_path: Path) -> None:
    ours, official = both(dump_tool, Case(shape=LIKE_REAL, ipa=LONG, dtype=dtype), tmp_path)
    assert np.abs(units_of(ours["durations"]) - official["units"]).max() <= 1
    errors = errors_of(ours, official)
    assert {stage: errors[stage] for stage, most in SMALL[dtype].items() if errors[stage] > most} == {}
