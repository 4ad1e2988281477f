"""What a phone imports must not need what phones lack."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = ("pydantic", "pydantic_core", "psutil", "click", "rich", "starlette", "uvicorn", "numpy", "gguf")
DOMAIN = (
    "eliza_catalog.decode",
    "eliza_catalog.contract",
    "eliza_catalog.words",
    "eliza_capabilities.probe",
    "eliza_capabilities.fit",
    "eliza_capabilities.recommend",
    "eliza_agent.store.registry",
    "eliza_agent.store.blobs",
    "eliza_agent.download.pool",
    "eliza_agent.phonemes",
    "eliza_agent.voice.pipeline",
    "eliza_agent.runtime.engine",
    "eliza_agent.verify.device_pass",
    "eliza_agent.setup.job",
)


@pytest.mark.parametrize("room", DOMAIN)
def test_the_domain_imports_without_what_phones_lack(room: str) -> None:
    program = f"import sys; sys.modules.update(dict.fromkeys({BLOCKED!r})); import {room}"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
