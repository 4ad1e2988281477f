"""What a bundle makes of sound, pictures and words: text that was said, what is seen, what is meant.

Each call is whole and leaves nothing behind; a picture's description ends when its task is cancelled, a recording is
listened to as a whole. Knows no microphone and no camera. Keeps contract section 2: what a manifest does not ship is
an error, never a guess.
"""

from __future__ import annotations

from array import array

from anyio import to_thread

from eliza_agent.runtime.bundle_files import BundleFiles
from eliza_agent.runtime.interruptible import run_interruptible
from eliza_native.context import Context
from eliza_native.hearing import Hearing
from eliza_native.meaning import embed
from eliza_native.vision import ImageStream


class Perceiving:
    """The perceptions of one opened bundle."""

    def __init__(self, context: Context, files: BundleFiles) -> None:
        self._context, self._files = context, files

    async def hear(self, samples: array[float], rate_hz: int) -> str:
        """Return what is said in mono samples of any rate, "" for silence.

        Raises:
            VoiceError: `voice.absent`, the bundle does not understand speech.
            NativeError: the library failed.
        """
        self._files.require_asr()
        return await to_thread.run_sync(Hearing(self._context).transcribe, samples, rate_hz)

    async def describe(self, image: bytes, *, prompt: str | None = None) -> str:
        """Return what a JPEG, PNG or BMP shows.

        Raises:
            VoiceError: `voice.absent`, the bundle does not see.
            NativeError: `native.invalid_argument` for no picture; others when the library fails.
        """
        projector = self._files.require_vision()
        stream = await to_thread.run_sync(
            lambda: ImageStream(self._context, image, prompt=prompt, mmproj=projector.relative_to(self._files.root))
        )
        try:
            text, is_final = "", False
            while not is_final:
                step = await run_interruptible(stream.next, stream.cancel)
                text, is_final = text + step.text, step.final
            return text
        finally:
            stream.close()

    async def embed(self, text: str) -> array[float]:
        """Return the vector of a text, of length one.

        Raises:
            NativeError: the text has no token or too many, or the library fails.
        """
        return await to_thread.run_sync(embed, self._context, text)
