"""Calls the voice activity family of a built library straight through its C border, without our own binding.

So that a fault is found where it is made; the binding has tests of its own.
"""

from __future__ import annotations

import array
import os
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any

import cffi

DECLARATIONS = """
typedef struct EliInferenceContext EliInferenceContext;
typedef struct EliVad EliVad;
EliInferenceContext * eliza_inference_create(const char *, char **);
void eliza_inference_destroy(EliInferenceContext *);
void eliza_inference_free_string(char *);
int eliza_inference_vad_supported(void);
EliVad * eliza_inference_vad_open(EliInferenceContext *, int, char **);
int eliza_inference_vad_process(EliVad *, const float *, size_t, float *, char **);
int eliza_inference_vad_reset(EliVad *, char **);
void eliza_inference_vad_close(EliVad *);
"""

OK = 0
INVALID_ARG = -2


class Refused(Exception):
    """The library answered with a negative status or NULL."""


def library_file() -> Path:
    """Return the built library: what ELIZA_NATIVE_LIB names, else the installed package's.

    Never one found in a build folder: a sanitizer's build may lie there, which no plain process can load.

    Raises:
        RuntimeError: there is none.
    """
    named = os.environ.get("ELIZA_NATIVE_LIB")
    if named:
        return Path(named)
    names = ("libelizainference.so", "libelizainference.dylib", "elizainference.dll")
    there = [path for path in (Path(str(files("eliza_native") / "lib" / name)) for name in names) if path.is_file()]
    if not there:
        raise RuntimeError("this test needs the native library: install the package, or name it in ELIZA_NATIVE_LIB")
    return there[0]


def _load() -> tuple[Any, Any]:
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS)
    return ffi, ffi.dlopen(str(library_file()))


class Vad:
    """One detector of one bundle folder; a context manager."""

    def __init__(self, bundle: Path, sample_rate_hz: int = 16_000) -> None:
        self.ffi, self.lib = _load()
        self._error = self.ffi.new("char **")
        self._out = self.ffi.new("float *")
        self.context = self.lib.eliza_inference_create(os.fsencode(bundle), self._error)
        if self.context == self.ffi.NULL:
            raise Refused(self._message())
        self.handle = self.lib.eliza_inference_vad_open(self.context, sample_rate_hz, self._error)
        if self.handle == self.ffi.NULL:
            self.lib.eliza_inference_destroy(self.context)
            raise Refused(self._message())

    def _message(self) -> str:
        assert self._error[0] != self.ffi.NULL
        text: str = self.ffi.string(self._error[0]).decode("utf-8")
        self.lib.eliza_inference_free_string(self._error[0])
        self._error[0] = self.ffi.NULL
        return text

    def process(self, window: array.array[float]) -> float:
        """Return the probability of one window of floats."""
        samples = self.ffi.from_buffer("float[]", window)
        status = self.lib.eliza_inference_vad_process(self.handle, samples, len(window), self._out, self._error)
        if status != OK:
            raise Refused(f"{status}: {self._message()}")
        return float(self._out[0])

    def reset(self) -> None:
        assert self.lib.eliza_inference_vad_reset(self.handle, self._error) == OK

    def __enter__(self) -> Vad:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.lib.eliza_inference_vad_close(self.handle)
        self.lib.eliza_inference_destroy(self.context)
