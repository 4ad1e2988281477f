"""Story: every error has a code of its own and a remedy, and is the same document everywhere."""

from __future__ import annotations

import json

import pytest

from eliza_catalog.errors import FAMILIES, ElizaError, ExitCode

REASONS = [(family, reason) for family in FAMILIES for reason in family.reasons]


def subclasses_of(family: type[ElizaError]) -> set[type[ElizaError]]:
    below = set(family.__subclasses__())
    return below.union(*(subclasses_of(each) for each in below))


def test_the_thirteen_families_are_all_there_are() -> None:
    assert len(FAMILIES) == 13
    ours = {each for each in subclasses_of(ElizaError) if each.__module__.startswith("eliza_")}
    assert ours == set(FAMILIES)


def test_codes_are_unique() -> None:
    codes = [f"{family.family}.{reason}" for family, reason in REASONS]
    assert len(codes) == len(set(codes))
    assert len({family.family for family in FAMILIES}) == len(FAMILIES)


@pytest.mark.parametrize(("family", "reason"), REASONS)
def test_every_reason_makes_a_whole_document(family: type[ElizaError], reason: str) -> None:
    error = family(reason, "It happened.", details={"n": 1})
    assert json.loads(json.dumps(error.as_json())) == {
        "code": f"{family.family}.{reason}",
        "message": "It happened.",
        "remedy": family.reasons[reason].remedy,
        "details": {"n": 1},
    }
    assert error.exit_code is not ExitCode.OK
    assert error.remedy.endswith(".")
    assert family(reason, "m", remedy="Do this.").remedy == "Do this."


def test_a_reason_of_another_family_is_a_fault_of_ours() -> None:
    with pytest.raises(KeyError):
        FAMILIES[0]("no such reason", "m")
