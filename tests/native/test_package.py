"""What the installed package carries besides code."""

from __future__ import annotations

from importlib.resources import files

import pytest

from eliza_native.library import library_name

PACKAGE = files("eliza_native")
pytestmark = pytest.mark.skipif(
    not (PACKAGE / "lib" / library_name()).is_file(), reason="run from the sources: the library is not in this folder"
)


def test_what_is_linked_in_keeps_its_licence() -> None:
    text = (PACKAGE / "licenses" / "LICENSE.llama.cpp").read_text("utf-8")
    assert "MIT License" in text
    assert "ggml authors" in text
    assert (PACKAGE / "licenses" / "LICENSE-jsonhpp").is_file()


def test_the_header_travels_with_the_library() -> None:
    assert "eliza_inference_create" in (PACKAGE / "include" / "eliza" / "inference.h").read_text("utf-8")
