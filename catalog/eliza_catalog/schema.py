"""The manifest's JSON Schema (2020-12), made from the dataclasses and the bounds that `decode` reads by.

Publishers check their documents with it; we never do, `decode` says more. It can state shape only: clashing
paths, dates that do not exist and repeated keys are left to `decode`, combinations to `contract` (section 6).
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any

from eliza_catalog import manifest as shapes
from eliza_catalog import spelling
from eliza_catalog.structure import field_kind
from eliza_catalog.terms import BundlePath, Sha256

_SAFE_PATH = r'^(?!/)(?!.*/$)(?!.*//)(?!(?:.*/)?\.{1,2}(?:/|$))(?!.*[. ](?:/|$))[^\u0000-\u001f\u007f<>:"|?*\\]{1,240}$'


def manifest_schema() -> dict[str, Any]:
    """Return the schema as a JSON value; the same value as `data/manifest.v1.schema.json`."""
    body = _object(shapes.Manifest)
    versions: dict[str, Any] = {
        "$schema": {"const": spelling.SCHEMA_ID},
        "schemaVersion": {"enum": list(spelling.SCHEMA_VERSIONS)},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": spelling.SCHEMA_ID,
        "title": "Eliza-1 bundle manifest, version 1",
        **body,
        "properties": {**versions, **body["properties"]},
        "$defs": {shape.__name__: _object(shape) for shape in spelling.SPELLINGS if shape is not shapes.Manifest},
    }


def _object(shape: type) -> dict[str, Any]:
    fields = {
        field: spelling.SPELLINGS[shape][field.name]
        for field in dataclasses.fields(shape)
        if spelling.SPELLINGS[shape][field.name].json_name != spelling.NOT_IN_JSON
    }
    return {
        "type": "object",
        "properties": {
            spelled.json_name: spelled.rule.schema() if spelled.rule else _of(field_kind(shape, field.name))
            for field, spelled in fields.items()
        },
        "required": [spelled.json_name for field, spelled in fields.items() if _is_required(field)],
    }


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _of(kind: Any) -> dict[str, Any]:
    if kind is shapes.Evals:
        return _evals()
    if typing.get_origin(kind) is tuple:
        return {"type": "array", "items": _of(typing.get_args(kind)[0])}
    if typing.get_origin(kind) is Mapping:
        return _mapping(*typing.get_args(kind))
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return {"enum": [str(member) for member in kind]}
    leaves = {
        Sha256: {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        BundlePath: {"type": "string", "pattern": _SAFE_PATH},
        datetime: spelling.PUBLISHED_AT.schema(),
    }
    name = (spelling.Voice if kind is shapes.VoiceBlock else kind).__name__
    return leaves.get(kind) or {"$ref": f"#/$defs/{name}"}


def _mapping(key: type[StrEnum], item: Any) -> dict[str, Any]:
    known = {"type": "object", "properties": {str(member): _of(item) for member in key}}
    return {**known, "additionalProperties": False} if key is spelling.RecipeName else known


def _evals() -> dict[str, Any]:
    flags = {name: spelling.Flag().schema() for name in spelling.LOOP_FLAGS}
    gates = {name: _gate(name) for name in spelling.GATES}
    return {"type": "object", "properties": {**flags, **gates}, "required": list(flags)}


def _gate(name: str) -> dict[str, Any]:
    rules = spelling.gate_rules(name)
    body: dict[str, Any] = {
        "type": "object",
        "properties": {key: rule.schema() for key, rule in rules.items()},
        "required": [key for key, rule in rules.items() if not spelling.is_optional(rule)],
    }
    if "pass" in rules:  # the one gate with two spellings of its verdict, which must agree
        either = [{"required": ["passed"]}, {"required": ["pass"]}]
        agree = [{"properties": {"passed": {"const": says}, "pass": {"const": says}}} for says in (True, False)]
        return {**body, "allOf": [{"anyOf": either}, {"anyOf": agree}]}
    return body
