"""Every error the product can show, by family, reason and code.

An `ElizaError` is one document, `{code, message, remedy, details}`, in the CLI, the API, the log and the
crash file alike. Message and remedy are written for the person at the device and speak of Eliza-1 only;
`details` are JSON values for developers. Raises and catches nothing by itself (house rules, section 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar, TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class ExitCode(IntEnum):
    """Process exit codes of `eliza-agent`, documented in the README."""

    OK = 0
    OTHER = 1
    USAGE = 2
    REFUSED = 3
    NETWORK = 4
    INTEGRITY = 5
    STORAGE = 6
    VERIFICATION = 7
    BUSY = 8
    NOT_SET_UP = 9


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason within a family: the remedy it offers, and whether trying again may help."""

    remedy: str
    exit_code: ExitCode | None = None
    retryable: bool = False


class ElizaError(Exception):
    """Base of all thirteen families; raise a family with one of its reasons.

    Args:
        reason: a key of the family's `reasons`; the code is `<family>.<reason>`.
        message: what happened, for the user.
        remedy: what to do about it; the reason's own remedy when omitted.
        details: JSON values for developers.

    Raises:
        KeyError: the reason is not one of the family's (a fault of ours, found by any test that raises it).
    """

    family: ClassVar[str] = "eliza"
    default_exit_code: ClassVar[ExitCode] = ExitCode.OTHER
    reasons: ClassVar[Mapping[str, Reason]] = {}

    def __init__(
        self,
        reason: str,
        message: str,
        *,
        remedy: str | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        known = self.reasons[reason]
        super().__init__(message)
        self.reason = reason
        self.code = f"{self.family}.{reason}"
        self.message = message
        self.remedy = remedy or known.remedy
        self.details: dict[str, Any] = dict(details or {})
        self.exit_code = known.exit_code if known.exit_code is not None else self.default_exit_code
        self.retryable = known.retryable

    def as_json(self) -> dict[str, Any]:
        """Return the error document `{code, message, remedy, details}`."""
        return {"code": self.code, "message": self.message, "remedy": self.remedy, "details": self.details}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.code}: {self.message})"


class SettingsError(ElizaError):
    """A setting, flag or environment variable cannot be used."""

    family = "settings"
    default_exit_code = ExitCode.USAGE
    reasons: ClassVar[Mapping[str, Reason]] = {
        "bad_value": Reason("Correct the value; `eliza-agent --help` lists what is accepted."),
        "mode_forbids": Reason("Switch the run mode first; this feature does not exist in the current one."),
    }


class ManifestError(ElizaError):
    """A bundle's manifest cannot be read."""

    family = "manifest"
    default_exit_code = ExitCode.REFUSED
    reasons: ClassVar[Mapping[str, Reason]] = {
        "unreadable": Reason("Ask the publisher of this bundle for a valid manifest."),
        "schema_unknown": Reason("Update eliza-agent; this bundle was made for a newer or different version."),
        "malformed": Reason("Ask the publisher of this bundle for a valid manifest; details list every fault."),
        "path_unsafe": Reason("Do not use this bundle; its manifest points outside its own folder."),
        "too_large": Reason("Do not use this bundle; a manifest is never larger than 1 MiB."),
    }


class ContractError(ElizaError):
    """A readable manifest breaks the Eliza-1 contract."""

    family = "contract"
    default_exit_code = ExitCode.REFUSED
    reasons: ClassVar[Mapping[str, Reason]] = {
        "violated": Reason("Choose another Eliza-1 version; details list every broken rule."),
        "standin_refused": Reason("This is a stand-in for demonstrations. Add --allow-standin to use it."),
    }


class FitError(ElizaError):
    """The bundle does not fit this device; `details.reasons` holds every reason, gravest first."""

    family = "fit"
    default_exit_code = ExitCode.REFUSED
    reasons: ClassVar[Mapping[str, Reason]] = {
        "refused": Reason("Choose a smaller Eliza-1 size; `eliza-agent probe` shows what this device offers."),
        "no_tier": Reason("No Eliza-1 size fits this device; `eliza-agent probe` shows why."),
        "host_unreadable": Reason("Run the same command again; if it repeats, report it with the details."),
    }


class DownloadError(ElizaError):
    """Bytes cannot be had from the hub."""

    family = "download"
    default_exit_code = ExitCode.NETWORK
    reasons: ClassVar[Mapping[str, Reason]] = {
        "offline": Reason("Check the network connection and run the same command again.", retryable=True),
        "timeout": Reason("Run the same command again; it continues where it stopped.", retryable=True),
        "stalled": Reason("Run the same command again; it continues where it stopped.", retryable=True),
        "http_status": Reason("Try again later, or choose another hub with --hub.", retryable=True),
        "not_found": Reason("Check the hub address and the Eliza-1 size."),
        "gated": Reason("Sign in to the hub, or choose another hub with --hub."),
        "source_changed": Reason("Run the same command again; the hub replaced the file.", retryable=True),
        "bad_reply": Reason("The hub sent something unexpected. Try again, or choose another hub with --hub."),
        "conflict": Reason("Ask the publisher: the manifest names one file with two digests."),
    }


class IntegrityError(ElizaError):
    """Bytes are not the bytes the manifest promised."""

    family = "integrity"
    default_exit_code = ExitCode.INTEGRITY
    reasons: ClassVar[Mapping[str, Reason]] = {
        "digest": Reason("Run the same command again to fetch the file anew; if it repeats, the hub's copy is bad."),
        "size": Reason("Run the same command again to fetch the file anew."),
        "missing": Reason("Run `eliza-agent setup` again; it fetches what is missing."),
        "not_gguf": Reason("The hub served something that is not a model file. Try another hub with --hub."),
        "wrong_architecture": Reason("Ask the publisher: the file's own header contradicts the manifest."),
    }


class StorageError(ElizaError):
    """The disk refuses."""

    family = "storage"
    default_exit_code = ExitCode.STORAGE
    reasons: ClassVar[Mapping[str, Reason]] = {
        "full": Reason("Free some disk space and run the same command again; nothing is lost."),
        "denied": Reason("Check the permissions of the state folder, or set ELIZA_STATE_DIR."),
        "locked": Reason("Another eliza-agent is at work; wait for it or stop it.", ExitCode.BUSY, retryable=True),
        "registry_corrupt": Reason("Move registry.json away and run `eliza-agent setup` again."),
        "failed": Reason("Check the disk; the operating system reported an error."),
    }


class NativeError(ElizaError):
    """The native library failed; `details.status` is the ABI's number."""

    family = "native"
    reasons: ClassVar[Mapping[str, Reason]] = {
        "library_absent": Reason("Reinstall eliza-agent, or point ELIZA_NATIVE_LIB at the library."),
        "symbol_absent": Reason("Update the native library; this one lacks a needed function."),
        "abi_mismatch": Reason("Reinstall eliza-agent; its library is of another version."),
        "status": Reason("Run `eliza-agent verify`; if it fails again, report it with the details."),
        "out_of_memory": Reason("Close other programs or choose a smaller Eliza-1 size.", retryable=True),
        "backend_unavailable": Reason("Unset ELIZA_LLM_BACKEND, or install what that backend needs.", ExitCode.REFUSED),
        "bundle_invalid": Reason("Run `eliza-agent setup` again; it repairs the files.", ExitCode.INTEGRITY),
        "prompt_too_long": Reason("Ask something shorter.", ExitCode.USAGE),
        "invalid_argument": Reason("Report this; the details tell which value was refused."),
        "not_implemented": Reason("Update eliza-agent; this build lacks the feature."),
    }


class VerifyError(ElizaError):
    """A step of the on-device proof failed; the files are kept for repair."""

    family = "verify"
    default_exit_code = ExitCode.VERIFICATION
    reasons: ClassVar[Mapping[str, Reason]] = {
        "load": Reason("Run `eliza-agent verify` again after closing other programs."),
        "first_token": Reason("Run `eliza-agent setup` again; if it repeats, this Eliza-1 version is faulty."),
        "first_phrase": Reason("Run `eliza-agent setup` again; if it repeats, this Eliza-1 version is faulty."),
        "barge_in": Reason("Close other programs and run `eliza-agent verify` again."),
        "vad": Reason("Run `eliza-agent setup` again; if it repeats, this Eliza-1 version is faulty."),
        "hearing": Reason("Run `eliza-agent setup` again; if it repeats, this Eliza-1 version is faulty."),
        "sight": Reason("Run `eliza-agent setup` again; if it repeats, this Eliza-1 version is faulty."),
        "meaning": Reason("Run `eliza-agent setup` again; if it repeats, this Eliza-1 version is faulty."),
        "deadline": Reason("Close other programs and run `eliza-agent verify` again; the device was too slow."),
    }


class ActivationError(ElizaError):
    """The bundle may not answer."""

    family = "activation"
    default_exit_code = ExitCode.VERIFICATION
    reasons: ClassVar[Mapping[str, Reason]] = {
        "not_verified": Reason("Run `eliza-agent verify` first."),
        "eval_gate": Reason("This Eliza-1 version did not pass its publisher's own tests; wait for a newer one."),
        "manifest_changed": Reason("Run `eliza-agent setup` again; the files changed since they were proven."),
        "not_installed": Reason("Run `eliza-agent list` to see what is installed.", ExitCode.NOT_SET_UP),
        "nothing_active": Reason("Run `eliza-agent setup` first.", ExitCode.NOT_SET_UP),
        "no_previous": Reason("There is no earlier Eliza-1 to go back to.", ExitCode.NOT_SET_UP),
        "in_use": Reason("Activate another version first, or roll back.", ExitCode.BUSY),
    }


class VoiceError(ElizaError):
    """Speech or hearing failed."""

    family = "voice"
    reasons: ClassVar[Mapping[str, Reason]] = {
        "no_device": Reason("Connect a microphone or speaker, or use files instead."),
        "permission": Reason("Allow eliza-agent to use the microphone in the system settings."),
        "budget": Reason("Close other programs; there is not enough memory for speech."),
        "unspeakable": Reason("Nothing in this text can be spoken in the current voice's language.", ExitCode.USAGE),
        "absent": Reason("The active Eliza-1 has no voice; run `eliza-agent setup` again."),
    }


class ServiceError(ElizaError):
    """The background process."""

    family = "service"
    reasons: ClassVar[Mapping[str, Reason]] = {
        "not_running": Reason("Start it with `eliza-agent serve`.", ExitCode.NOT_SET_UP),
        "already_running": Reason("Use the running one, or stop it first.", ExitCode.BUSY),
    }


class InternalError(ElizaError):
    """A promise of ours is broken; always a fault to report."""

    family = "internal"
    reasons: ClassVar[Mapping[str, Reason]] = {
        "broken_promise": Reason("This is a fault in eliza-agent; please report it with the details.")
    }


FAMILIES: tuple[type[ElizaError], ...] = (
    SettingsError,
    ManifestError,
    ContractError,
    FitError,
    DownloadError,
    IntegrityError,
    StorageError,
    NativeError,
    VerifyError,
    ActivationError,
    VoiceError,
    ServiceError,
    InternalError,
)
