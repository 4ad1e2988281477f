from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eliza_agent.runtime.gguf_header import read_gguf_header
from eliza_catalog.errors import IntegrityError

ARCH = "general.architecture"


def text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def header(*fields: bytes, version: int = 3, count: int | None = None) -> bytes:
    start = b"GGUF" + struct.pack("<IQQ", version, 7, len(fields) if count is None else count)
    return start + b"".join(fields)


def string(key: str, value: str) -> bytes:
    return text(key) + struct.pack("<I", 8) + text(value)


NUMBERS = text("k.list") + struct.pack("<IIQ", 9, 4, 3) + bytes(12)
STRINGS = text("k.words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc")
STYLE = text("kokoro.style") + struct.pack("<II", 4, 128)


def test_fields_behind_arrays_are_found(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(header(NUMBERS, STRINGS, string(ARCH, "kokoro"), STYLE))
    found = read_gguf_header(path, frozenset({ARCH, "kokoro.style", "absent"}))
    assert (found.architecture, found.number("kokoro.style"), found.tensors) == ("kokoro", 128, 7)
    assert found.number("absent") is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PK\x03\x04" + bytes(60),
        header(version=1),
        header(string(ARCH, "x"))[:-1],
        header(count=1 << 40),
        header(text("k") + struct.pack("<I", 77)),
        header(struct.pack("<Q", 1 << 60)),
        header(text("k") + struct.pack("<IIQ", 9, 4, 1 << 62)),
        header(text("k") + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 6),
    ],
    ids=["empty", "zip", "version", "cut", "count", "type", "key", "array", "nested"],
)
def test_what_is_no_model_file_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(data)
    with pytest.raises(IntegrityError) as caught:
        read_gguf_header(path)
    assert caught.value.code == "integrity.not_gguf"


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError) as caught:
        read_gguf_header(tmp_path / "no.gguf")
    assert caught.value.code == "integrity.missing"


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_hostile_bytes_end_in_a_typed_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<I", 3) + data)
    with contextlib.suppress(IntegrityError):
        read_gguf_header(path)
