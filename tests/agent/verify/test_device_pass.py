from __future__ import annotations

from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.support.native_library import native_library, tiny_bundle
from tests.support.pcm import saw, tone
from tests.support.scripted_voice import ScriptedVoice

from eliza_agent.verify.artifacts import prove_files
from eliza_agent.verify.device_pass import PassSettings, prove_on_device
from eliza_agent.verify.device_steps import PassLimits
from eliza_agent.verify.report import ProvenBundle, StepReport, VerifyReport
from eliza_catalog.errors import VerifyError
from eliza_catalog.manifest import Manifest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def as_is(text: str) -> str:
    return text


def proven(manifest: Manifest, root: Path) -> ProvenBundle:
    return ProvenBundle(key="tiny", root=root, manifest=manifest, files=())


async def passed_through(seen: list[StepReport] | None = None, limits: PassLimits | None = None) -> VerifyReport:
    root, manifest = tiny_bundle()
    settings = PassSettings(limits=limits or PassLimits(), phonemise=as_is)
    on_step = seen.append if seen is not None else None
    return await prove_on_device(native_library(), proven(manifest, root), on_step=on_step, settings=settings)


def step(report: VerifyReport, name: str) -> StepReport:
    return next(each for each in report.steps if each.name == name)


async def test_a_good_bundle_is_proven_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    ScriptedVoice().install(monkeypatch)
    seen: list[StepReport] = []
    report = await passed_through(seen)
    assert report.passed, report.as_json()
    assert [each.name for each in seen] == ["load", "first_token", "first_phrase", "barge_in", "vad", "sight"]
    text = step(report, "first_token").facts
    assert text["text"].startswith("Hello,")
    assert text["drafted"] >= text["accepted"] > 0
    barge = step(report, "barge_in").facts
    assert barge["playedBeforeStopMs"] > 0
    assert (barge["speechStopped"], barge["textStopped"], barge["samplesAfterStop"]) == (1, 1, 0)
    assert barge["silenceMs"] < 100
    assert step(report, "vad").facts["silenceProbability"] < 0.5
    assert step(report, "sight").facts["description"].startswith("Hello,")
    assert VerifyReport.from_json(report.as_json()).passed
    report.require_passed()


@pytest.mark.parametrize(
    ("sound", "fault"),
    [
        (lambda _: tone(0.0, 24_000), "silent"),
        (lambda _: tone(0.3, 24_000), "constant"),
        (lambda _: saw(110, 1.5), "steady"),
        (lambda _: tone(0.0, 0), "too-short"),
        (lambda _: array("f", (max(-1.0, min(1.0, 40 * v)) for v in ScriptedVoice().sound("word " * 6))), "clipped"),
        (lambda _: array("f", [float("nan")]) + ScriptedVoice().sound("word " * 6), "not-finite"),
    ],
    ids=["silence", "dc", "buzz", "nothing", "clipped", "nan"],
)
async def test_a_broken_voice_is_refused(
    monkeypatch: pytest.MonkeyPatch, sound: Callable[[str], array[float]], fault: str
) -> None:
    ScriptedVoice(sound).install(monkeypatch)
    report = await passed_through()
    assert not report.passed
    failed = step(report, "first_phrase")
    assert fault in failed.facts["faults"]
    assert failed.error is not None
    assert failed.error["code"] == "verify.first_phrase"
    assert [each.was_run for each in report.steps] == [True, True, True, False, False, False]
    with pytest.raises(VerifyError) as caught:
        report.require_passed()
    assert caught.value.details["step"]["name"] == "first_phrase"
    assert not VerifyReport.from_json(report.as_json()).passed


async def test_a_voice_that_cannot_be_interrupted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    ScriptedVoice(chunk_s=0.02, ignores_cancel=True).install(monkeypatch)
    report = await passed_through()
    failed = step(report, "barge_in")
    assert not failed.passed
    assert "speech-went-on" in failed.facts["faults"]
    assert [("speech-went-on" in each) for each in failed.facts["tries"]] == [True] * 4
    assert failed.facts["samplesAfterStop"] == 0


class DeafOnce(ScriptedVoice):
    """Misses the first interruption, as a phrase does that ends in the very moment."""

    def stream_ipa(self, ipa: str, on_chunk: Callable[[memoryview, bool], Any], speed: float) -> None:
        super().stream_ipa(ipa, on_chunk, speed)
        self.ignores_cancel = self.ignores_cancel and not self._cancelled.is_set()


async def test_an_interruption_that_met_no_speech_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    DeafOnce(chunk_s=0.02, ignores_cancel=True).install(monkeypatch)
    report = await passed_through()
    assert report.passed, report.as_json()
    tries = step(report, "barge_in").facts["tries"]
    assert "speech-went-on" in tries[0]
    assert tries[-1] == []
    assert "faults" not in step(report, "barge_in").facts


async def test_a_step_that_hangs_meets_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    ScriptedVoice(chunk_s=0.3).install(monkeypatch)
    report = await passed_through(limits=PassLimits(first_phrase_s=0.5))
    failed = step(report, "first_phrase")
    assert failed.error is not None
    assert failed.error["code"] == "verify.deadline"
    assert failed.elapsed_ms < 3000


async def test_a_bundle_that_cannot_be_loaded_still_gets_a_report(tmp_path: Path) -> None:
    _, manifest = tiny_bundle()
    settings = PassSettings(phonemise=as_is)
    report = await prove_on_device(native_library(), proven(manifest, tmp_path), settings=settings)
    failed = step(report, "load")
    assert failed.error is not None
    assert failed.error["code"] == "verify.load"
    assert failed.error["details"]["cause"]["code"] == "integrity.missing"
    assert len(report.steps) == 6


async def test_the_files_of_the_tiny_bundle_are_proven() -> None:
    root, manifest = tiny_bundle()
    with anyio.fail_after(10):
        bundle = await prove_files("tiny", root, manifest)
    architectures = {str(file.path): file.architecture for file in bundle.files}
    assert "gemma4" in architectures.values()
    assert bundle.size_bytes > 1_000_000
