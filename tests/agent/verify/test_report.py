from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from eliza_agent.verify.report import StepReport, VerifyReport
from eliza_catalog.errors import VerifyError

GOOD = StepReport(name="load", passed=True, elapsed_ms=1.5, deadline_ms=1000, facts={"textMs": 1.0})
BAD = StepReport(
    name="barge_in",
    passed=False,
    elapsed_ms=3.0,
    deadline_ms=1000,
    error={"code": "verify.barge_in", "message": "M", "remedy": "R", "details": {}},
)
REPORT = VerifyReport(
    bundle_key="k",
    manifest_sha256="a" * 64,
    library_version="1.0",
    started_at=datetime(2026, 1, 2, tzinfo=UTC),
    steps=(GOOD,),
)


def test_verify_report_is_kept_word_for_word() -> None:
    for report in (REPORT, replace(REPORT, steps=(GOOD, BAD))):
        assert VerifyReport.from_json(json.loads(json.dumps(report.as_json()))) == report


def test_a_failed_report_raises_its_own_step() -> None:
    with pytest.raises(VerifyError) as caught:
        replace(REPORT, steps=(GOOD, BAD)).require_passed()
    assert (caught.value.code, caught.value.message, caught.value.remedy) == ("verify.barge_in", "M", "R")
    assert caught.value.details["step"]["name"] == "barge_in"
    REPORT.require_passed()


def test_a_report_without_steps_proves_nothing() -> None:
    empty = replace(REPORT, steps=())
    assert not empty.passed
    with pytest.raises(VerifyError):
        empty.require_passed()


@pytest.mark.parametrize(
    "change",
    [
        {"format": 9},
        {"passed": False},
        {"manifestSha256": "short"},
        {"startedAt": "yesterday"},
        {"steps": [{}]},
        {"steps": 5},
        {"bundleKey": 3},
        {"libraryVersion": None},
    ],
)
def test_a_document_of_another_shape_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        VerifyReport.from_json(REPORT.as_json() | change)
