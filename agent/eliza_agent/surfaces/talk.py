"""One question to the active Eliza-1, for the verbs that ask: text as it comes, speech into a WAV file.

Opens the bundle that the gate admits, drives the one pipeline and closes everything; keeps no conversation.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from anyio import to_thread

from eliza_agent.phonemes import phonemise
from eliza_agent.runtime.bundle_files import bundle_files
from eliza_agent.runtime.engine import EngineSettings, open_engine
from eliza_agent.settings import Settings
from eliza_agent.setup.activate import ActiveBundle, active_bundle
from eliza_agent.store.layout import StateLayout
from eliza_agent.voice.pipeline import run_turn
from eliza_agent.voice.request import TurnRequest, load_preset, new_token
from eliza_agent.voice.speaker import MemorySpeaker, WavSpeaker, require_writable
from eliza_catalog.words import display_name_of
from eliza_native.library import open_library

SYSTEM = "You are Eliza-1, a helpful assistant that runs on the user's own device. Answer briefly."
MOST_TOKENS = 512
CONTEXT_TOKENS = 2048


async def answer_once(
    settings: Settings, question: str, *, speak_to: Path | None, quiet: bool, most_tokens: int = MOST_TOKENS
) -> dict[str, Any]:
    """Ask the active bundle and return the turn as JSON values; the text goes to stdout unless `quiet`.

    An answer that is longer than `most_tokens` is cut there, and says so.

    Raises:
        ActivationError: `activation.nothing_active`, or the gate refuses the bundle.
        NativeError, VoiceError, StorageError: the library, the voice or the file fails.
    """
    if speak_to is not None:
        await to_thread.run_sync(require_writable, speak_to)
    bundle = await to_thread.run_sync(active_bundle, StateLayout(settings.state_dir))
    files = bundle_files(bundle.manifest, bundle.root)
    library = await to_thread.run_sync(open_library, settings.library)
    request = TurnRequest(
        user=question,
        system=SYSTEM,
        speak=speak_to is not None,
        max_tokens=most_tokens,
        preset=await load_preset(files.preset),
    )
    speaker = WavSpeaker(speak_to) if speak_to else MemorySpeaker()
    engine_settings = EngineSettings(context_tokens=CONTEXT_TOKENS)
    _tell(f"{display_name_of(bundle.manifest)}: ", quiet)
    async with open_engine(library, files, settings=engine_settings, phonemise=phonemise) as engine:
        outcome = await run_turn(engine, request, speaker, lambda text: _tell(text, quiet), new_token())
    _tell(f" … [cut after {outcome.tokens} tokens]\n" if outcome.was_cut else "\n", quiet)
    return {"text": outcome.text, **_figures(bundle, asdict(outcome)), "wav": str(speak_to) if speak_to else None}


def _figures(bundle: ActiveBundle, outcome: dict[str, Any]) -> dict[str, Any]:
    timings = outcome["timings"]
    names = {"state", "tokens", "drafted", "accepted", "spoken", "reason", "was_cut"}
    return {
        "bundle": bundle.installed.key,
        "standin": bundle.manifest.is_standin,
        **{name: outcome[name] for name in names},
        "timings": timings,
    }


def _tell(text: str, quiet: bool) -> None:
    if not quiet:
        sys.stdout.write(text)
        sys.stdout.flush()
