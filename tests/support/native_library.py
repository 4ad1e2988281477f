"""The native library and the tiny bundle for tests that run the real thing."""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from tests.support.vad_through_abi import library_file

from eliza_catalog.decode import decode_manifest
from eliza_catalog.manifest import MANIFEST_NAME, Manifest
from eliza_native.library import Library, open_library

_PARTS_CACHE = Path(tempfile.gettempdir()) / "eliza-test-parts"


def native_library() -> Library:
    """Return the library that was built; a missing one fails the test, loudly."""
    return open_library(library_file())


@functools.cache
def tiny_bundle() -> tuple[Path, Manifest]:
    """Return the root and manifest of the tiny demo bundle, made once per test session."""
    from eliza_catalog.parts.__main__ import make_demo_hub  # publisher's side: heavy imports only when wanted

    folder = Path(tempfile.mkdtemp(prefix="eliza-tiny-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = make_demo_hub("tiny", folder, _PARTS_CACHE)
    return root, decode_manifest((root / MANIFEST_NAME).read_bytes())
