"""The steps of the device pass: what each does on the engine, and what it accepts.

Each fills the facts of its report as it goes, so that a failed step tells what it saw, and raises the typed error
that names it. Each drives the real pipeline; none looks into the store. Keeps contract section 4 (barge-in) and
beats facts 5.6: text must be text, sound must be speech-like, the interruption must hit speech in flight.
"""

from __future__ import annotations

import time
from array import array
from dataclasses import dataclass
from typing import Any

import anyio
from anyio import to_thread

from eliza_agent.runtime.engine import Engine
from eliza_agent.verify.audio_judge import judge_audio
from eliza_agent.verify.resample import to_16_khz
from eliza_agent.voice.chunker import ChunkPolicy
from eliza_agent.voice.pipeline import run_turn
from eliza_agent.voice.request import TurnRequest, load_preset, new_token
from eliza_agent.voice.speaker import SAMPLE_RATE_HZ, MemorySpeaker
from eliza_agent.voice.turn import CancelReason, Spoken, TurnOutcome, TurnToken
from eliza_catalog.errors import VerifyError

_SHORT_PROMPT = "Say hello in one short sentence."
_LONG_PROMPT = "Tell a long story about the sea."
_TOKENS_TO_WRITE = 16
_TOKENS_TO_SPEAK = 32
_TOKENS_TO_INTERRUPT = 128
_SPEED_UP = 50.0
_DRAFTS_DUE_AFTER = 4
_SILENCE_S = 1.0
_MAX_SILENCE_PROBABILITY = 0.5
_POLL_S = 0.002
_INTERRUPTIONS = 4
_HEARD_AFTERWARDS = "heard-afterwards"

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassLimits:
    """Deadlines of the steps, and how soon an interruption must be silent and unwound."""

    load_s: float = 180.0
    first_token_s: float = 60.0
    first_phrase_s: float = 90.0
    barge_in_s: float = 90.0
    vad_s: float = 30.0
    hearing_s: float = 120.0
    sight_s: float = 180.0
    meaning_s: float = 60.0
    silence_ms: float = 100.0
    unwind_ms: float = 3000.0


async def load(engine: Engine, facts: Facts) -> None:
    """Load text, drafter, voice and preset.

    Raises:
        NativeError, VoiceError, IntegrityError: a part is missing or cannot be used.
    """
    begun_s = time.monotonic()
    await engine.load_text()
    facts["textMs"] = _ms_since(begun_s)
    begun_s = time.monotonic()
    await engine.load_voice()
    facts["voiceMs"] = _ms_since(begun_s)
    preset = await load_preset(engine.files.preset)
    facts.update(presetVersion=preset.version, readyPhrases=len(preset.phrases), speculates=engine.speculates)


async def first_token(engine: Engine, facts: Facts) -> None:
    """Write a few tokens; at least one must have text, and a wired drafter must draft.

    Raises:
        VerifyError: `verify.first_token`.
    """
    request = TurnRequest(user=_SHORT_PROMPT, speak=False, max_tokens=_TOKENS_TO_WRITE)
    outcome = await run_turn(engine, request, MemorySpeaker(), _ignore, new_token())
    facts.update(_text_facts(outcome))
    if not outcome.text.strip():
        raise VerifyError("first_token", "Eliza-1 wrote nothing on this device.", details=dict(facts))
    if engine.speculates and not outcome.drafted and outcome.tokens > _DRAFTS_DUE_AFTER:
        raise VerifyError("first_token", "A part that makes Eliza-1 fast does not work here.", details=dict(facts))


async def first_phrase(engine: Engine, facts: Facts, heard: Facts) -> None:
    """Speak an answer; its sound must be able to be speech of that text.

    Raises:
        VerifyError: `verify.first_phrase`, with the measurements.
    """
    speaker = MemorySpeaker(speed=_SPEED_UP)
    request = TurnRequest(user=_SHORT_PROMPT, max_tokens=_TOKENS_TO_SPEAK)
    outcome = await run_turn(engine, request, speaker, _ignore, new_token())
    samples = speaker.samples()
    heard.update(samples=samples, text=outcome.text)
    verdict = await to_thread.run_sync(judge_audio, samples, SAMPLE_RATE_HZ, outcome.text)
    facts.update(_text_facts(outcome), audio=verdict.facts.as_json(), faults=list(verdict.faults))
    facts.update(firstAudioMs=_rounded(outcome.timings.first_audio_ms), spoken=outcome.spoken.value)
    if outcome.spoken is not Spoken.WHOLLY or not verdict.passed:
        raise VerifyError("first_phrase", "Eliza-1's voice does not sound right on this device.", details=dict(facts))


async def barge_in(engine: Engine, facts: Facts, limits: PassLimits) -> None:
    """Interrupt an answer while its sound is being made and heard; all must fall silent in time.

    A try whose interruption fell just between two phrases, or that the machine delayed, shows nothing either way
    and is made again, a few times; sound that is heard after the interruption ends the step at once.

    Raises:
        VerifyError: `verify.barge_in`, with what went wrong in `details.faults` and in each try in `details.tries`.
    """
    tries: list[list[str]] = []
    while True:
        facts.update(await _interrupted_turn(engine))
        tries.append(_barge_in_faults(facts, limits))
        if not tries[-1] or len(tries) == _INTERRUPTIONS or _HEARD_AFTERWARDS in tries[-1]:
            break
    facts["tries"] = tries
    if tries[-1]:
        facts["faults"] = tries[-1]
        raise VerifyError("barge_in", "Eliza-1 cannot be interrupted properly here.", details=dict(facts))


async def _interrupted_turn(engine: Engine) -> Facts:
    """Speak a long answer, interrupt it in flight, and return what happened."""
    speaker, token, seen = MemorySpeaker(), new_token(), dict[str, Any]()
    # Short phrases, none ahead and a small ring: text, sound and playback are then all in flight at once.
    policy = ChunkPolicy(max_tokens=4, first_max_tokens=4, budget_ms=0)
    request = TurnRequest(
        user=_LONG_PROMPT, max_tokens=_TOKENS_TO_INTERRUPT, policy=policy, phrases_ahead=0, ring_s=0.1
    )
    phrases, answers = engine.stopped_phrases, engine.stopped_answers
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_interrupt, engine, speaker, token, seen)
        outcome = await run_turn(engine, request, speaker, _ignore, token)
        tasks.cancel_scope.cancel()
    return {
        "playedBeforeStopMs": seen.get("playedBeforeStopMs"),
        "interrupted": outcome.reason is CancelReason.BARGE_IN,
        "speechStopped": engine.stopped_phrases - phrases if outcome.synthesis_cancelled else 0,
        "textStopped": engine.stopped_answers - answers if outcome.generation_cancelled else 0,
        "silenceMs": _rounded(outcome.timings.silence_ms),
        "unwindMs": _rounded(outcome.timings.unwind_ms),
        "samplesAfterStop": speaker.samples_after(seen.get("stoppedAt", 0.0)),
        "spoken": outcome.spoken.value,
        "spokenTo": outcome.spoken_to,
    }


async def vad(engine: Engine, facts: Facts, heard: Facts) -> None:
    """Have the detector listen to silence and to the phrase; silence must not be taken for speech.

    The probability of the phrase is recorded and not judged: a stand-in's voice need not sound human.

    Raises:
        VerifyError: `verify.vad`.
    """
    silence = await engine.speech_probabilities(array("f", bytes(4 * int(16_000 * _SILENCE_S))))
    facts["silenceProbability"] = round(max(silence), 6)
    phrase = await to_thread.run_sync(to_16_khz, heard.get("samples", array("f")))
    spoken = await engine.speech_probabilities(phrase)
    facts["phraseProbability"] = heard["phraseProbability"] = round(max(spoken, default=0.0), 6)
    if max(silence) >= _MAX_SILENCE_PROBABILITY:
        raise VerifyError("vad", "Eliza-1 hears speech where there is none.", details=dict(facts))


async def _interrupt(engine: Engine, speaker: MemorySpeaker, token: TurnToken, facts: Facts) -> None:
    """Cancel once sound is being made and heard; like a voice detector, from a thread of its own."""
    while not (speaker.blocks and engine.is_synthesising and engine.is_generating):  # noqa: ASYNC110
        await anyio.sleep(_POLL_S)
    facts["playedBeforeStopMs"] = _rounded(len(speaker.samples()) / SAMPLE_RATE_HZ * 1000)
    await to_thread.run_sync(token.cancel, CancelReason.BARGE_IN)
    facts["stoppedAt"] = time.monotonic()


def _barge_in_faults(facts: Facts, limits: PassLimits) -> list[str]:
    broken = {
        "never-interrupted": not facts["interrupted"],
        "speech-went-on": facts["speechStopped"] != 1,
        "text-went-on": facts["textStopped"] != 1,
        "ring-late": facts["silenceMs"] is None or facts["silenceMs"] > limits.silence_ms,
        "unwind-late": facts["unwindMs"] is None or facts["unwindMs"] > limits.unwind_ms,
        _HEARD_AFTERWARDS: facts["interrupted"] and facts["samplesAfterStop"] > 0,
    }
    return [name for name, is_broken in broken.items() if is_broken]


def _text_facts(outcome: TurnOutcome) -> Facts:
    return {
        "text": outcome.text,
        "tokens": outcome.tokens,
        "drafted": outcome.drafted,
        "accepted": outcome.accepted,
        "firstTokenMs": _rounded(outcome.timings.first_token_ms),
        "totalMs": _rounded(outcome.timings.total_ms),
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _ms_since(begun_s: float) -> float:
    return round((time.monotonic() - begun_s) * 1000, 3)


def _ignore(_text: str) -> None:
    """Take text that nobody reads."""
