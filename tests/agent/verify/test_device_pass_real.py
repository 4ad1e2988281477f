"""The device pass on nothing but the real thing: real library, real voice, real phonemes, the tiny bundle."""

from __future__ import annotations

import pytest
from tests.support.native_library import native_library, tiny_bundle

from eliza_agent.verify.device_pass import prove_on_device
from eliza_agent.verify.report import ProvenBundle


@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_tiny_bundle_is_proven_on_this_device(anyio_backend: str) -> None:
    library = native_library()
    if not library.supports("kokoro"):
        pytest.skip("NEEDS BUILD: this native library was built without the voice")
    root, manifest = tiny_bundle()
    proven = ProvenBundle(key="tiny", root=root, manifest=manifest, files=())
    for _ in range(3):
        report = await prove_on_device(library, proven)
        assert report.passed, report.as_json()
