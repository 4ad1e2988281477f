"""Stories of the ledger: what a part is worth and what a reply may do to it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_agent.download.ledger import (
    AskAgain,
    Complete,
    Doubt,
    ExpectedFile,
    Reject,
    ReplyFacts,
    Restart,
    ResumeAt,
    Sidecar,
    WriteFrom,
    decode_sidecar,
    encode_sidecar,
    judge_part,
    judge_reply,
)
from eliza_catalog.terms import Sha256

DIGEST, OTHER = Sha256("a" * 64), Sha256("b" * 64)
FILE = ExpectedFile(sha256=DIGEST, size_bytes=100)
NOTE = Sidecar(sha256=DIGEST, size_bytes=100, validator='"v"')


def reply(status: int, **facts: object) -> ReplyFacts:
    known = {"content_range": None, "validator": '"v"', "length_bytes": None, "content_type": None, "encoding": None}
    return ReplyFacts(status=status, **{**known, **facts})  # type: ignore[arg-type]


def asked(offset: int) -> ResumeAt:
    return ResumeAt(offset_bytes=offset, validator='"v"')


@pytest.mark.parametrize(
    ("part_bytes", "sidecar", "verdict"),
    [
        (None, None, Restart(doubt=Doubt.NOTHING_THERE)),
        (0, NOTE, Restart(doubt=Doubt.NOTHING_THERE)),
        (40, None, Restart(doubt=Doubt.NO_SIDECAR)),
        (40, NOTE, ResumeAt(offset_bytes=40, validator='"v"')),
        (100, NOTE, Complete()),
        (101, NOTE, Restart(doubt=Doubt.TOO_LONG)),
        (40, Sidecar(sha256=OTHER, size_bytes=100, validator=None), Restart(doubt=Doubt.OTHER_FILE)),
        (40, Sidecar(sha256=DIGEST, size_bytes=99, validator=None), Restart(doubt=Doubt.OTHER_FILE)),
    ],
)
def test_a_part_is_worth_what_can_be_shown_of_it(
    part_bytes: int | None, sidecar: Sidecar | None, verdict: object
) -> None:
    assert judge_part(FILE, part_bytes, sidecar) == verdict


@pytest.mark.parametrize(
    ("offset", "facts", "verdict"),
    [
        (0, reply(200, length_bytes=100), WriteFrom(offset_bytes=0, limit_bytes=100)),
        (0, reply(200), WriteFrom(offset_bytes=0, limit_bytes=100)),
        (40, reply(200, length_bytes=100), WriteFrom(offset_bytes=0, limit_bytes=100)),
        (40, reply(206, content_range="bytes 40-99/100"), WriteFrom(offset_bytes=40, limit_bytes=60)),
        (40, reply(206, content_range="bytes 40-99/*"), WriteFrom(offset_bytes=40, limit_bytes=60)),
        (40, reply(206, content_range="bytes 40-59/100"), WriteFrom(offset_bytes=40, limit_bytes=20)),
        (40, reply(206, content_range="bytes 41-99/100"), AskAgain(doubt=Doubt.WRONG_RANGE)),
        (40, reply(206, content_range="bytes 40-99/101"), AskAgain(doubt=Doubt.WRONG_RANGE)),
        (40, reply(206, content_range="bytes 40-100/100"), AskAgain(doubt=Doubt.WRONG_RANGE)),
        (40, reply(206, content_range="bytes 40-30/100"), AskAgain(doubt=Doubt.WRONG_RANGE)),
        (40, reply(206, content_range="bytes 40-99/100", length_bytes=59), AskAgain(doubt=Doubt.WRONG_RANGE)),
        (40, reply(206), AskAgain(doubt=Doubt.WRONG_RANGE)),
        (40, reply(206, content_range="bytes 40-99/100", validator='"w"'), AskAgain(doubt=Doubt.SOURCE_CHANGED)),
        (40, reply(416), AskAgain(doubt=Doubt.RANGE_REFUSED)),
        (100, reply(416), Complete()),
    ],
)
def test_a_reply_may_do_only_what_it_can_show(offset: int, facts: ReplyFacts, verdict: object) -> None:
    assert judge_reply(FILE, asked(offset), facts) == verdict


@pytest.mark.parametrize(
    ("offset", "facts"),
    [
        (0, reply(200, length_bytes=99)),
        (40, reply(200, length_bytes=60)),
        (0, reply(200, content_type="text/html; charset=utf-8")),
        (40, reply(206, content_range="bytes 40-99/100", content_type="text/html")),
        (0, reply(200, encoding="gzip")),
        (0, reply(416)),
        (0, reply(204)),
    ],
)
def test_what_is_not_the_file_is_refused_whole(offset: int, facts: ReplyFacts) -> None:
    assert isinstance(judge_reply(FILE, asked(offset), facts), Reject)


def test_a_sidecar_survives_the_disk() -> None:
    assert decode_sidecar(encode_sidecar(NOTE)) == NOTE


@pytest.mark.parametrize(
    "bent",
    [
        {"version": 2},
        {"version": True},
        {"sha256": "A" * 64},
        {"sha256": 7},
        {"sizeBytes": -1},
        {"sizeBytes": True},
        {"sizeBytes": "100"},
        {"validator": 7},
    ],
)
def test_a_sidecar_that_is_not_ours_is_no_sidecar(bent: dict[str, object]) -> None:
    document = json.loads(encode_sidecar(NOTE)) | bent
    assert decode_sidecar(json.dumps(document).encode()) is None


@given(st.binary(max_size=200) | st.from_type(type(None)))
def test_garbage_is_no_sidecar_and_no_crash(data: bytes | None) -> None:
    assert decode_sidecar(data) is None


_headers = st.none() | st.text(max_size=30) | st.from_regex(r"bytes \d{1,4}-\d{1,4}/(\d{1,4}|\*)", fullmatch=True)


@given(
    size=st.integers(0, 300),
    offset=st.integers(0, 300),
    status=st.sampled_from([200, 206, 416, 204, 299]),
    content_range=_headers,
    length=st.none() | st.integers(0, 400),
    validator=st.sampled_from([None, '"v"', '"w"']),
)
def test_nothing_is_ever_written_outside_the_file(
    size: int, offset: int, status: int, content_range: str | None, length: int | None, validator: str | None
) -> None:
    offset = min(offset, size)
    facts = reply(status, content_range=content_range, length_bytes=length, validator=validator)
    verdict = judge_reply(ExpectedFile(sha256=DIGEST, size_bytes=size), asked(offset), facts)
    if isinstance(verdict, WriteFrom):
        assert verdict.offset_bytes in (0, offset)
        assert 0 <= verdict.offset_bytes + verdict.limit_bytes <= size
    if isinstance(verdict, Complete):
        assert offset == size
