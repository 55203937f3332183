"""JSON schemas of configs and sweeps, for editors and other programs."""

from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import GenerateJsonSchema

from distill.common import MOST_SEED, Settings
from distill.jobs.config import SOURCE
from distill.jobs.run_config import FILES, setting_names
from distill.jobs.sweep import ENTRIES
from distill.planning import SPLITS
from distill.runs import SECTIONS, variants

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string", "minLength": 1}
_SEED = {"type": "integer", "minimum": 0, "maximum": MOST_SEED}


def run_schema() -> Schema:
    """The schema of a run's config.

    Examples
    --------
    >>> run_schema()["properties"]["training"]["properties"]["epochs"]["maximum"]
    1000000
    """
    enumerated = {"properties": {"pool": {"const": "enumerate"}}, "required": ["pool"]}
    without_network = {"properties": {"distillation": enumerated}, "required": ["distillation"]}
    return {
        "$schema": _DRAFT,
        "title": "What to distil, on which states, and how",
        **_entries(),
        "oneOf": [
            {"required": ["problem"], "not": _any_of(("domain", "instances", *SPLITS))},
            {"required": ["domain", "instances"], "not": _any_of(SPLITS)},
            {"required": ["domain"], **_any_of(SPLITS), "not": {"required": ["instances"]}},
            {"required": ["states"], "not": _any_of(("problem", "domain", "instances", *SPLITS))},
        ],
        "anyOf": [*_any_of(("checkpoint", "network", "training"))["anyOf"], without_network],
        "not": {"required": ["checkpoint"], **_any_of(("network", "training"))},
    }


def sweep_schema() -> Schema:
    """The schema of a sweep.

    Examples
    --------
    >>> sorted(sweep_schema()["properties"])
    ['base', 'cases', 'grid', 'name', 'sample', 'seeds']
    """
    keys = _keys()
    base = {"anyOf": [_TEXT, {"$ref": "#/$defs/config"}]}
    values = {key: {"$ref": f"#/$defs/{name}"} for key, name in keys.items()}
    lists = {key: {"type": "array", "items": value, "minItems": 1} for key, value in values.items()}
    parts: dict[str, Schema] = {
        "name": {"type": "string", "pattern": "^[^/]+$"},
        "base": {"anyOf": [*base["anyOf"], {"type": "array", "items": base, "minItems": 1}]},
        "cases": {"type": "array", "items": _closed(values), "minItems": 1},
        "grid": _closed(lists),
        "sample": {"type": "integer", "minimum": 1},
        "seeds": {
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": _SEED, "minItems": 1}]
        },
    }
    config = _entries()
    known = {**config["properties"], **_settings()}
    return {
        "$schema": _DRAFT,
        "title": "Many runs that differ in a few settings",
        **_closed({name: {**part, "description": ENTRIES[name]} for name, part in parts.items()}),
        "required": ["base"],
        "$defs": {"config": config, **{name: _or_null(known[name]) for name in keys.values()}},
    }


def _entries() -> Schema:
    """The schema of each entry of a config, without their combinations."""
    named = {name: {**_TEXT, "description": text} for name, text in {**SOURCE, **FILES}.items()}
    return _closed({**named, **{name: _one_of(map(_section, variants(name))) for name in SECTIONS}})


def _settings() -> dict[str, Schema]:
    """The schema of each `section.setting`, in any family of networks that has it."""
    found: dict[str, list[Schema]] = {}
    for section in SECTIONS:
        for kind in variants(section):
            for name, one in _section(kind)["properties"].items():
                found.setdefault(f"{section}.{name}", []).append(one)
    return {key: _one_of(schemas) for key, schemas in found.items()}


def _one_of(schemas: Iterable[Schema]) -> Schema:
    """The union of schemas; not `oneOf`, as the schemas of two families may overlap."""
    found = list(schemas)
    return found[0] if len(found) == 1 else {"anyOf": found}


class _Untitled(GenerateJsonSchema):
    """Schemas without titles, which would repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _section(kind: type[Settings]) -> Schema:
    settings = kind.model_json_schema(schema_generator=_Untitled)["properties"]
    for one in settings.values():
        one.pop("stage", None)
    described = (kind.__doc__ or "").splitlines()[0]
    return {**_closed(settings), "type": ["object", "null"], "description": described}


def _keys() -> dict[str, str]:
    """The keys that a sweep may vary, with their entry or `section.setting`."""
    bare = {name: f"distillation.{name}" for name in SECTIONS["distillation"].names()}
    full = [f"{section}.{name}" for section in SECTIONS for name in setting_names(section)]
    return {**{name: name for name in (*SOURCE, *FILES, *SECTIONS, *full)}, **bare}


def _closed(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _or_null(schema: Schema) -> Schema:
    return schema if "null" in schema.get("type", ()) else {"anyOf": [schema, {"type": "null"}]}


def _any_of(names: Iterable[str]) -> Schema:
    return {"anyOf": [{"required": [name]} for name in names]}
