"""What the proof found: files that are the manifest's, and the device pass step by step.

Values only, with their JSON form; proves and writes nothing itself. Keeps contract section 7 (a bundle is ready
only after it was verified on this device) and facts 9.2 (a stored report).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from eliza_catalog.errors import ElizaError, VerifyError
from eliza_catalog.manifest import Manifest
from eliza_catalog.terms import BundlePath, Sha256

REPORT_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenFile:
    """A file whose bytes were hashed and are the manifest's; `architecture` is what a model file calls itself."""

    path: BundlePath
    sha256: Sha256
    size_bytes: int
    architecture: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvenBundle:
    """A bundle whose every file was proven; only `verify.artifacts` makes one."""

    key: str
    root: Path
    manifest: Manifest
    files: tuple[ProvenFile, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """One step of the device pass; `facts` and `error` are JSON values, `error` an error document."""

    name: str
    passed: bool
    elapsed_ms: float
    deadline_ms: float
    facts: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None

    @property
    def was_run(self) -> bool:
        """False for a step that an earlier failure kept from running."""
        return self.passed or self.error is not None

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "passed": self.passed,
            "elapsedMs": round(self.elapsed_ms, 3),
            "deadlineMs": self.deadline_ms,
            "facts": dict(self.facts),
            "error": None if self.error is None else dict(self.error),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """The whole device pass; also complete when it failed. `library_version` names the build that ran."""

    bundle_key: str
    manifest_sha256: str
    library_version: str
    started_at: datetime
    steps: tuple[StepReport, ...]

    @property
    def passed(self) -> bool:
        """Whether every step passed; a report without steps proves nothing."""
        return bool(self.steps) and all(step.passed for step in self.steps)

    @property
    def failed_step(self) -> StepReport | None:
        """The step that failed, if one did."""
        return next((step for step in self.steps if not step.passed), None)

    @property
    def elapsed_ms(self) -> float:
        """Time of all steps."""
        return sum(step.elapsed_ms for step in self.steps)

    def require_passed(self) -> None:
        """Return only if the bundle is proven.

        Raises:
            VerifyError: `verify.<step>` or `verify.deadline`, with the step in `details`.
        """
        step = self.failed_step
        if step is None and self.steps:
            return
        error = dict(step.error or {}) if step is not None else {}
        family, _, reason = str(error.get("code", "")).partition(".")
        known = reason if family == VerifyError.family and reason in VerifyError.reasons else "load"
        message = str(error.get("message") or "This Eliza-1 did not pass its check on this device.")
        details = step.as_json() if step is not None else {}
        raise VerifyError(known, message, remedy=error.get("remedy"), details={"step": details})

    def as_json(self) -> dict[str, Any]:
        """Return the JSON form that is kept on disk."""
        return {
            "format": REPORT_FORMAT,
            "bundleKey": self.bundle_key,
            "manifestSha256": self.manifest_sha256,
            "libraryVersion": self.library_version,
            "startedAt": self.started_at.isoformat(),
            "passed": self.passed,
            "steps": [step.as_json() for step in self.steps],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> VerifyReport:
        """Read the JSON form.

        Raises:
            ValueError: it is not a report of this format.
        """
        try:
            if document["format"] != REPORT_FORMAT:
                raise ValueError(f"report format {document['format']!r}")
            report = cls(
                bundle_key=_text(document["bundleKey"]),
                manifest_sha256=Sha256(_text(document["manifestSha256"])).hex,
                library_version=_text(document["libraryVersion"]),
                started_at=datetime.fromisoformat(_text(document["startedAt"])),
                steps=tuple(_step(step) for step in document["steps"]),
            )
        except (KeyError, TypeError, AttributeError, ElizaError) as fault:
            raise ValueError(f"not a report: {fault!r}") from fault
        if document.get("passed") is not report.passed:
            raise ValueError("the report contradicts its own steps")
        return report


def _step(document: Mapping[str, Any]) -> StepReport:
    passed, error = document["passed"], document["error"]
    if not isinstance(passed, bool) or not isinstance(document["facts"], dict):
        raise ValueError("a step of another shape")
    return StepReport(
        name=_text(document["name"]),
        passed=passed,
        elapsed_ms=float(document["elapsedMs"]),
        deadline_ms=float(document["deadlineMs"]),
        facts=document["facts"],
        error=None if error is None else dict(error),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} where a text belongs")
    return value
