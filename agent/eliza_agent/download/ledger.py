"""Says what an unfinished part is worth, and what a reply may do to it.

Opens no socket and no file and deletes nothing; the caller obeys. Keeps downloader rule 2 of the contract
(section 7: resume, digest) and covers the traps of facts 5.4: a finished part, a 200 to a Range, a 416.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from eliza_catalog.errors import ManifestError
from eliza_catalog.terms import Sha256

SIDECAR_VERSION = 1
_CONTENT_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_OK, _PARTIAL, _UNSATISFIABLE = 200, 206, 416


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFile:
    """What the finished file must be."""

    sha256: Sha256
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sidecar:
    """What a part was begun for, and the validator (a strong ETag) of the reply that fills it."""

    sha256: Sha256
    size_bytes: int
    validator: str | None


class Doubt(StrEnum):
    """Why a part is not continued."""

    NOTHING_THERE = "nothing is there yet"
    NO_SIDECAR = "nothing tells what the part was begun for"
    OTHER_FILE = "the part was begun for another file"
    TOO_LONG = "the part is longer than the file"
    WRONG_RANGE = "the hub sent another range than it was asked for"
    RANGE_REFUSED = "the hub refused to continue"
    SOURCE_CHANGED = "the file changed on the hub"


@dataclass(frozen=True, slots=True)
class Complete:
    """The part has its full length; its digest decides, no request is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeAt:
    """Continue at this offset, on condition of this validator."""

    offset_bytes: int
    validator: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Drop what is there and begin at zero."""

    doubt: Doubt


PartVerdict: TypeAlias = Complete | ResumeAt | Restart


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyFacts:
    """The head of a reply, as far as the part is concerned. Header values as received; sizes in bytes."""

    status: int
    content_range: str | None
    validator: str | None
    length_bytes: int | None
    content_type: str | None
    encoding: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteFrom:
    """The body belongs at this offset: 0 (drop what is there) or the part's end; at most so many bytes of it."""

    offset_bytes: int
    limit_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AskAgain:
    """Not a byte of this body may be written; drop the part and ask from zero."""

    doubt: Doubt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject:
    """This is not the file; `fault` says for developers what gave it away."""

    fault: str


ReplyVerdict: TypeAlias = WriteFrom | AskAgain | Complete | Reject


def encode_sidecar(sidecar: Sidecar) -> bytes:
    """Return the sidecar as the bytes kept beside the part."""
    document = {
        "version": SIDECAR_VERSION,
        "sha256": sidecar.sha256.hex,
        "sizeBytes": sidecar.size_bytes,
        "validator": sidecar.validator,
    }
    return json.dumps(document, sort_keys=True).encode()


def decode_sidecar(data: bytes | None) -> Sidecar | None:
    """Return what the bytes say, or None for absent bytes, garbage, or a version that is not ours."""
    try:
        document = json.loads(data or b"")
        size, validator = document["sizeBytes"], document["validator"]
        digest = Sha256(document["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError, ManifestError):
        return None
    is_ours = type(document["version"]) is int and document["version"] == SIDECAR_VERSION
    is_sized = type(size) is int and size >= 0
    if not (is_ours and is_sized and isinstance(validator, str | None)):
        return None
    return Sidecar(sha256=digest, size_bytes=size, validator=validator)


def judge_part(expected: ExpectedFile, part_bytes: int | None, sidecar: Sidecar | None) -> PartVerdict:
    """Say what the part on the disk is worth; `part_bytes` is None when there is no part."""
    if not part_bytes:
        return Restart(doubt=Doubt.NOTHING_THERE)
    if sidecar is None:
        return Restart(doubt=Doubt.NO_SIDECAR)
    if (sidecar.sha256, sidecar.size_bytes) != (expected.sha256, expected.size_bytes):
        return Restart(doubt=Doubt.OTHER_FILE)
    if part_bytes > expected.size_bytes:
        return Restart(doubt=Doubt.TOO_LONG)
    if part_bytes == expected.size_bytes:
        return Complete()
    return ResumeAt(offset_bytes=part_bytes, validator=sidecar.validator)


def judge_reply(expected: ExpectedFile, asked: ResumeAt, reply: ReplyFacts) -> ReplyVerdict:
    """Say what a 200, 206 or 416 may do to a part that holds `asked.offset_bytes`."""
    disguise = _disguise(reply)
    if disguise is not None:
        return Reject(fault=disguise)
    if reply.status == _UNSATISFIABLE:
        return _judge_unsatisfiable(expected, asked)
    if reply.status == _OK:
        return _judge_whole(expected, reply)
    if reply.status == _PARTIAL:
        return _judge_partial(expected, asked, reply)
    return Reject(fault=f"status {reply.status}")


def _disguise(reply: ReplyFacts) -> str | None:
    if reply.encoding not in (None, "", "identity"):
        return f"encoded as {reply.encoding}"
    kind = (reply.content_type or "").partition(";")[0].strip().lower()
    if kind in ("text/html", "application/xhtml+xml") and reply.status != _UNSATISFIABLE:
        return "a web page"
    return None


def _judge_unsatisfiable(expected: ExpectedFile, asked: ResumeAt) -> ReplyVerdict:
    if asked.offset_bytes == expected.size_bytes:
        return Complete()
    if asked.offset_bytes == 0:
        return Reject(fault="a range was refused that nobody asked for")
    return AskAgain(doubt=Doubt.RANGE_REFUSED)


def _judge_whole(expected: ExpectedFile, reply: ReplyFacts) -> ReplyVerdict:
    if reply.length_bytes is not None and reply.length_bytes != expected.size_bytes:
        return Reject(fault=f"{reply.length_bytes} bytes instead of {expected.size_bytes}")
    return WriteFrom(offset_bytes=0, limit_bytes=expected.size_bytes)


def _judge_partial(expected: ExpectedFile, asked: ResumeAt, reply: ReplyFacts) -> ReplyVerdict:
    if asked.validator and reply.validator and asked.validator != reply.validator:
        return AskAgain(doubt=Doubt.SOURCE_CHANGED)
    found = _CONTENT_RANGE.fullmatch(reply.content_range or "")
    if found is None:
        return AskAgain(doubt=Doubt.WRONG_RANGE)
    first, last = int(found[1]), int(found[2])
    total = expected.size_bytes if found[3] == "*" else int(found[3])
    length = last - first + 1
    is_asked = first == asked.offset_bytes and first <= last < expected.size_bytes == total
    if not is_asked or reply.length_bytes not in (None, length):
        return AskAgain(doubt=Doubt.WRONG_RANGE)
    return WriteFrom(offset_bytes=first, limit_bytes=length)
