"""What a manifest must satisfy by itself, before any device is looked at.

`judge_manifest` gathers every broken rule and only then raises; what it returns is the one key to the fit, and so
to a download. It looks at no host and no disk. Keeps contract sections 2, 3, 6 and 7; facts 2.1-2.8.
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass

from eliza_catalog import rules_evals, rules_files, rules_identity
from eliza_catalog.errors import ContractError, InternalError
from eliza_catalog.manifest import Manifest
from eliza_catalog.terms import Kernel
from eliza_catalog.tiers import needed_kernels
from eliza_catalog.violation import Violation

_JUDGED = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationBar:
    """Why a bundle that may be downloaded may not answer; `failed_evals` are JSON names for developers."""

    code: str
    message: str
    remedy: str
    failed_evals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServableManifest:
    """A manifest that keeps the contract; only `judge_manifest` makes one.

    Raises:
        InternalError: `internal.broken_promise`, somebody else tried to make one.
    """

    manifest: Manifest
    needed_kernels: frozenset[Kernel]
    activation_bars: tuple[ActivationBar, ...]
    proof: InitVar[object]

    def __post_init__(self, proof: object) -> None:
        if proof is not _JUDGED:
            raise InternalError("broken_promise", "A bundle was about to be used without having been judged.")

    @property
    def may_be_default(self) -> bool:
        """Whether this bundle may be recommended as a default (contract section 6, first rule)."""
        return self.manifest.default_eligible


def judge_manifest(manifest: Manifest, *, allow_standin: bool = False) -> ServableManifest:
    """Judge a manifest by the contract.

    Args:
        manifest: what `decode_manifest` read.
        allow_standin: whether the user asked for a stand-in for demonstrations.

    Returns:
        The manifest with the kernels it needs and what bars it from activation.

    Raises:
        ContractError: `contract.violated`, whose `details.violations` list every `{code, message, pointer}`;
            `contract.standin_refused`, for a stand-in that was not asked for.
    """
    broken = violations_of(manifest)
    if broken:
        count = "one rule" if len(broken) == 1 else f"{len(broken)} rules"
        raise ContractError(
            "violated",
            f"This version of Eliza-1 breaks {count} that every version must keep.",
            details={"id": manifest.id, "violations": [each.as_json() for each in broken]},
        )
    if manifest.is_standin and not allow_standin:
        raise ContractError("standin_refused", "This is not Eliza-1 itself but a stand-in for demonstrations.")
    return ServableManifest(
        manifest=manifest,
        needed_kernels=needed_kernels(manifest),
        activation_bars=_activation_bars(manifest),
        proof=_JUDGED,
    )


def violations_of(manifest: Manifest, *, installing: bool = True) -> tuple[Violation, ...]:
    """Return every rule that a manifest breaks, in the document's order.

    Args:
        manifest: the manifest.
        installing: False judges as the publisher must, without leniency for versions that call themselves staged.
    """
    strict = rules_identity.is_strict(manifest, installing=installing)
    return (
        *rules_identity.identity_violations(manifest),
        *rules_files.lineage_violations(manifest),
        *rules_files.group_violations(manifest),
        *rules_files.text_violations(manifest),
        *rules_files.drafter_violations(manifest, strict=strict),
        *rules_identity.verification_violations(manifest, strict=strict),
        *rules_evals.eval_violations(manifest, strict=strict),
        *rules_identity.release_violations(manifest, strict=strict),
    )


def _activation_bars(manifest: Manifest) -> tuple[ActivationBar, ...]:
    """Return the eval gate's bar, if any.

    A stand-in has none: it was asked for by name (`--allow-standin`), claims no quality and every surface calls it
    a stand-in, so its unmeasured evals mislead nobody. Any other bundle must have passed its text eval.
    """
    text = manifest.evals.gates["textEval"]
    if text.passed or manifest.is_standin:
        return ()
    return (
        ActivationBar(
            code="activation.eval_gate",
            message="This version of Eliza-1 did not pass its publisher's own tests, so it may not answer.",
            remedy="Wait for a newer version, or choose another size.",
            failed_evals=rules_evals.failed_evals(manifest),
        ),
    )
