"""The async face of one opened bundle: it answers, speaks and listens, and any of it can be stopped.

Owns the native context and its one text stream; one answer and one phrase at a time, each on a worker thread.
Decides nothing about turns, phrases or playback. Keeps contract section 3 (speculation always wired, loud when a
developer switches it off) and section 4 (cancellation leaves no half state).
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from anyio import to_thread

from eliza_agent.runtime.bundle_files import BundleFiles, require_present
from eliza_agent.runtime.chat import ChatTemplate, find_template
from eliza_agent.runtime.generation import Generation
from eliza_agent.runtime.perceiving import Perceiving
from eliza_agent.runtime.speaking import Sink, Speaking
from eliza_catalog.errors import NativeError, VoiceError
from eliza_native.context import Context
from eliza_native.hearing import WINDOW_SAMPLES, Vad
from eliza_native.library import Library as Library  # the rooms above name it, and import it from here
from eliza_native.library import LibraryReport
from eliza_native.text import StreamConfig, TextStream
from eliza_native.tokens import detokenize, tokenize

_LOG = logging.getLogger("eliza_agent.runtime")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How an engine runs.

    `context_tokens` is the context to make room for. `draft_max` is 1 by the catalogue's measurements (facts
    3.2). `speculate=False` is a developer's switch (ELIZA_MTP_DISABLE=1) and warns every turn.
    """

    context_tokens: int = 4096
    draft_max: int = 1
    speculate: bool = True
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    repeat_penalty: float = 1.0
    gpu_layers: int = -1
    speech_speed: float = 1.0


class Engine:
    """One opened bundle; only `open_engine` makes one."""

    def __init__(self, context: Context, files: BundleFiles, settings: EngineSettings) -> None:
        self._context = context
        self._settings = settings
        self._stream: TextStream | None = None
        self._template: ChatTemplate | None = None
        self._generation: Generation | None = None
        self._one_answer = anyio.Lock()
        self._speaking: Speaking | None = None
        self.files = files
        self.perceiving = Perceiving(context, files)
        self.stopped_answers = 0

    @property
    def speculates(self) -> bool:
        """Whether answers are drafted and verified."""
        return self.files.drafter is not None and self._settings.speculate

    @property
    def is_generating(self) -> bool:
        """Whether an answer is being written."""
        return self._generation is not None and not self._generation.has_ended

    @property
    def is_synthesising(self) -> bool:
        """Whether the library is making sound at this moment."""
        return self._speaking is not None and self._speaking.is_computing

    @property
    def stopped_phrases(self) -> int:
        """How many syntheses the library gave up because it was told to."""
        return self._speaking.cancelled_count if self._speaking else 0

    async def load_text(self) -> None:
        """Load the text model and its drafter.

        Raises:
            NativeError: `native.bundle_invalid`, `native.out_of_memory`, `native.backend_unavailable`.
        """
        async with self._one_answer:
            await self._open_stream()

    async def load_voice(self) -> None:
        """Load the voice.

        Raises:
            VoiceError: `voice.absent`, the bundle has none.
            NativeError, IntegrityError: the files cannot be used.
        """
        await self._require_voice().load()

    async def chat_ids(self, system: str, user: str) -> tuple[int, ...]:
        """Return the prompt's token ids for one question; an empty `system` is left out.

        Raises:
            NativeError: `native.bundle_invalid`, the model has no known chat form.
        """
        template = await self._chat_template()
        return await to_thread.run_sync(template.ids, self._tokenize, system, user)

    @asynccontextmanager
    async def generate(self, prompt_ids: tuple[int, ...], *, max_tokens: int) -> AsyncIterator[Generation]:
        """Open one answer: iterate over what it yields; leaving the context stops it.

        Waits while another answer is open. Never reads on from an earlier answer's state.

        Raises:
            NativeError: `native.prompt_too_long`; others when the library fails.
        """
        room = self._settings.context_tokens
        if room and len(prompt_ids) >= room:
            details = {"tokens": len(prompt_ids), "context": room}
            raise NativeError("prompt_too_long", "The question is too long for Eliza-1.", details=details)
        async with self._one_answer:
            stream = await self._open_stream()
            self._warn_without_speculation()
            await to_thread.run_sync(stream.reset)
            end_id = (await self._chat_template()).end_id
            generation = Generation(stream, self._text_of, max_tokens=max_tokens, end_id=end_id)
            self._generation = generation
            self._context.on_verified(generation.note)
            try:
                await generation.prefill(prompt_ids)
                yield generation
            finally:
                self._generation = None
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(generation.confirm_stop)
                self.stopped_answers += generation.was_stopped
                self._context.on_verified(None)

    def stop_generating(self) -> None:
        """From any thread: end the running answer at its next kernel boundary; harmless if none runs."""
        generation = self._generation
        if generation is not None:
            generation.stop()

    async def speak(self, text: str, sink: Sink) -> bool:
        """Make the sound of one phrase, 24 kHz mono; return False when it was stopped midway.

        Args:
            text: words, as a reader would write them.
            sink: gets float32 samples on the speaking thread and returns whether it wants more.

        Raises:
            VoiceError: `voice.absent` or `voice.unspeakable`.
            NativeError: the library failed.
        """
        return await self._require_voice().say(text, sink)

    def stop_speaking(self) -> None:
        """From any thread: end the running synthesis at its next kernel boundary; harmless if none runs."""
        if self._speaking is not None:
            self._speaking.stop()

    async def speech_probabilities(self, samples: array[float]) -> list[float]:
        """Return the chance of speech for each whole 32 ms window of mono samples at 16 kHz.

        Raises:
            VoiceError: `voice.absent`, the bundle cannot listen.
            NativeError: the library failed.
        """
        self.files.require_vad()
        return await to_thread.run_sync(self._listen, samples)

    def attach_voice(self, phonemise: Callable[[str], str]) -> None:
        """Give the engine its way from words to sounds; `open_engine` does this."""
        if self.files.voice is not None:
            speed = self._settings.speech_speed
            self._speaking = Speaking(self._context, self.files.voice, phonemise, speed)

    def _require_voice(self) -> Speaking:
        if self._speaking is None:
            raise VoiceError("absent", "This Eliza-1 cannot speak on this device.")
        return self._speaking

    async def _open_stream(self) -> TextStream:
        if self._stream is None:
            self._stream = await to_thread.run_sync(TextStream, self._context, self._config())
        return self._stream

    def _config(self) -> StreamConfig:
        chosen, drafter = self._settings, self.files.drafter if self._settings.speculate else None
        return StreamConfig(
            temperature=chosen.temperature,
            top_p=chosen.top_p,
            top_k=chosen.top_k,
            repeat_penalty=chosen.repeat_penalty,
            drafter=drafter,
            draft_min=chosen.draft_max if drafter else 0,
            draft_max=chosen.draft_max if drafter else 0,
            n_gpu_layers=chosen.gpu_layers,
            context_size=chosen.context_tokens,
        )

    async def _chat_template(self) -> ChatTemplate:
        if self._template is None:
            self._template = await to_thread.run_sync(find_template, self._tokenize)
        return self._template

    def _tokenize(self, text: str, add_special: bool, parse_special: bool) -> list[int]:
        return tokenize(self._context, text, add_special, parse_special)

    def _text_of(self, token: int) -> str:
        return detokenize(self._context, [token])

    def _listen(self, samples: array[float]) -> list[float]:
        view = memoryview(samples)
        with Vad(self._context) as vad:
            starts = range(0, len(view) - WINDOW_SAMPLES + 1, WINDOW_SAMPLES)
            return [vad.process(view[start : start + WINDOW_SAMPLES]) for start in starts]

    def _warn_without_speculation(self) -> None:
        if self.files.drafter is not None and not self.speculates:
            facts = {"setting": "ELIZA_MTP_DISABLE", "drafter": self.files.drafter.name}
            text = "A developer setting switched off drafting: Eliza-1 answers slower than it should."
            _LOG.warning(text, extra={"facts": facts})


@asynccontextmanager
async def open_engine(
    library: Library,
    files: BundleFiles,
    *,
    phonemise: Callable[[str], str],
    settings: EngineSettings | None = None,
) -> AsyncIterator[Engine]:
    """Open a bundle; weights load when first needed, or by `load_text` and `load_voice`.

    Args:
        library: the opened native library.
        files: which file does what.
        phonemise: words to phonemes; `eliza_agent.phonemes.phonemise` in the product. Runs on the speaking thread.
        settings: how to run; the defaults suit a phone.

    Raises:
        IntegrityError: `integrity.missing`, files are gone.
        NativeError: `native.bundle_invalid`, the folder is none.
    """
    context, may_speculate = await to_thread.run_sync(_open, library, files)
    chosen = settings or EngineSettings()
    engine = Engine(context, files, replace(chosen, speculate=chosen.speculate and may_speculate))
    engine.attach_voice(phonemise)
    try:
        yield engine
    finally:
        engine.stop_speaking()
        engine.stop_generating()
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(partial(context.close))


def _open(library: Library, files: BundleFiles) -> tuple[Context, bool]:
    """Open the context, and ask the library whether ELIZA_MTP_DISABLE holds it back."""
    require_present(files)
    report = library.report()
    _LOG.info("Eliza-1's engine opens a bundle.", extra={"facts": _kernel_facts(report)})
    return Context(library, files.root), not report.mtp_disabled


def _kernel_facts(report: LibraryReport) -> dict[str, Any]:
    """What the contract wants in the log at every start: the kernel set, and why the rest of it is not there."""
    return {
        "library": report.version,
        "kernels": sorted(report.kernels),
        "kernelsMissing": {str(kernel): reason for kernel, reason in sorted(report.kernels_missing.items())},
        "backends": [backend.name for backend in report.backends],
    }
