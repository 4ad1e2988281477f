"""What the engine's stories share: the built library and tiny models, written once per session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.native_library import native_library
from tests.support.tiny_models import write_tiny_models

from eliza_native.context import Context
from eliza_native.library import Library


@pytest.fixture(scope="session")
def library() -> Library:
    return native_library()


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    write_tiny_models(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Tiny models have no work for two threads; they would only wait for each other."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELIZA_THREADS", "1")
        yield


@pytest.fixture(scope="session")
def sure(library: Library, models: Path) -> Iterator[Context]:
    """A bundle that always says the same sentence, and whose drafter agrees."""
    with Context(library, models / "sure") as context:
        yield context


@pytest.fixture(scope="session")
def noise(library: Library, models: Path) -> Iterator[Context]:
    """A bundle that answers noise, and whose drafter is often wrong."""
    with Context(library, models / "noise") as context:
        yield context
