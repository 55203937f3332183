"""What to distil, on which states, and how: a form that becomes a config, made from the declared settings."""

from collections.abc import Iterable, Mapping
from dataclasses import Field, fields
from pathlib import Path
from typing import Any

import streamlit as st
import yaml

from app.opened import store
from app.plain import plain
from app.selection import pick, remember, select, selected
from distill.errors import InputError
from distill.jobs import RunConfig
from distill.jobs.run_config import SECTIONS
from distill.jobs.uploads import NETWORK, PROBLEM, Uploaded, uploads
from distill.planning import problem_classes
from distill.settings import Settings

SHIPPED = Path(__file__).parents[1] / "artifacts" / "checkpoints"
NONE = "none"
FIRST = ("pool", "seed", "target", "states", "feature_size", "chain_size", "max_features", "time_limit")
"""The settings of the distillation that are seen at once."""
_MORE = ("distillation", "labelling", "evaluation")
_COLUMNS = 4


def shipped() -> dict[str, Path]:
    """The networks that come along, by name."""
    return {file.stem: file.resolve() for file in sorted(SHIPPED.glob("*.safetensors"))}


def choose() -> tuple[dict[str, Any], str]:
    """Ask for a network, a problem and settings; the content of a config, and a name for it."""
    given = uploads(store().folder, NETWORK), uploads(store().folder, PROBLEM)
    names, sources = ({one.key: one for one in some} for some in given)
    networks = shipped()
    remember("network", "on")
    left, right = st.columns(2)
    with left:
        network = pick(
            "Network",
            [*networks, *names, NONE],
            "network",
            show=lambda key: _told(key, names),
            resets=("on",),
            help="Networks that come along, those you upload below, or none: all short formulas instead.",
        )
    with right:
        # The problem that a network was trained on has its name, if it came along.
        classes = sorted(problem_classes(), key=lambda name: name != network)
        problem = pick(
            "On",
            [*sources, *classes] if network in names else [*classes, *sources],
            "on",
            show=lambda key: _told(key, sources),
            help="A problem class that comes along, or PDDL that you upload below.",
        )
    content: dict[str, Any] = dict(sources[problem].entries) if problem in sources else {"problem": problem}
    if network in names:
        content |= names[network].entries
    elif network != NONE:
        content["checkpoint"] = str(networks[network])
    changed = _settings(network == NONE)
    label = f"{_told(network, names, short=True)} on {_told(problem, sources, short=True)}"
    other = [f"{name} {value}" for values in changed.values() for name, value in values.items()]
    return {**content, **changed}, ", ".join([label, *other])


def _told(key: str, given: Mapping[str, Uploaded], short: bool = False) -> str:
    if key not in given:
        return ("no network" if short else "none: all short formulas") if key == NONE else key
    one = given[key]
    if short:
        return one.name
    return f"{one.name} (uploaded, {key[:6]})"


def _settings(without_network: bool) -> dict[str, dict[str, Any]]:
    """The settings that differ from their defaults, by section."""
    found: dict[str, dict[str, Any]] = {name: {} for name in _MORE}
    group = {item.name: item for item in fields(SECTIONS["distillation"])}
    found["distillation"] |= _asked("distillation", [group[name] for name in FIRST], without_network)
    with st.expander("More settings", key="work/more"):
        for section in _MORE:
            st.caption(plain((SECTIONS[section].__doc__ or "").splitlines()[0]))
            rest = [
                item
                for item in fields(SECTIONS[section])
                if section != "distillation" or item.name not in FIRST
            ]
            found[section] |= _asked(section, rest)
    return {section: values for section, values in found.items() if values}


def _asked(section: str, items: Iterable[Field[Any]], without_network: bool = False) -> dict[str, Any]:
    """Ask for settings, side by side; those that differ from their defaults."""
    found = {}
    columns = st.columns(_COLUMNS, vertical_alignment="bottom")
    for number, item in enumerate(items):
        with columns[number % _COLUMNS]:
            fixed = "enumerate" if without_network and item.name == "pool" else None
            value = _ask(section, item, fixed)
            if value != item.default:
                found[item.name] = list(value) if isinstance(value, tuple) else value
    return found


def _ask(section: str, item: Field[Any], fixed: Any = None) -> Any:
    """A widget for a setting, as its declaration says; its value lives in the address.

    Parameters
    ----------
    fixed : the only value that makes sense here.
    """
    key = f"{section}.{item.name}"
    remember(key)
    value = fixed if fixed is not None else _wanted(section, item)
    widget = f"work/{key}"
    st.session_state[widget] = list(value) if isinstance(value, tuple) else value

    def changed() -> None:
        chosen = st.session_state[widget]
        given = tuple(chosen) if isinstance(item.default, tuple) else chosen
        text = None if given == item.default else yaml.safe_dump(chosen, default_flow_style=True)
        select(**{key: text and text.removesuffix("...\n").strip()})

    label, told = item.name.replace("_", " "), plain(item.metadata["description"])
    shared: dict[str, Any] = {
        "key": widget,
        "help": told,
        "on_change": changed,
        "disabled": fixed is not None,
    }
    choices = item.metadata["choices"]
    if isinstance(item.default, tuple):
        st.multiselect(label, choices or sorted({*item.default, *value}), **shared)
    elif isinstance(item.default, bool):
        st.checkbox(label, **shared)
    elif isinstance(item.default, str):
        st.selectbox(label, choices, **shared)
    elif isinstance(item.default, int):
        st.number_input(label, min_value=0, step=1, **shared)
    else:
        st.number_input(label, min_value=0.0, **shared)
    return value


def _wanted(section: str, item: Field[Any]) -> Any:
    """What the address says of a setting, if that makes sense; else its default."""
    text = selected(f"{section}.{item.name}")
    if not text:
        return item.default
    kind: type[Settings] = SECTIONS[section]
    try:
        return getattr(kind.from_mapping({item.name: yaml.safe_load(text)}, "The address"), item.name)
    except (InputError, yaml.YAMLError):
        st.info(plain(f"{item.name} cannot be “{text}”; its default is taken."))
        select(**{f"{section}.{item.name}": None})
        return item.default


def as_yaml(content: Mapping[str, Any]) -> str:
    """The text of a config, checked; `distill run` takes it as a file.

    Examples
    --------
    >>> print(as_yaml({"problem": "gripper", "distillation": {"pool": "enumerate", "seed": 1}}), end="")
    problem: gripper
    distillation:
      pool: enumerate
      seed: 1
    """
    RunConfig.from_mapping(content, Path(), lambda *keys: "The form")
    return yaml.safe_dump(dict(content), sort_keys=False, allow_unicode=True)
