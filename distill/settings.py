"""Settings, each declared once: the command line, validation and documents all read them here.

This module imports nothing heavy, so that `distill --help` answers at once.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from distill.errors import InputError


def setting(default: Any, description: str) -> Any:
    """Declare a setting of at least 0 (or a tuple of names) with its default and description."""
    return field(default=default, metadata={"description": description})


@dataclass(frozen=True)
class Settings:
    """A group of settings that can be given by name, as in YAML."""

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], source: str) -> Self:
        """Take settings by name, checked; `source` says in messages where they came from."""
        defaults = {item.name: item.default for item in fields(cls)}
        unknown = sorted(set(given) - set(defaults))
        if unknown:
            raise InputError(
                f"{source}: there is no setting {', '.join(unknown)}; choose from {', '.join(defaults)}."
            )
        return cls(**{name: _checked(source, name, value, defaults[name]) for name, value in given.items()})

    def to_mapping(self) -> dict[str, Any]:
        """The settings as plain data."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    @classmethod
    def description(cls, name: str) -> str:
        """What a setting means, with its default."""
        item = next(item for item in fields(cls) if item.name == name)
        default = ", ".join(item.default) if isinstance(item.default, tuple) else item.default
        return f"{item.metadata['description']} [{default}]"


def _checked(source: str, name: str, value: Any, default: Any) -> Any:
    if isinstance(default, tuple):
        names = list(value) if isinstance(value, list | tuple) else [value]
        if names and all(isinstance(one, str) for one in names):
            return tuple(names)
        raise InputError(f"{source}: {name} must be a list of names, not {value!r}.")
    whole = isinstance(default, int)
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value < 0:
        kind = "whole number" if whole else "number"
        raise InputError(f"{source}: {name} must be a {kind} of at least 0, not {value!r}.")
    return value if whole else float(value)


@dataclass(frozen=True)
class Labelling(Settings):
    """How states are found and labelled.

    Examples
    --------
    >>> Labelling.from_mapping({"walks": 2}, "an example").walks
    2
    >>> Labelling.description("walk_length")
    'Steps of each walk; every state on it gets an optimal plan. [20]'
    """

    max_states: int = setting(100_000, "Expand an instance fully while it has at most so many states.")
    walks: int = setting(1, "Beyond that: random walks from the initial state; 0 refuses such instances.")
    walk_length: int = setting(20, "Steps of each walk; every state on it gets an optimal plan.")
    search: tuple[str, ...] = setting(("astar",), "Optimal planners for these plans, tried in turn.")
    search_states: int = setting(1_000_000, "A search by pymimir gives up beyond so many states.")
    time_limit: float = setting(20.0, "Seconds for each instance.")
    seed: int = setting(0, "Seed of the random walks.")
