"""JSON schemas of configs and sweeps, for editors and other programs."""

from collections.abc import Iterable
from dataclasses import Field, fields
from typing import Any

from distill.jobs.config import SOURCE
from distill.jobs.run_config import FILES, SECTIONS
from distill.jobs.sweep import ENTRIES
from distill.planning import SPLITS
from distill.settings import Settings

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string", "minLength": 1}
_SEED = {"type": "integer", "minimum": 0}


def run_schema() -> Schema:
    """The schema of a run's config.

    Examples
    --------
    >>> run_schema()["properties"]["distillation"]["properties"]["seed"]
    {'type': 'integer', 'minimum': 0, 'description': 'Of samples and weights.', 'default': 0}
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
        ],
        "anyOf": [*_any_of(("checkpoint", "network", "training"))["anyOf"], without_network],
        "not": {"required": ["checkpoint"], **_any_of(("network", "training"))},
    }


def sweep_schema() -> Schema:
    """The schema of a sweep.

    Examples
    --------
    >>> sorted(sweep_schema()["properties"])
    ['base', 'cases', 'grid', 'name', 'seeds']
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
        "seeds": {
            "anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": _SEED, "minItems": 1}]
        },
    }
    config = _entries()
    known = {
        **config["properties"],
        **{
            f"{s}.{name}": one
            for s in SECTIONS
            for name, one in config["properties"][s]["properties"].items()
        },
    }
    return {
        "$schema": _DRAFT,
        "title": "Many runs that differ in a few settings",
        **_closed({name: {**part, "description": ENTRIES[name]} for name, part in parts.items()}),
        "required": ["base"],
        "$defs": {"config": config, **{name: _or_null(known[name]) for name in keys.values()}},
    }


def _entries() -> Schema:
    """All entries of a config, each as it must be; which of them go together is not said."""
    named = {name: {**_TEXT, "description": told} for name, told in {**SOURCE, **FILES}.items()}
    return _closed({**named, **{name: _section(kind) for name, kind in SECTIONS.items()}})


def _section(kind: type[Settings]) -> Schema:
    described = (kind.__doc__ or "").splitlines()[0]
    found = _closed({item.name: _setting(item) for item in fields(kind)})
    return {**found, "type": ["object", "null"], "description": described}


def _setting(item: Field[Any]) -> Schema:
    default, choices = item.default, item.metadata["choices"]
    told = {
        "description": item.metadata["description"],
        "default": list(default) if isinstance(default, tuple) else default,
    }
    if isinstance(default, tuple):
        name: Schema = {"enum": list(choices)} if choices else {"type": "string"}
        several: Schema = {"type": "array", "items": name, **({"minItems": 1} if default else {})}
        return {"anyOf": [several, name], **told}
    if choices:
        return {"enum": list(choices), **told}
    kind = {bool: "boolean", int: "integer", float: "number"}[type(default)]
    return {"type": kind, **({} if kind == "boolean" else {"minimum": 0}), **told}


def _keys() -> dict[str, str]:
    """What a sweep may vary: keys, with the entry or `section.setting` that they mean."""
    bare = {name: f"distillation.{name}" for name in SECTIONS["distillation"].names()}
    full = [f"{section}.{name}" for section, kind in SECTIONS.items() for name in kind.names()]
    return {**{name: name for name in (*SOURCE, *FILES, *SECTIONS, *full)}, **bare}


def _closed(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _or_null(schema: Schema) -> Schema:
    return schema if "null" in schema.get("type", ()) else {"anyOf": [schema, {"type": "null"}]}


def _any_of(names: Iterable[str]) -> Schema:
    return {"anyOf": [{"required": [name]} for name in names]}
