from __future__ import annotations

import threading
import time
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from tests.support.pcm import tone
from tests.support.scripted_engine import SAMPLES_PER_CHAR, Line, ScriptedEngine, heard_text

from eliza_agent.voice.chunker import ChunkPolicy
from eliza_agent.voice.pipeline import run_turn
from eliza_agent.voice.preset import CachedPhrase, VoicePreset
from eliza_agent.voice.request import TurnEngine, TurnRequest, new_token
from eliza_agent.voice.speaker import MemorySpeaker
from eliza_agent.voice.turn import CancelReason, Spoken, TurnOutcome, TurnState, TurnToken
from eliza_catalog.errors import NativeError

pytestmark = pytest.mark.anyio

NO_CLOCK = ChunkPolicy(budget_ms=0)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Turn:
    """One turn's surroundings."""

    def __init__(self, engine: Any, *, speed: float = 50.0) -> None:
        self.engine: TurnEngine = engine
        self.speaker, self.token, self.texts = MemorySpeaker(speed=speed), new_token(), list[str]()

    async def run(self, **asked: Any) -> TurnOutcome:
        request = TurnRequest(user="?", policy=asked.pop("policy", NO_CLOCK), **asked)
        with anyio.fail_after(10):
            return await run_turn(self.engine, request, self.speaker, self.texts.append, self.token)


async def test_an_answer_is_written_and_spoken_wholly() -> None:
    turn = Turn(
        ScriptedEngine(
            Line(
                texts=(
                    "Hello",
                    " there",
                )
            ),
            Line(texts=(".",)),
            Line(texts=(" Bye",)),
        )
    )
    outcome = await turn.run()
    assert outcome.text == "".join(turn.texts) == "Hello there. Bye"
    assert heard_text(turn.speaker.samples()) == "Hello there.Bye"
    assert (outcome.spoken, outcome.spoken_to, outcome.state) == (Spoken.WHOLLY, 4, TurnState.FINISHED)
    assert outcome.timings.first_token_ms is not None
    assert outcome.timings.audio_ms == len(turn.speaker.samples()) / 24


async def test_a_silent_answer_runs_the_same_nodes() -> None:
    turn = Turn(ScriptedEngine(Line(texts=("Hi", "."))))
    outcome = await turn.run(speak=False)
    assert (outcome.text, outcome.spoken, len(turn.speaker.blocks)) == ("Hi.", Spoken.NOT_AT_ALL, 0)


async def test_a_phrase_reaches_speech_before_the_next_step() -> None:
    engine = ScriptedEngine(Line(texts=("Well", ",")), Line(texts=(" so",), wait_s=0.2))
    turn = Turn(engine)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(turn.run)
        await anyio.sleep(0.1)
        assert engine.spoken == ["Well,"]


async def test_a_stalled_model_speaks_what_it_has() -> None:
    engine = ScriptedEngine(Line(texts=("Let", " me", " think")), Line(texts=(".",), wait_s=0.15))
    outcome = await Turn(engine).run(policy=ChunkPolicy(budget_ms=100))
    assert engine.spoken == ["Let me", "think."]
    assert outcome.spoken is Spoken.WHOLLY


async def test_drafter_rejected_takes_unheard_speech_back() -> None:
    engine = ScriptedEngine(
        Line(texts=("Yes", ".")),
        Line(texts=(" No", " way", "!"), wait_s=0.02),
        Line(texts=(" Of", " course", "."), rejected_from=2, wait_s=0.05),
        char_s=0.03,
    )
    turn = Turn(engine)
    outcome = await turn.run()
    assert outcome.text == "Yes. Of course."
    assert outcome.rejected_tokens == 3
    assert heard_text(turn.speaker.samples()) == "Yes.Of course."
    assert outcome.spoken is Spoken.WHOLLY
    assert outcome.withdrawn_phrases == 1


async def test_drafter_rejected_in_mid_phrase_keeps_the_accepted_head() -> None:
    engine = ScriptedEngine(
        Line(texts=("I", " do", " not", ".")), Line(texts=(" indeed", "."), rejected_from=2), char_s=0.02
    )
    turn = Turn(engine)
    outcome = await turn.run()
    assert outcome.text == "I do indeed."
    assert heard_text(turn.speaker.samples()).endswith("I do indeed.")


@pytest.mark.parametrize("where", ["loop", "thread"])
async def test_barge_in_mid_phrase(where: str) -> None:
    engine = ScriptedEngine(*(Line(texts=(" word", ".")) for _ in range(50)), char_s=0.002)
    turn = Turn(engine, speed=1.0)
    moments: list[float] = []

    async def barge_in() -> None:
        while not turn.speaker.blocks:  # noqa: ASYNC110
            await anyio.sleep(0.001)
        if where == "loop":
            turn.token.cancel(CancelReason.BARGE_IN)
        else:
            await anyio.to_thread.run_sync(turn.token.cancel, CancelReason.BARGE_IN)
        moments.append(time.monotonic())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(barge_in)
        outcome = await turn.run(phrases_ahead=1, ring_s=0.02)
    assert (outcome.state, outcome.reason) == (TurnState.CANCELLED, CancelReason.BARGE_IN)
    assert outcome.spoken is Spoken.PARTLY
    assert outcome.spoken_to < outcome.tokens < 100
    assert outcome.synthesis_cancelled
    assert outcome.generation_cancelled
    assert engine.calls[:2] == ["stop_speaking", "stop_generating"]
    assert turn.speaker.samples_after(moments[0]) == 0
    assert outcome.timings.silence_ms is not None
    assert outcome.timings.silence_ms < 20


async def test_a_turn_cancelled_before_it_began_says_nothing() -> None:
    turn = Turn(ScriptedEngine(Line(texts=("Hi", "."))))
    turn.token.cancel(CancelReason.TIMEOUT)
    outcome = await turn.run()
    assert (outcome.text, outcome.reason, outcome.spoken) == ("", CancelReason.TIMEOUT, Spoken.NOT_AT_ALL)


async def test_a_stop_after_the_end_touches_nothing() -> None:
    engine = ScriptedEngine(Line(texts=("Hi", ".")))
    turn = Turn(engine)
    outcome = await turn.run()
    turn.token.cancel(CancelReason.EXTERNAL)
    assert engine.calls == []
    assert outcome.reason is None


async def test_an_emoji_is_shown_counted_and_not_spoken() -> None:
    turn = Turn(ScriptedEngine(Line(texts=("Fine", ".")), Line(texts=(" a", "☺", "."))))
    outcome = await turn.run()
    assert outcome.unspeakable == ("a☺.",)
    assert outcome.spoken is Spoken.WHOLLY
    assert heard_text(turn.speaker.samples()) == "Fine."


async def test_ready_sound_of_a_common_phrase_is_used() -> None:
    phrase = CachedPhrase(text="sure", sample_rate_hz=24_000, samples=tone(7.0, 100_000))
    preset = VoicePreset(version=1, embedding=tone(0.0, 0), phrases={"sure": phrase})
    engine = ScriptedEngine(Line(texts=("Sure", ".")), Line(texts=(" Go", ".")))
    turn = Turn(engine, speed=200.0)
    outcome = await turn.run(preset=preset)
    assert engine.spoken == ["Go."]
    assert list(turn.speaker.samples()[:100_000]) == list(phrase.samples)
    assert outcome.spoken is Spoken.WHOLLY


async def test_a_failing_library_ends_the_turn_with_its_own_error() -> None:
    class Failing(ScriptedEngine):
        async def speak(self, text: str, sink: Any) -> bool:
            raise NativeError("status", f"broke at {text}")

    with pytest.raises(NativeError, match="broke at Hi"):
        await Turn(Failing(Line(texts=("Hi", ".")))).run()


async def test_text_waits_for_speech_that_lags() -> None:
    engine = ScriptedEngine(*(Line(texts=(" word", ".")) for _ in range(20)), char_s=0.002)
    turn = Turn(engine, speed=2.0)
    longest = 0

    async def watch() -> None:
        nonlocal longest
        while True:
            longest = max(longest, len(turn.texts) - len(engine.spoken))
            await anyio.sleep(0.002)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch)
        outcome = await turn.run(phrases_ahead=2)
        tasks.cancel_scope.cancel()
    assert outcome.spoken is Spoken.WHOLLY
    assert longest <= 5


async def test_hundred_barge_ins_leave_no_stale_sound() -> None:
    for at in range(100):
        engine = ScriptedEngine(*(Line(texts=(" word", ".")) for _ in range(30)))
        turn = Turn(engine, speed=20.0)
        timer = threading.Timer(0.001 * (at % 7), turn.token.cancel, (CancelReason.BARGE_IN,))
        timer.start()
        await turn.run(ring_s=0.2)
        timer.join()
        assert len(turn.speaker.samples()) <= 30 * 5 * SAMPLES_PER_CHAR
        assert turn.token.is_cancelled
        await anyio.lowlevel.checkpoint()


def test_a_new_token_can_be_cancelled_from_anywhere() -> None:
    token: TurnToken = new_token()
    thread = threading.Thread(target=token.cancel, args=(CancelReason.USER_CANCEL,))
    thread.start()
    thread.join()
    assert token.reason is CancelReason.USER_CANCEL
