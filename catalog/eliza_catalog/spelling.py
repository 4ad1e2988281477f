"""How the manifest's JSON spells and bounds each field of the dataclasses in `manifest`.

One table serves two readers: `decode`, which refuses what breaks a bound, and `schema`, which publishes the
same bounds as JSON Schema, so the two cannot drift apart. Holds no rule about combinations of fields; those are
the contract's (contract section 6; facts 2.1-2.7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from eliza_catalog import manifest as shapes
from eliza_catalog.terms import BundlePath

SCHEMA_ID = "https://elizaos.ai/schemas/eliza-1.manifest.v1.json"
SCHEMA_VERSIONS = ("2", 2)
_MAX_WHOLE = 2**31 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A string: non-empty, matching `pattern` wholly, one of `choices`."""

    pattern: str | None = None
    choices: tuple[str, ...] = ()
    optional: bool = False

    def fault_in(self, value: object) -> str | None:
        """Say what is wrong with `value`, or None."""
        if not isinstance(value, str) or not value:
            return "must be a non-empty string"
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(self.choices)}"
        if self.pattern and not re.fullmatch(self.pattern, value):
            return f"must match {self.pattern}"
        return None

    def schema(self) -> dict[str, Any]:
        """Return the same bound as JSON Schema."""
        if self.choices:
            return {"enum": list(self.choices)}
        extra = {"pattern": f"^(?:{self.pattern})$"} if self.pattern else {}
        return {"type": "string", "minLength": 1, **extra}


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A positive whole number that a 32-bit reader can hold."""

    def fault_in(self, value: object) -> str | None:
        """Say what is wrong with `value`, or None."""
        good = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _MAX_WHOLE
        return None if good else f"must be a whole number from 1 to {_MAX_WHOLE}"

    def schema(self) -> dict[str, Any]:
        """Return the same bound as JSON Schema."""
        return {"type": "integer", "minimum": 1, "maximum": _MAX_WHOLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number of at least `minimum` (more than it, if `above`) and at most `maximum`; maybe null or left out."""

    minimum: float = 0.0
    maximum: float | None = None
    above: bool = False
    nullable: bool = False
    optional: bool = False

    def fault_in(self, value: object) -> str | None:
        """Say what is wrong with `value`, or None."""
        if value is None and self.nullable:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "must be a number or null" if self.nullable else "must be a number"
        if value < self.minimum or (self.above and value == self.minimum):
            return f"must be {'above' if self.above else 'at least'} {self.minimum:g}"
        if self.maximum is not None and value > self.maximum:
            return f"must be at most {self.maximum:g}"
        return None

    def schema(self) -> dict[str, Any]:
        """Return the same bound as JSON Schema."""
        low = "exclusiveMinimum" if self.above else "minimum"
        kind: Any = ["number", "null"] if self.nullable else "number"
        high = {} if self.maximum is None else {"maximum": self.maximum}
        return {"type": kind, low: self.minimum, **high}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A boolean, perhaps of one value only."""

    only: bool | None = None
    optional: bool = False

    def fault_in(self, value: object) -> str | None:
        """Say what is wrong with `value`, or None."""
        if not isinstance(value, bool):
            return "must be true or false"
        return None if self.only in (None, value) else f"must be {str(self.only).lower()}"

    def schema(self) -> dict[str, Any]:
        """Return the same bound as JSON Schema."""
        return {"type": "boolean"} if self.only is None else {"const": self.only}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOrObject:
    """A non-empty string or any object (`textQuant`)."""

    def fault_in(self, value: object) -> str | None:
        """Say what is wrong with `value`, or None."""
        return None if isinstance(value, dict) or (isinstance(value, str) and value) else "must be a string or object"

    def schema(self) -> dict[str, Any]:
        """Return the same bound as JSON Schema."""
        return {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}]}


Rule = Text | Whole | Number | Flag | TextOrObject


class VoiceCapability(StrEnum):
    """What the voice can do besides plain speech."""

    TTS = "tts"
    EMOTION_TAGS = "emotion-tags"
    SINGING = "singing"


class SourceSlot(StrEnum):
    """A component that `provenance.sourceModels` may name."""

    TEXT = "text"
    VOICE = "voice"
    ASR = "asr"
    VAD = "vad"
    EMBEDDING = "embedding"
    IMAGEGEN = "imagegen"
    VISION = "vision"
    DRAFTER = "drafter"


class RecipeName(StrEnum):
    """A quantised block type, as `kernels.recipeManifest` names it."""

    TURBO3 = "turbo3"
    TURBO4 = "turbo4"
    TURBO3_TCQ = "turbo3_tcq"
    QJL1_256 = "qjl1_256"
    POLAR_Q4 = "polar_q4"


@dataclass(frozen=True, slots=True)
class Spelling:
    """One field: its JSON name and, where the type alone does not bound it, its rule."""

    json_name: str
    rule: Rule | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VoiceCache:
    """`voice.cache` as the JSON nests it; `decode` flattens it into `VoiceBlock`."""

    speaker_preset: BundlePath
    phrase_cache_seed: BundlePath


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """`voice` as the JSON nests it; `decode` flattens it into `VoiceBlock`."""

    version: str
    frozen: bool
    cache: VoiceCache
    capabilities: tuple[str, ...] = ("tts",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokenizer:
    """`tokenizer` as the JSON spells it; `decode` keeps it as a mapping."""

    family: str
    vocab_size: int


READ_AS: Mapping[tuple[type, str], Any] = MappingProxyType(
    {
        (shapes.Kernels, "recipe_manifest"): Mapping[RecipeName, shapes.RecipePin],
        (shapes.Provenance, "source_models"): Mapping[SourceSlot, shapes.SourceModel],
        (shapes.Manifest, "tokenizer"): Tokenizer,
        (Voice, "capabilities"): tuple[VoiceCapability, ...],
    }
)
"""Fields whose JSON is bounded more tightly than their Python type says."""

NOT_IN_JSON = "\0 digest"
"""Stands for the JSON name of a field that the document itself does not carry; no JSON author would write it."""

_TEXT = Text()
# long enough for any release and short enough for a folder's name
_TAIL = r"(?:-[A-Za-z0-9-]{1,32}(?:\.[A-Za-z0-9-]{1,32}){0,3})?"
_VERSION = r"[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}" + _TAIL
PUBLISHED_AT = Text(pattern=r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z")

SPELLINGS: Mapping[type, Mapping[str, Spelling]] = MappingProxyType(
    {
        shapes.Artifact: {
            "path": Spelling("path"),
            "sha256": Spelling("sha256"),
            "ctx": Spelling("ctx", Whole()),
            "runtime_class": Spelling("runtimeClass"),
            "target": Spelling("target", _TEXT),
            "name": Spelling("name", _TEXT),
        },
        shapes.Lineage: {"base": Spelling("base", _TEXT), "license": Spelling("license", _TEXT)},
        shapes.BackendVerification: {
            "status": Spelling("status"),
            "at_commit": Spelling("atCommit", _TEXT),
            "report": Spelling("report", _TEXT),
            "device": Spelling("device", _TEXT),
            "caveat": Spelling("caveat", _TEXT),
        },
        shapes.RecipePin: {
            "block_layout_version": Spelling("blockLayoutVersion", _TEXT),
            "codebook_hash": Spelling("codebookHash", _TEXT),
            "per_block_tolerance": Spelling("perBlockTolerance", Number(above=True)),
        },
        shapes.Kernels: {
            "required": Spelling("required"),
            "optional": Spelling("optional"),
            "verified_backends": Spelling("verifiedBackends"),
            "recipe_manifest": Spelling("recipeManifest"),
        },
        shapes.RamBudget: {"min_mib": Spelling("min", Whole()), "recommended_mib": Spelling("recommended", Whole())},
        shapes.SourceModel: {
            "repo": Spelling("repo", _TEXT),
            "file": Spelling("file", _TEXT),
            "converted_via": Spelling("convertedVia", _TEXT),
            "note": Spelling("note", _TEXT),
        },
        shapes.Provenance: {
            "release_state": Spelling("releaseState"),
            "finetuned": Spelling("finetuned", Flag()),
            "source_models": Spelling("sourceModels"),
        },
        VoiceCache: {
            "speaker_preset": Spelling("speakerPreset"),
            "phrase_cache_seed": Spelling("phraseCacheSeed"),
        },
        Voice: {
            "version": Spelling("version", _TEXT),
            "frozen": Spelling("frozen", Flag(only=True)),
            "cache": Spelling("cache"),
            "capabilities": Spelling("capabilities"),
        },
        Tokenizer: {"family": Spelling("family", _TEXT), "vocab_size": Spelling("vocabSize", Whole())},
        shapes.Manifest: {
            "id": Spelling("id", Text(pattern=r"eliza-1-[a-z0-9][a-z0-9.-]*")),
            "tier": Spelling("tier"),
            "version": Spelling("version", Text(pattern=_VERSION)),
            "published_at": Spelling("publishedAt"),
            "lineage": Spelling("lineage"),
            "files": Spelling("files"),
            "kernels": Spelling("kernels"),
            "evals": Spelling("evals"),
            "ram": Spelling("ramBudgetMb"),
            "default_eligible": Spelling("defaultEligible", Flag()),
            "digest": Spelling(NOT_IN_JSON),
            "provenance": Spelling("provenance"),
            "voice": Spelling("voice"),
            "release_channel": Spelling("releaseChannel", Text(choices=("recommended", "base-v1"))),
            "text_quant": Spelling("textQuant", TextOrObject()),
            "tokenizer": Spelling("tokenizer"),
            "kv": Spelling("kv", _TEXT),
            "mtp": Spelling("mtp", Text(choices=("separate-drafter", "embedded-draft-head"))),
        },
    }
)

_UNIT = Number(maximum=1.0)
_AT_LEAST_0 = Number()
_OPTIONAL = Number(optional=True)
_UNMEASURED = Number(nullable=True)

GATES: Mapping[str, Mapping[str, Number]] = MappingProxyType(
    {
        "textEval": {"score": _UNIT},
        "voiceRtf": {"rtf": _AT_LEAST_0},
        "asrWer": {"wer": _AT_LEAST_0},
        "embedMteb": {"score": _UNIT},
        "vadLatencyMs": {
            "median": _AT_LEAST_0,
            "boundaryMs": _OPTIONAL,
            "endpointMs": _OPTIONAL,
            "falseBargeInRate": _OPTIONAL,
        },
        "expressive": {"tagFaithfulness": _AT_LEAST_0, "mosExpressive": _AT_LEAST_0, "tagLeakage": _AT_LEAST_0},
        "mtp": {"acceptanceRate": Number(maximum=1.0, nullable=True), "speedup": _UNMEASURED},
        "eagle3": {
            "acceptanceRate": Number(maximum=1.0, nullable=True, optional=True),
            "speedup": Number(nullable=True, optional=True),
        },
        "turnDetector": {"f1": _UNIT, "meanLatencyMs": _AT_LEAST_0},
        "emotionClassifier": {"macroF1Meld": _UNIT, "macroF1Iemocap": _UNIT, "meanLatencyMs": _AT_LEAST_0},
    }
)
"""Each eval gate's figures by JSON name; beside them every gate has `passed`."""

LOOP_FLAGS: Mapping[str, str] = MappingProxyType({"e2eLoopOk": "e2e_loop_ok", "thirtyTurnOk": "thirty_turn_ok"})


def gate_rules(gate: str) -> Mapping[str, Rule]:
    """Return every key of one eval gate with its rule: its figures, its verdict, and what only it has."""
    verdict: dict[str, Rule] = {"passed": Flag()}
    if gate == "eagle3":
        verdict = {"passed": Flag(optional=True), "pass": Flag(optional=True)}
    if gate == "turnDetector":
        verdict["kind"] = Text(choices=("livekit", "turnsense", "eliza-1-drafter"), optional=True)
    return {**GATES[gate], **verdict}


def is_optional(rule: Rule) -> bool:
    """Whether a key under this rule may be left out of a gate."""
    return isinstance(rule, Number | Flag | Text) and rule.optional
