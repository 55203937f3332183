"""The form for a run: a network, a problem and the declared settings become a config."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st
import yaml

from app.components.escape import escape
from app.session.run_index import store
from app.session.selection import pick, remember, select, selected
from app.session.uploaded_files import NETWORK, PROBLEM, Upload, uploads
from distill.common import InputError
from distill.jobs import RunConfig
from distill.planning import problem_classes
from distill.runs import SECTIONS

SHIPPED = Path(__file__).parents[3] / "artifacts" / "checkpoints"
NONE = "none"
FIRST = ("pool", "seed", "target", "states", "feature_size", "chain_size", "max_features", "time_limit")
"""The settings of the distillation that are always visible."""
_MORE = ("distillation", "labelling", "evaluation")
_COLUMNS = 4


def shipped() -> dict[str, Path]:
    """The networks that are part of the project, by name."""
    return {file.stem: file.resolve() for file in sorted(SHIPPED.glob("*.safetensors"))}


def choose() -> tuple[dict[str, Any], str]:
    """Ask for a network, a problem and settings; returns the content of a config and a name for it."""
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
            show=lambda key: _label(key, names),
            resets=("on",),
            help="A shipped network, one that you upload below, or none: short formulas are enumerated.",
        )
    with right:
        # A shipped network has the name of the problem that it was trained on.
        classes = sorted(problem_classes(), key=lambda name: name != network)
        problem = pick(
            "On",
            [*sources, *classes] if network in names else [*classes, *sources],
            "on",
            show=lambda key: _label(key, sources),
            depends_on=network,
            help="A problem class, or PDDL that you upload below.",
        )
    content: dict[str, Any] = dict(sources[problem].entries) if problem in sources else {"problem": problem}
    if network in names:
        content |= names[network].entries
    elif network != NONE:
        content["checkpoint"] = str(networks[network])
    changed = _settings(network == NONE)
    label = f"{_label(network, names, short=True)} on {_label(problem, sources, short=True)}"
    other = [f"{name} {value}" for values in changed.values() for name, value in values.items()]
    return {**content, **changed}, ", ".join([label, *other])


def _label(key: str, given: Mapping[str, Upload], short: bool = False) -> str:
    if key not in given:
        return ("no network" if short else "none: all short formulas") if key == NONE else key
    one = given[key]
    if short:
        return one.name
    return f"{one.name} (uploaded, {key[:6]})"


def _settings(without_network: bool) -> dict[str, dict[str, Any]]:
    """The settings that differ from their defaults, by section."""
    found: dict[str, dict[str, Any]] = {name: {} for name in _MORE}
    found["distillation"] |= _asked("distillation", FIRST, without_network)
    with st.expander("More settings", key="work/more"):
        for section in _MORE:
            st.caption(escape((SECTIONS[section].__doc__ or "").splitlines()[0]))
            names = SECTIONS[section].names()
            rest = [name for name in names if section != "distillation" or name not in FIRST]
            found[section] |= _asked(section, rest)
    return {section: values for section, values in found.items() if values}


def _asked(section: str, names: Iterable[str], without_network: bool = False) -> dict[str, Any]:
    """Ask for settings, side by side; returns those that differ from their defaults."""
    found = {}
    columns = st.columns(_COLUMNS, vertical_alignment="bottom")
    for number, name in enumerate(names):
        with columns[number % _COLUMNS]:
            fixed = "enumerate" if without_network and name == "pool" else None
            value = _ask(section, name, fixed)
            if value != SECTIONS[section].model_fields[name].default:
                found[name] = list(value) if isinstance(value, tuple) else value
    return found


def _ask(section: str, name: str, fixed: Any = None) -> Any:
    """A widget for a setting, according to its declaration; its value is part of the address.

    Parameters
    ----------
    fixed : the only valid value here.
    """
    key, item = f"{section}.{name}", SECTIONS[section].model_fields[name]
    remember(key)
    value = fixed if fixed is not None else _wanted(section, name)
    widget = f"work/{key}"
    st.session_state[widget] = list(value) if isinstance(value, tuple) else value

    def changed() -> None:
        chosen = st.session_state[widget]
        given = tuple(chosen) if isinstance(item.default, tuple) else chosen
        text = None if given == item.default else yaml.safe_dump(chosen, default_flow_style=True)
        select(**{key: text and text.removesuffix("...\n").strip()})

    label, hint = name.replace("_", " "), escape(str(item.description))
    shared: dict[str, Any] = {
        "key": widget,
        "help": hint,
        "on_change": changed,
        "disabled": fixed is not None,
    }
    choices = SECTIONS[section].choices(name)
    if isinstance(item.default, tuple):
        st.multiselect(label, choices or sorted({*item.default, *value}), **shared)
    elif isinstance(item.default, bool):
        st.checkbox(label, **shared)
    elif isinstance(item.default, str):
        st.selectbox(label, choices, **shared)
    else:
        least, most = SECTIONS[section].bounds(name)
        st.number_input(label, least, most, step=1 if isinstance(least, int) else None, **shared)
    return value


def _wanted(section: str, name: str) -> Any:
    """The value of a setting in the address if it is valid, else its default."""
    text, kind = selected(f"{section}.{name}"), SECTIONS[section]
    if not text:
        return kind.model_fields[name].default
    try:
        return getattr(kind.from_mapping({name: yaml.safe_load(text)}, "The address"), name)
    except (InputError, yaml.YAMLError):
        st.info(escape(f"{name} cannot be “{text}”; the default is used."))
        select(**{f"{section}.{name}": None})
        return kind.model_fields[name].default


def as_yaml(content: Mapping[str, Any]) -> str:
    """The text of a valid config for `distill run`.

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
