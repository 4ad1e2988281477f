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

from eliza_catalog.convert.kokoro import STYLE_ROWS, convert_state, write_voice
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
SHAPES = {"like_real": LIKE_REAL, "odd": ODD, "deep": DEEP}

SHORT = "a"
LONG = "hˈɛloʊ wˈɜːld! ɪt ɪz ɐ sˈɛntəns, wɪð θˈɪŋz — jˈuː nˈoʊ?"

# stage: relative root mean square error with f32 weights
TOLERANCES = {
    "bert": 2e-6, "encoded": 2e-6, "durations": 2e-6, "content": 2e-6, "f0": 2e-6, "n": 2e-6, "decoder": 2e-6,
    "source": 2e-6, "spectrum": 2e-6, "wave": 2e-6,
}  # fmt: skip


@pytest.fixture(scope="session")
def dump_tool() -> Path:
    return build_dump()


def style_table(shape: KokoroShape, seed: int) -> Any:
    drawn = np.random.default_rng(seed).standard_normal((STYLE_ROWS, 2 * shape.style)) * 0.5
    return drawn.astype(np.float32)


def both(tool: Path, shape: KokoroShape, ipa: str, speed: float, folder: Path) -> tuple[dict[str, Any], ...]:
    """Return (ours, official) for one phrase: up to the source without noise, then with the same noise in both."""
    model = seeded_model(shape, seed=7)
    table = style_table(shape, seed=8)
    convert_state(model.state_dict(), shape, folder / "kokoro.gguf", "f32")
    write_voice(table, folder / "voice.bin")
    said = Said(model=folder / "kokoro.gguf", voice=folder / "voice.bin", ipa=ipa, speed=speed)
    ours = run_dump(tool, said, folder / "still")
    noisy = run_dump(tool, dataclasses.replace(said, noise=1.0), folder / "noisy")
    ids = [VOCABULARY[one] for one in ipa if one in VOCABULARY]
    official = run_official(model, ids, table[len(ipa) - 1], speed, excitation=noisy["source"])
    return {**ours, "spectrum": noisy["spectrum"], "wave": noisy["wave"]}, official


@pytest.mark.parametrize(("ipa", "speed"), [(SHORT, 1.0), (LONG, 1.0), (LONG, 1.7)])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_every_stage_agrees(dump_tool: Path, shape: KokoroShape, ipa: str, speed: float, tmp_path: Path) -> None:
    ours, official = both(dump_tool, shape, ipa, speed, tmp_path)
    assert units_of(ours["durations"], speed).tolist() == official["units"].tolist()
    errors = {stage: relative_rms(ours[stage], official[stage]) for stage in TOLERANCES}
    print({stage: f"{error:.1e}" for stage, error in errors.items()})
    assert {stage: error for stage, error in errors.items() if error > TOLERANCES[stage]} == {}
