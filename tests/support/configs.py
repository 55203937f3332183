"""Random valid configs."""

from typing import Literal

from hypothesis import strategies as st

from distill.common import Names, Settings, setting
from distill.planning import MOST_STEPS
from distill.runs import SECTIONS


def nowhere(*keys: object) -> str:
    return "here"


class Other(Settings):
    """Settings of a family that is there for tests."""

    family: Literal["other"] = setting("other", "The family.")
    heads: int = setting(4, "Heads of attention.")
    parts: Names[Literal["left", "right"]] = setting((), "Parts.")


def value_of(kind: type[Settings], name: str) -> st.SearchStrategy:
    """What a setting may be."""
    default, choices = kind.model_fields[name].default, kind.choices(name)
    if isinstance(default, tuple):
        return st.lists(st.sampled_from(choices or ("astar", "blind", "lama")), min_size=1, max_size=4)
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        return st.integers(*kind.bounds(name))
    return st.sampled_from(choices) if choices else st.floats(*kind.bounds(name))


def section_of(kind: type[Settings]) -> st.SearchStrategy:
    given = st.fixed_dictionaries({}, optional={name: value_of(kind, name) for name in kind.names()})
    return given.filter(lambda one: one.get("walks", 1) * one.get("walk_length", 20) <= MOST_STEPS)


@st.composite
def contents(draw: st.DrawFn) -> dict:
    """Valid configs."""
    path = st.sampled_from(["a", "../b", "/c/d.x", "e f/ü"])
    sources = [
        {"problem": st.sampled_from(["gripper", "mine.yaml"])},
        {"domain": path, "instances": path},
        {"domain": path, "train": path, "test": path},
    ]
    content = draw(st.sampled_from(sources).flatmap(st.fixed_dictionaries))
    sections = {name: section_of(kind) for name, kind in SECTIONS.items()}
    network = draw(st.sampled_from(["checkpoint", "network", "training", "both", "none"]))
    if network in ("checkpoint", "none"):
        del sections["network"], sections["training"]
    elif network != "both":
        del sections["training" if network == "network" else "network"]
    content |= draw(st.fixed_dictionaries({}, optional=sections))
    if network == "checkpoint":
        content["checkpoint"] = draw(path)
    elif network == "none":
        content["distillation"] = {**content.get("distillation", {}), "pool": "enumerate"}
    elif not content.keys() & {"network", "training"}:
        content["network"] = None
    return content
