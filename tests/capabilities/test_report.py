"""A report is JSON through and through, and tells absence with its reason."""

from __future__ import annotations

import json
from pathlib import PurePosixPath

import pytest
from tests.support.fake_host import backend, host

from eliza_capabilities.report import Absent, as_json
from eliza_catalog.terms import Backend, Kernel


def test_absence_and_sets_have_one_form() -> None:
    document = host(backends=(backend(Backend.VULKAN, memory_mib=Absent("not told")),)).as_json()
    assert json.loads(json.dumps(document)) == document
    assert document["schema"] == 1
    assert document["conditions"] == {"on_battery": False, "metered": {"absent": "not asked"}}
    assert document["kernels"] == sorted(kernel.value for kernel in Kernel)
    assert document["backends"][0]["devices"][0]["memory_total_mib"] == {"absent": "not told"}
    assert document["machine"]["os"] == "linux"
    assert document["probed_at"] == "2026-11-30T00:00:00+00:00"


def test_what_reports_do_not_hold_is_not_turned_into_text() -> None:
    assert as_json(PurePosixPath("/state")) == "/state"
    assert as_json(None) is None
    with pytest.raises(TypeError, match="bytes"):
        as_json(b"raw")


def test_only_usable_backends_count() -> None:
    here = host(backends=(backend(Backend.CPU), backend(Backend.CUDA, usable=False)))
    assert here.usable_backends == {Backend.CPU}
