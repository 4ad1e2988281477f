"""Story: a status becomes one error that keeps its number, and what the library said is freed and kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_catalog.errors import NativeError
from eliza_native import abi
from eliza_native.library import Library
from eliza_native.seam import FFI, Cancelled, ErrorCell, c_text, check, check_handle, encoded, failure

STATUSES = [getattr(abi, name) for name in dir(abi) if name.startswith("ERR_")]


class Said:
    """A cell that the library has filled."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def take(self) -> str:
        return self.text


def cell(text: str = "") -> Any:
    return Said(text)


@given(st.integers(0, 1 << 31))
def test_a_count_is_success(status: int) -> None:
    assert check(status, cell(), "x") == status


@pytest.mark.parametrize("status", [each for each in STATUSES if each != abi.ERR_CANCELLED])
def test_every_status_has_an_error_of_its_own(status: int) -> None:
    with pytest.raises(NativeError) as caught:
        check(status, cell("why"), "operation")
    assert caught.value.details == {"status": status, "said": "why", "operation": "operation"}
    others = [failure(each, "", "") for each in STATUSES if each not in (status, abi.ERR_CANCELLED)]
    assert caught.value.code not in [each.code for each in others if isinstance(each, NativeError)]


def test_cancelled_is_no_error_of_the_engine() -> None:
    with pytest.raises(Cancelled):
        check(abi.ERR_CANCELLED, cell(), "x")
    assert not issubclass(Cancelled, NativeError)


def test_an_unknown_status_keeps_its_number() -> None:
    with pytest.raises(NativeError) as caught:
        check(-99, cell(), "x")
    assert (caught.value.code, caught.value.details["status"]) == ("native.status", -99)


def test_the_librarys_words_are_taken_once(library: Library) -> None:
    error = ErrorCell(library.lib)
    assert error.take() == ""
    assert library.lib.eliza_inference_create(b"/no such folder", error.pointer) == FFI.NULL
    assert "no such folder" in error.take()
    assert error.take() == ""


def test_a_null_handle_has_the_status_of_its_thread(library: Library) -> None:
    error = ErrorCell(library.lib)
    handle = library.lib.eliza_inference_create(FFI.NULL, error.pointer)
    with pytest.raises(NativeError) as caught:
        check_handle(library.lib, handle, error, "create")
    assert caught.value.details["status"] == abi.ERR_INVALID_ARG


def test_a_library_without_the_status_fails_in_general() -> None:
    with pytest.raises(NativeError) as caught:
        check_handle(object(), FFI.NULL, cell("why"), "open")
    assert caught.value.code == "native.status"


@given(st.text())
def test_text_is_utf_8_or_refused(text: str) -> None:
    assert encoded(text, "x").decode("utf-8") == text
    if "\0" in text:
        with pytest.raises(NativeError):
            c_text(text, "x")
    else:
        assert c_text(text, "x") == encoded(text, "x")


def test_what_c_would_cut_off_is_refused() -> None:
    for text in ("\0", "a\0b"):
        with pytest.raises(NativeError) as caught:
            c_text(text, "x")
        assert caught.value.code == "native.invalid_argument"
