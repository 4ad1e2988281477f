"""Which rung comes next, for every state that a disk can be in."""

from __future__ import annotations

from itertools import product

import pytest

from eliza_agent.setup.stages import BundleFacts, Stage, next_stage

LADDER = (Stage.DOWNLOAD, Stage.PROVE_FILES, Stage.PROVE_DEVICE, Stage.ACTIVATE)


@pytest.mark.parametrize("done", list(product((False, True), repeat=4)))
def test_the_first_rung_that_is_not_done_comes_next(done: tuple[bool, bool, bool, bool]) -> None:
    published, files_proven, device_proven, active = done
    facts = BundleFacts(published=published, files_proven=files_proven, device_proven=device_proven, active=active)
    expected = next((stage for stage, is_done in zip(LADDER, done, strict=True) if not is_done), Stage.READY)
    assert next_stage(facts) is expected


def test_an_active_pointer_excuses_no_missing_proof() -> None:
    facts = BundleFacts(published=True, files_proven=True, device_proven=False, active=True)
    assert next_stage(facts) is Stage.PROVE_DEVICE
