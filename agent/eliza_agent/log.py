"""The log: one JSON line per record on stderr or in a file, secrets struck out.

Nothing in the product prints by itself; surfaces choose whether a log is shown. A record may carry
`extra={"facts": {...}}`. Only surfaces and the service may import this room.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from eliza_catalog.errors import SettingsError

LEVELS = ("debug", "info", "warning", "error", "critical")

_SECRET = re.compile(r"(?i)(bearer\s+|authorization['\":= ]+|token['\":= ]+|key['\":= ]+|[?&]token=)[^\s'\",&}]+")


def strike_secrets(text: str) -> str:
    """Return `text` with everything that looks like a credential replaced by `***`."""
    return _SECRET.sub(lambda found: found.group(1) + "***", text)


class JsonLines(logging.Formatter):
    """Formats a record as one JSON line with secrets struck out."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        document: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "room": record.name,
            "text": record.getMessage(),
        }
        facts = getattr(record, "facts", None)
        if facts:
            document["facts"] = facts
        if record.exc_info:
            document["trace"] = self.formatException(record.exc_info)
        return strike_secrets(json.dumps(document, ensure_ascii=False, default=str))


def log_level(environ: Mapping[str, str]) -> str:
    """Return what ELIZA_LOG names, `warning` by default.

    Raises:
        SettingsError: `settings.bad_value`.
    """
    level = environ.get("ELIZA_LOG") or "warning"
    if level.lower() not in LEVELS:
        message = f"ELIZA_LOG must be one of {', '.join(LEVELS)}, not '{level}'."
        raise SettingsError("bad_value", message, details={"name": "ELIZA_LOG", "value": level})
    return level


def open_log(level: str = "warning") -> None:
    """Send the product's records to stderr from `level` on; calling it again replaces the handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger("eliza_agent")
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    root.propagate = False
