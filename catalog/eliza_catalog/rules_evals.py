"""The contract's rules on evals: which must be reported, which figures contradict their verdict, which must pass.

An eval that was not run is reported as not passed, never left out where its files are there. Keeps contract
section 6 (evals block), section 8 and facts 2.5; floors come from the policy table.
"""

from __future__ import annotations

from collections.abc import Mapping

from eliza_catalog.manifest import Gate, Manifest
from eliza_catalog.terms import FileGroup
from eliza_catalog.tiers import DATA
from eliza_catalog.violation import Violations, violation

_ALWAYS = ("textEval", "voiceRtf", "mtp")
_OF_GROUP = {
    FileGroup.ASR: "asrWer",
    FileGroup.EMBEDDING: "embedMteb",
    FileGroup.VAD: "vadLatencyMs",
    FileGroup.TURN: "turnDetector",
    FileGroup.EMOTION: "emotionClassifier",
}
_EXPRESSIVE = {"emotion-tags", "singing"}
_SPECULATIVE = ("mtp", "eagle3")
_FLOORS: Mapping[str, Mapping[str, Mapping[str, float]]] = DATA["gate_floors"]


def eval_violations(manifest: Manifest, *, strict: bool) -> Violations:
    """Yield evals that are missing, contradict themselves, or (for a finished release) did not pass."""
    gates = manifest.evals.gates
    for name in needed_gates(manifest):
        if name not in gates:
            yield violation("eval_missing", f"/evals/{name}", "A test that its parts call for is not reported.")
    for name, gate in gates.items():
        yield from _contradictions(name, gate)
    if strict:
        for name in failed_evals(manifest):
            yield violation("eval_failed", f"/evals/{name}", "It did not pass its publisher's own tests.")


def needed_gates(manifest: Manifest) -> tuple[str, ...]:
    """Return the evals that a bundle with these parts must report, by JSON name."""
    of_parts = [name for group, name in _OF_GROUP.items() if manifest.first(group) is not None]
    is_expressive = manifest.voice is not None and not _EXPRESSIVE.isdisjoint(manifest.voice.capabilities)
    return (*_ALWAYS, *of_parts, *(["expressive"] if is_expressive else []))


def failed_evals(manifest: Manifest) -> tuple[str, ...]:
    """Return the JSON names of every needed eval that did not pass, loops included."""
    gates = manifest.evals.gates
    failed = [name for name in needed_gates(manifest) if name in gates and not gates[name].passed]
    loops = {"e2eLoopOk": manifest.evals.e2e_loop_ok, "thirtyTurnOk": manifest.evals.thirty_turn_ok}
    return (*failed, *(name for name, passed in loops.items() if not passed))


def _contradictions(name: str, gate: Gate) -> Violations:
    figures = gate.figures
    if name in _SPECULATIVE and gate.passed:
        for key in ("acceptanceRate", "speedup"):
            if figures.get(key) is None:
                yield violation("eval_contradicts", f"/evals/{name}/{key}", "A test passed without its figures.")
    if name in _FLOORS and gate.passed is not _meets(figures, _FLOORS[name]):
        yield violation("eval_contradicts", f"/evals/{name}/passed", "A test's verdict contradicts its figures.")


def _meets(figures: Mapping[str, float | None], floors: Mapping[str, Mapping[str, float]]) -> bool:
    for key, floor in floors.items():
        value = figures.get(key)
        if value is None or value < floor.get("at_least", value) or value > floor.get("at_most", value):
            return False
    return True
