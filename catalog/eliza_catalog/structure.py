"""The cattrs converter that turns JSON values into the manifest's frozen dataclasses, strictly.

Nothing is coerced (`"3"` is not 3, `1` is not true) and unknown keys are dropped, but an unknown kernel, backend
status or tier is a fault. It raises cattrs' own exception groups, which `faults_of` flattens into pointers; only
`decode` uses it (contract section 6; facts 2.1-2.7).
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from cattrs import (
    BaseValidationError,
    ClassValidationError,
    Converter,
    IterableValidationError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn, override

from eliza_catalog import manifest as shapes
from eliza_catalog import spelling
from eliza_catalog.errors import ManifestError
from eliza_catalog.json_text import below
from eliza_catalog.spelling import GATES, LOOP_FLAGS
from eliza_catalog.terms import BundlePath, Kernel, Sha256

Hook = Callable[[Any, Any], Any]


class Misshapen(ValueError):
    """A value is not what the manifest's shape asks for."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing wrong with a document, and where (RFC 6901)."""

    pointer: str
    text: str
    unsafe_path: bool = False


def faults_of(error: Exception, pointer: str = "") -> Iterator[Fault]:
    """Yield every fault inside what the converter raised, with its pointer."""
    if isinstance(error, ClassValidationError):
        noted, bare = error.group_exceptions()
        for inner, attribute in noted:
            yield from faults_of(inner, below(pointer, _json_name(error.cl, attribute.name)))
    elif isinstance(error, IterableValidationError):
        items, bare = error.group_exceptions()
        for inner, item in items:
            yield from faults_of(inner, below(pointer, item.index))
    else:
        yield _leaf(error, pointer)
        return
    for inner in bare:
        yield from faults_of(inner, pointer)


def _leaf(error: Exception, pointer: str) -> Fault:
    if isinstance(error, KeyError):
        return Fault(pointer=pointer, text="is missing")
    if isinstance(error, ManifestError):
        unsafe = error.reason == "path_unsafe"
        return Fault(pointer=pointer, text=error.details.get("fault", error.message), unsafe_path=unsafe)
    return Fault(pointer=pointer, text=str(error))


def _json_name(shape: type, field: str) -> str:
    return spelling.SPELLINGS[shape][field].json_name


def build_converter() -> Converter:
    """Return a converter that knows every shape of the manifest."""
    converter = Converter(detailed_validation=True)
    converter.register_structure_hook(BundlePath, lambda value, _: BundlePath(_string(value)))
    converter.register_structure_hook(Sha256, lambda value, _: Sha256(_string(value)))
    converter.register_structure_hook(datetime, lambda value, _: _moment(value))
    converter.register_structure_hook(StrEnum, _enum)
    converter.register_structure_hook_func(_is_sequence, lambda value, kind: _sequence(converter, value, kind))
    converter.register_structure_hook_func(_is_mapping, lambda value, kind: _mapping(converter, value, kind))
    for shape, fields in spelling.SPELLINGS.items():
        converter.register_structure_hook(shape, _object_hook(converter, shape, fields))
    converter.register_structure_hook(shapes.Evals, lambda value, _: _evals(value))
    converter.register_structure_hook(shapes.VoiceBlock, lambda value, _: _voice(converter, value))
    return converter


def field_kind(shape: type, name: str) -> Any:
    """Return the type a field is read as: its own without `None`, or the stricter one that `spelling` names."""
    stricter = spelling.READ_AS.get((shape, name))
    if stricter is not None:
        return stricter
    kind = typing.get_type_hints(shape)[name]
    options = [option for option in typing.get_args(kind) if option is not type(None)]
    is_optional = isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union
    return options[0] if is_optional and len(options) == 1 else kind


def _object_hook(converter: Converter, shape: type, fields: Mapping[str, spelling.Spelling]) -> Hook:
    overrides: dict[str, Any] = {
        name: override(rename=field.json_name, struct_hook=_field_hook(converter, shape, name, field))
        for name, field in fields.items()
    }
    inner: Hook = make_dict_structure_fn(shape, converter, _cattrs_forbid_extra_keys=False, **overrides)
    return lambda value, kind: inner(_mapping_value(value), kind)


def _field_hook(converter: Converter, shape: type, name: str, field: spelling.Spelling) -> Hook:
    if field.json_name == spelling.NOT_IN_JSON:
        return lambda value, _: value
    rule = field.rule
    if rule is not None:
        return lambda value, _: _checked(rule, value)
    kind = field_kind(shape, name)
    return lambda value, _: converter.structure(value, kind)


def _checked(rule: spelling.Rule, value: Any) -> Any:
    fault = rule.fault_in(value)
    if fault:
        raise Misshapen(fault)
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise Misshapen("must be a string")
    return value


def _mapping_value(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Misshapen("must be an object")
    return value


def _moment(value: Any) -> datetime:
    _checked(spelling.PUBLISHED_AT, value)
    try:
        return datetime.fromisoformat(value[:19] + "+00:00")
    except ValueError as fault:
        raise Misshapen(f"is not a moment in time: {fault}") from fault


def _enum(value: Any, kind: type[StrEnum]) -> StrEnum:
    if isinstance(value, str) and value in tuple(kind):
        return kind(value)
    if kind is Kernel:
        raise Misshapen("is a kernel that this version does not know")
    raise Misshapen(f"must be one of {', '.join(kind)}")


def _is_sequence(kind: Any) -> bool:
    return typing.get_origin(kind) is tuple


def _sequence(converter: Converter, value: Any, kind: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Misshapen("must be an array")
    item_kind = typing.get_args(kind)[0]
    return tuple(_each(enumerate(value), lambda _, item: converter.structure(item, item_kind)).values())


def _is_mapping(kind: Any) -> bool:
    return typing.get_origin(kind) is Mapping


def _mapping(converter: Converter, value: Any, kind: Any) -> Mapping[Any, Any]:
    key_kind, item_kind = typing.get_args(kind)
    items = _mapping_value(value)
    known = {key: item for key, item in items.items() if key in tuple(key_kind) or key_kind is spelling.RecipeName}
    read = _each(known.items(), lambda key, item: (_enum(key, key_kind), converter.structure(item, item_kind)))
    return types.MappingProxyType(dict(read.values()))


def _each(items: Any, read: Callable[[Any, Any], Any]) -> dict[Any, Any]:
    """Read every item; raise one group with the faults of all of them."""
    done: dict[Any, Any] = {}
    faults: list[Exception] = []
    for key, item in items:
        try:
            done[key] = read(key, item)
        except (BaseValidationError, ManifestError, Misshapen) as fault:
            faults.append(_noted(fault, key))
    if faults:
        raise IterableValidationError("several faults", faults, dict)
    return done


def _noted(fault: Exception, key: str | int) -> Exception:
    fault.__notes__ = [IterableValidationNote("at", key, None)]
    return fault


def _evals(value: Any) -> shapes.Evals:
    results = _mapping_value(value)
    faults: list[Exception] = []
    for name in (*LOOP_FLAGS, *GATES):
        try:
            if name in LOOP_FLAGS and name not in results:
                raise Misshapen("is missing")
            if name in LOOP_FLAGS:
                _checked(spelling.Flag(), results[name])
            elif name in results:
                _gate(name, results[name])
        except (IterableValidationError, Misshapen) as fault:
            faults.append(_noted(fault, name))
    if faults:
        raise IterableValidationError("evals", faults, dict)
    gates = {name: _gate(name, results[name]) for name in GATES if name in results}
    return shapes.Evals(
        gates=types.MappingProxyType(gates), e2e_loop_ok=results["e2eLoopOk"], thirty_turn_ok=results["thirtyTurnOk"]
    )


def _gate(name: str, value: Any) -> shapes.Gate:
    result = _mapping_value(value)
    faults: list[Exception] = []
    figures: dict[str, float | None] = {}
    for key, rule in spelling.gate_rules(name).items():
        try:
            if key in result:
                figures[key] = _checked(rule, result[key])
            elif not spelling.is_optional(rule):
                raise Misshapen("is missing")
        except Misshapen as fault:
            faults.append(_noted(fault, key))
    if faults:
        raise IterableValidationError(name, faults, dict)
    verdicts = {bool(figures.pop(key)) for key in ("passed", "pass") if key in figures}
    if len(verdicts) != 1:
        raise Misshapen("must say passed, and say it in one way only")
    figures.pop("kind", None)
    return shapes.Gate(passed=verdicts.pop(), figures=types.MappingProxyType(figures))


def _voice(converter: Converter, value: Any) -> shapes.VoiceBlock:
    nested = converter.structure(value, spelling.Voice)
    return shapes.VoiceBlock(
        version=nested.version,
        speaker_preset=nested.cache.speaker_preset,
        phrase_cache_seed=nested.cache.phrase_cache_seed,
        capabilities=tuple(str(capability) for capability in nested.capabilities),
    )
