"""One broken rule of the contract, as a value.

The rules (`rules_identity`, `rules_files`, `rules_evals`) yield these; `contract` collects them all before it
raises. A message is for the user and speaks of Eliza-1 only; the pointer (RFC 6901) is for developers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A rule that a manifest breaks: stable code, message for the user, place in the document."""

    code: str
    message: str
    pointer: str

    def as_json(self) -> dict[str, str]:
        """Return the violation as it stands in `details.violations`."""
        return asdict(self)


Violations = Iterator[Violation]


def violation(code: str, pointer: str, message: str) -> Violation:
    """Return a violation; spares its many makers the keywords."""
    return Violation(code=code, message=message, pointer=pointer)
