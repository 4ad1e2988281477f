"""Finds, opens and questions the native library.

Probes every symbol singly, so that a build that lacks a family is known by that family and nothing else;
tests struct layouts before the first call. Guesses no path: the package's own library, or the one that is
named. Keeps the loader rules of the interop facts, sections 1.1 and 1.2.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from eliza_catalog.errors import NativeError
from eliza_catalog.terms import Backend, Kernel
from eliza_native import abi
from eliza_native.seam import FFI

ENVIRONMENT_NAME: Final = "ELIZA_NATIVE_LIB"

_BACKEND_TERMS: Final = {
    "cpu": Backend.CPU,
    "cuda": Backend.CUDA,
    "vulkan": Backend.VULKAN,
    "metal": Backend.METAL,
    "mtl": Backend.METAL,
    "rocm": Backend.ROCM,
    "hip": Backend.ROCM,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeDevice:
    """A compute device as the library sees it; memory in bytes, 0 = it does not say."""

    name: str
    description: str
    kind: str
    memory_total_bytes: int
    memory_free_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeBackend:
    """A backend compiled into the library; `term` is None for one that the catalog has no word for."""

    name: str
    term: Backend | None
    devices: tuple[NativeDevice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryReport:
    """What the opened library is and can do on this host.

    `kernels` were run in a graph and proven by the library; `kernels_missing` are the others, each with the reason.
    """

    path: Path
    abi: int
    version: str
    families: Mapping[str, bool]
    kernels: frozenset[Kernel]
    kernels_missing: Mapping[Kernel, str]
    backends: tuple[NativeBackend, ...]
    cpu_features: tuple[str, ...]
    kv_types: tuple[str, ...]
    llama_commit: str
    ggml_version: str
    mtp_disabled: bool


class Library:
    """One opened library; thread-safe. Use `open_library`."""

    def __init__(self, path: Path, lib: Any) -> None:
        self.path = path
        self.lib = lib
        self.abi = _accepted_abi(path, lib)

    def has(self, symbol: str) -> bool:
        """Return whether the library exports `symbol`."""
        return _has(self.lib, symbol)

    def function(self, symbol: str) -> Any:
        """Return the C function `symbol`.

        Raises:
            NativeError: `native.symbol_absent`.
        """
        try:
            return getattr(self.lib, symbol)
        except AttributeError as error:
            message = "Eliza-1's engine lacks a needed function."
            raise NativeError("symbol_absent", message, details={"symbol": symbol, "path": str(self.path)}) from error

    def supports(self, family: str) -> bool:
        """Return whether the library carries the symbol family `family` of `abi.FAMILIES`."""
        supported = abi.FAMILIES[family].supported
        if supported is None:
            return all(self.has(symbol) for symbol in symbols_of(family))
        return self.has(supported) and bool(getattr(self.lib, supported)())

    def report(self) -> LibraryReport:
        """Ask the library what it is; fresh on every call, for memory and environment change."""
        told = self._capabilities()
        kernels = {name for name in told.get("kernels", ()) if name in set(Kernel)}
        return LibraryReport(
            path=self.path,
            abi=self.abi,
            version=str(told.get("version", "unknown")),
            families=MappingProxyType({name: self.supports(name) for name in abi.FAMILIES}),
            kernels=frozenset(Kernel(name) for name in kernels),
            kernels_missing=MappingProxyType(_missing(told, kernels)),
            backends=tuple(_read_backend(each) for each in told.get("backends", ())),
            cpu_features=tuple(told.get("cpu_features", ())),
            kv_types=tuple(told.get("kv_types", ())),
            llama_commit=str(told.get("llama_commit", "unknown")),
            ggml_version=str(told.get("ggml_version", "unknown")),
            mtp_disabled=bool(told.get("mtp_disabled", False)),
        )

    def _capabilities(self) -> dict[str, Any]:
        """Return the capability document; empty for a library of somebody else that has none."""
        if not self.has("eliza_inference_capabilities_json"):
            return {}
        text = self.lib.eliza_inference_capabilities_json()
        if text == FFI.NULL:
            raise NativeError("out_of_memory", "There is not enough memory for Eliza-1.")
        try:
            told: dict[str, Any] = json.loads(FFI.string(text))
        finally:
            self.lib.eliza_inference_free_string(text)
        return told


def library_name() -> str:
    """Return the library's file name on this platform."""
    if sys.platform == "win32":
        return "elizainference.dll"
    return "libelizainference.dylib" if sys.platform in ("darwin", "ios") else "libelizainference.so"


def symbols_of(family: str) -> tuple[str, ...]:
    """Return the symbols that a family declares."""
    words = abi.FAMILIES[family].declarations.replace("(", " ( ").replace("*", " ").split()
    return tuple(
        word for word, following in pairwise(words) if following == "(" and word.startswith("eliza_inference_")
    )


def open_library(path: Path | None = None) -> Library:
    """Open the native library once per path and return it.

    Args:
        path: the file to open; None takes `ELIZA_NATIVE_LIB`, else the package's own.

    Raises:
        NativeError: `native.library_absent`, `native.symbol_absent`, `native.abi_mismatch`.
    """
    found = (path or _default_path()).absolute()
    with _LOCK:
        if found not in _OPENED:
            _OPENED[found] = Library(found, _load(found))
        return _OPENED[found]


_SPINS: Final = "2000"
_LOCK: Final = threading.Lock()
_OPENED: Final[dict[Path, Library]] = {}
_UNPACKED: Final = ExitStack()
atexit.register(_UNPACKED.close)


def _default_path() -> Path:
    named = os.environ.get(ENVIRONMENT_NAME)
    if named:
        return Path(named)
    resource = files("eliza_native") / "lib" / library_name()
    if not resource.is_file():
        message = "Eliza-1's engine is not installed."
        raise NativeError("library_absent", message, details={"searched": str(resource)})
    return _UNPACKED.enter_context(as_file(resource))


def _load(path: Path) -> Any:
    _check_layouts()
    _wait_briefly()
    try:
        if sys.platform == "win32":
            _UNPACKED.enter_context(os.add_dll_directory(str(path.parent)))
        return FFI.dlopen(str(path))
    except OSError as error:
        message = "Eliza-1's engine cannot be loaded."
        raise NativeError("library_absent", message, details={"path": str(path), "said": str(error)}) from error


def _wait_briefly() -> None:
    """Let threads that wait for each other spin for microseconds, not milliseconds, unless the user chose otherwise.

    GNU's OpenMP spins long by default. On a busy machine each of the hundreds of meetings of a token then lasts until
    the scheduler brings the other thread back. It reads this once, when it is loaded together with the library.
    """
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)


def _check_layouts() -> None:
    for name, (size, offsets) in abi.LAYOUTS.items():
        found = {field: FFI.offsetof(name, field) for field in offsets}
        if FFI.sizeof(name) != size or found != dict(offsets):
            details = {"struct": name, "size": FFI.sizeof(name), "offsets": found}
            raise NativeError("abi_mismatch", "Eliza-1's engine does not fit this platform.", details=details)


def _has(lib: Any, symbol: str) -> bool:
    try:
        getattr(lib, symbol)
    except AttributeError:
        return False
    return True


def _accepted_abi(path: Path, lib: Any) -> int:
    missing = [each for family in abi.REQUIRED for each in symbols_of(family) if not _has(lib, each)]
    details: dict[str, Any] = {"path": str(path)}
    if missing:
        details |= {"symbols": missing}
        raise NativeError("symbol_absent", "This file is not Eliza-1's engine.", details=details)
    told = bytes(FFI.string(lib.eliza_inference_abi_version())).decode("ascii", "replace")
    version = int(told) if told.isdecimal() else -1
    forbidden = [each for each in abi.ACCEPTED.get(version, ()) if _has(lib, each)]
    if version not in abi.ACCEPTED or forbidden:
        details |= {"abi": told, "expected": abi.ABI_VERSION, "unexpected_symbols": forbidden}
        raise NativeError("abi_mismatch", "Eliza-1's engine is of another version.", details=details)
    return version


def _missing(told: Mapping[str, Any], ready: set[str]) -> dict[Kernel, str]:
    """Return why each kernel that is not ready is not."""
    reasons = told.get("kernels_missing", {})
    absent = [kernel for kernel in Kernel if kernel.value not in ready]
    return {kernel: str(reasons.get(kernel.value, "the library does not tell of it")) for kernel in absent}


def _read_backend(told: Mapping[str, Any]) -> NativeBackend:
    name = str(told["name"])
    devices = tuple(
        NativeDevice(
            name=str(each["name"]),
            description=str(each["description"]),
            kind=str(each["kind"]),
            memory_total_bytes=int(each["memory_total_bytes"]),
            memory_free_bytes=int(each["memory_free_bytes"]),
        )
        for each in told["devices"]
    )
    return NativeBackend(name=name, term=_BACKEND_TERMS.get(name.lower()), devices=devices)
