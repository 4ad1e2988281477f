"""Reads the heads of a hub's replies: validators, commits, sizes, and the refusals that statuses mean.

Parses whole strings only: half a number is no number. Knows headers as a mapping with lower-case names and
opens nothing (facts 5.4, 8).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from eliza_agent.download.limits import Limits
from eliza_agent.download.source import Origin, without_credentials
from eliza_catalog.errors import DownloadError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_STRONG = re.compile(r'"[\x21\x23-\x7e]*"')
_WHOLE = re.compile(r"[0-9]{1,19}")
_UNAUTHORISED, _FORBIDDEN = 401, 403
_ABSENT = {404, 410}


def strong_validator(etag: str | None) -> str | None:
    """Return the ETag when it may guard a range: quoted and not weak."""
    return etag if etag is not None and _STRONG.fullmatch(etag) else None


def entity_tag(etag: str | None) -> str | None:
    """Return the ETag's own text, without quotes and weakness mark."""
    return None if etag is None else etag.removeprefix("W/").strip('"')


def commit_of(text: str | None) -> str | None:
    """Return the commit when it is one (40 hex digits)."""
    return text if text is not None and _COMMIT.fullmatch(text) else None


def whole_number(text: str | None) -> int | None:
    """Return the number that the whole string is, or None."""
    return int(text) if text is not None and _WHOLE.fullmatch(text) else None


def retry_after_s(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return how long the hub asks us to wait: seconds, or a date read against the hub's own clock."""
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = whole_number(text.strip())
    if seconds is not None:
        return float(seconds)
    until, hub_now = _date(text), _date(headers.get("date"))
    return None if until is None else max(0.0, (until - (hub_now or now)).total_seconds())


def refusal(status: int, url: str, headers: Mapping[str, str], origin: Origin, limits: Limits) -> DownloadError:
    """Return the error that a reply's status means.

    A 401 or 403 of another host than the hub (`origin`) is an expired address, not a locked door: the next
    attempt asks the hub for a fresh one.
    """
    details: dict[str, object] = {"status": status, "url": without_credentials(url)}
    if status in _ABSENT:
        return DownloadError("not_found", "The hub does not have this file.", details=details)
    if status in (_UNAUTHORISED, _FORBIDDEN):
        if Origin.of(url) == origin:
            return DownloadError("gated", "The hub asks who you are before it gives this file.", details=details)
        details["expired"] = True
    wait_s = retry_after_s(headers, datetime.now(UTC))
    if wait_s is not None:
        details["retry_after_s"] = min(wait_s, limits.longest_retry_after_s)
    return DownloadError("http_status", f"The hub answered with status {status}.", details=details)


def _date(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
