"""Settings, each declared once: the command line, validation and documents all read them here.

This module imports nothing heavy, so that `distill --help` answers at once.
"""

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, Self

from distill.errors import InputError


def setting(
    default: Any, description: str, choices: tuple[str, ...] = (), stage: str = "", *, late: bool = False
) -> Any:
    """Declare a setting with its default and description; the default's type says what it may be.

    Numbers are at least 0; a name is one of `choices`; a tuple holds names. `stage` names the first stage of
    a job that looks at it, where a group serves several. One that came `late` does not count as long as it
    has its default, so that runs that were made before have the same names.
    """
    told = {"description": description, "choices": choices, "stage": stage, "late": late}
    return field(default=default, metadata=told)


@dataclass(frozen=True)
class Settings:
    """A group of settings that can be given by name, as in YAML."""

    @classmethod
    def from_mapping(
        cls, given: Mapping[str, Any], source: str | Callable[[str], str], section: str = ""
    ) -> Self:
        """Take settings by name, checked.

        Parameters
        ----------
        source : says in messages where they came from, all of them or each by its name.
        section : the name of the group, for messages.
        """
        cls.check_names(given, source, section)
        known = {item.name: item for item in fields(cls)}
        group = f"{section}." if section else ""
        return cls(
            **{
                name: _checked(f"{_place(source, name)}: {group}{name}", known[name], value)
                for name, value in given.items()
            }
        )

    @classmethod
    def check_names(cls, names: Iterable[str], source: str | Callable[[str], str], section: str = "") -> None:
        """Refuse names that are no settings; see `from_mapping`."""
        for name in names:
            if name not in cls.names():
                group = f" in {section}" if section else ""
                hint = meant(name, cls.names())
                raise InputError(f"{_place(source, name)}: there is no setting {name}{group}; {hint}")

    @classmethod
    def names(cls) -> list[str]:
        """The names of all settings.

        Examples
        --------
        >>> Measurement.names()
        ['max_steps']
        """
        return [item.name for item in fields(cls)]

    def to_mapping(self) -> dict[str, Any]:
        """The settings as plain data."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(self).items()}

    def of_stage(self, stage: str) -> dict[str, Any]:
        """The settings that this stage is the first to look at, as plain data.

        Examples
        --------
        >>> sorted(Distillation().of_stage("replay"))
        ['control', 'mode', 'seed', 'states']
        """
        mine = {item.name: item for item in fields(self) if item.metadata["stage"] == stage}
        counts = [name for name, item in mine.items() if not self._is_late(item)]
        return {name: value for name, value in self.to_mapping().items() if name in counts}

    def _is_late(self, item: Field[Any]) -> bool:
        return bool(item.metadata["late"]) and getattr(self, item.name) == item.default

    @classmethod
    def description(cls, name: str) -> str:
        """What a setting means, with its default."""
        item = next(item for item in fields(cls) if item.name == name)
        default = ", ".join(item.default) if isinstance(item.default, tuple) else item.default
        return f"{item.metadata['description']} [{default}]"


def meant(name: str, known: Iterable[str]) -> str:
    """What an unknown name may stand for, to end a message with.

    Examples
    --------
    >>> meant("sed", ["seed", "mode"])
    'did you mean seed?'
    >>> meant("colour", ["seed", "mode"])
    'choose from seed, mode.'
    """
    listed = list(known)
    near = difflib.get_close_matches(str(name), listed, 1)
    return f"did you mean {near[0]}?" if near else f"choose from {', '.join(listed)}."


def _place(source: str | Callable[[str], str], name: str) -> str:
    return source if isinstance(source, str) else source(name)


def _checked(told: str, item: Field[Any], value: Any) -> Any:
    default, choices = item.default, item.metadata["choices"]
    if value is None:
        raise InputError(f"{told} has no value; give one, or remove it.")
    if isinstance(default, tuple):
        names = list(value) if isinstance(value, list | tuple) else [value]
        known = all(isinstance(one, str) and one in (choices or names) for one in names)
        if known and (names or not default):
            return tuple(names)
        some = f"some of {', '.join(choices)}" if choices else "a list of names"
        raise InputError(f"{told} must be {some}, not {value!r}.")
    if isinstance(default, bool | str):
        allowed = choices or (True, False)
        if isinstance(value, type(default)) and value in allowed:
            return value
        listed = ", ".join(map(str, allowed)).lower()
        raise InputError(f"{told} must be one of {listed}, not {value!r}.")
    whole = isinstance(default, int)
    # YAML 1.1 takes 1e-3 for text, which nobody means.
    if not whole and isinstance(value, str) and re.fullmatch(r"\d+(\.\d*)?[eE][-+]?\d+", value):
        value = float(value)
    number = not isinstance(value, bool) and isinstance(value, int if whole else int | float)
    # This also refuses what is not a number, and infinity.
    if not (number and 0 <= value <= sys.float_info.max):
        kind = "whole number" if whole else "number"
        raise InputError(f"{told} must be a {kind} of at least 0, not {value!r}.")
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


@dataclass(frozen=True)
class Architecture(Settings):
    """What a relational GNN computes; the defaults are thesis Algorithm 1.

    The options from `smoothness` on exist for networks made by others.
    """

    layers: int = setting(5, "Rounds of message passing.")
    size: int = setting(32, "Numbers in an object's embedding.")
    aggregation: str = setting(
        "logsumexp", "How an object's messages become one.", ("sum", "mean", "max", "logsumexp")
    )
    pooling: str = setting("sum", "How the objects' embeddings become one.", ("sum", "max"))
    goal_marking: bool = setting(False, "Goals are split into achieved and missing ones.")
    nullary: bool = setting(True, "Nullary atoms hold of every object; otherwise they are not seen.")
    smoothness: float = setting(1.0, "Factor inside logsumexp: the larger, the closer to max.")
    floor: str = setting(
        "none",
        "What logsumexp adds before the logarithm: nothing, or 1e-16 relative to the largest message of the "
        "object or of the whole batch. Without it, no messages become 0.",
        ("none", "object", "batch"),
    )
    activation: str = setting("mish", "Of messages and updates.", ("mish", "relu"))
    message_residual: bool = setting(True, "A message is added to the embedding it goes to.")
    update_residual: bool = setting(True, "An update is added to the embedding.")
    update_order: str = setting(
        "embedding", "What stands first in the update's input.", ("embedding", "aggregate")
    )
    layer_norm: bool = setting(False, "Updates are normalised, with a learned scale and shift.")
    random_initial: int = setting(0, "So many last numbers of the first embedding are random; 0 in replay.")
    readout: str = setting(
        "pooled",
        "Where the readout's networks stand: one after pooling, one before and one after, or two after.",
        ("pooled", "two-part", "twice"),
    )
    readout_activation: str = setting("relu", "Of the readout.", ("relu", "mish"))
    absolute: bool = setting(False, "V is the absolute value of the readout.")


@dataclass(frozen=True)
class Training(Settings):
    """How a network is trained (thesis 5.3)."""

    epochs: int = setting(100, "At most so many epochs; the learning rate falls along a cosine to 0.")
    batches: int = setting(300, "Batches in an epoch.")
    batch_size: int = setting(
        64, "States in a batch, drawn by inverse frequency of their V*; 0 takes all, weighted by it."
    )
    loss: str = setting("l1", "Mean absolute (l1) or squared (mse) error.", ("l1", "mse"))
    learning_rate: float = setting(1e-3, "Of Adam.")
    weight_decay: float = setting(5e-4, "Of Adam.")
    layer_spread: int = setting(
        0,
        "Each batch runs at most so many layers more or fewer, drawn at random: embeddings then settle, and "
        "the network does better on larger instances.",
    )
    clip: float = setting(1.0, "Gradients longer than this are shortened to it; 0 leaves them.")
    patience: int = setting(20, "Stop after so many epochs without a better validation error.")
    validation_states: int = setting(1000, "Look at no more validation states than this after an epoch.")
    seeds: int = setting(1, "Train so many networks and keep the one with the best validation error.")
    seed: int = setting(0, "The first of the seeds.")
    reduce: str = setting("wl", "Which states are kept, see `distill data`.", ("none", "exact", "iso", "wl"))

    def of_one_seed(self) -> dict[str, Any]:
        """All that the training from one seed depends on, besides that seed.

        Examples
        --------
        >>> Training(seeds=3).of_one_seed() == Training(seed=8).of_one_seed()
        True
        """
        return {name: value for name, value in self.to_mapping().items() if name not in ("seed", "seeds")}


@dataclass(frozen=True)
class Distillation(Settings):
    """How a network becomes a value function: an R-IDT and a regression (thesis Table 4.1)."""

    mode: str = setting(
        "readable",
        "Features become the shortest formulas that say the same, before the next layer sees them; or they "
        "stay as trees make them (quotient), also from samples (thesis).",
        ("readable", "quotient", "thesis"),
        stage="replay",
    )
    pool: str = setting(
        "ridt",
        "Readable mode: features born in trees; these, and an exact function then said in fewer symbols by "
        "formulas near those chosen; or all short formulas, without a network; or both.",
        ("ridt", "ridt+polish", "enumerate", "both"),
        stage="distil",
    )
    control: str = setting(
        "none",
        "Readable mode: learn from an untrained network, or from embeddings permuted across rows, to see "
        "what the network contributes.",
        ("none", "untrained", "permuted"),
        stage="replay",
    )
    states: int = setting(
        1000,
        "Readable mode: trees learn from at most so many different states, spread over V*; the value "
        "function has to fit all.",
        stage="replay",
    )
    feature_size: int = setting(
        8,
        "Readable mode: symbols of a feature about objects; achieved or missing goals count as one.",
        stage="distil",
    )
    chain_size: int = setting(
        20,
        "Readable mode: the same for a single split, which may look many steps far.",
        stage="distil",
    )
    chain_steps: int = setting(
        4,
        "Readable mode: distances along a relation are admitted where trees bear so many steps in a row; 0 "
        "for never.",
        stage="regress",
    )
    rounds: int = setting(
        2, "Readable mode: where the fit is not exact, trees on what is still wrong.", stage="regress"
    )
    max_features: int = setting(8, "Terms of an exact value function, if so few suffice.", stage="regress")
    time_limit: float = setting(
        60.0, "Seconds of the processor for finding the shortest exact value function.", stage="regress"
    )
    inner_depth: int = setting(5, "Splits on a way through a tree about objects, at most.", stage="distil")
    final_depth: int = setting(5, "Splits on a way through a tree about states, at most.", stage="distil")
    inner_width: int = setting(12, "Trees about objects for each layer of the network.", stage="distil")
    final_width: int = setting(12, "Trees about states.", stage="distil")
    inner_sample: int = setting(
        10_000, "States drawn for each tree about objects, in thesis mode.", stage="distil"
    )
    final_sample: int = setting(
        10_000, "States drawn for each tree about states, in thesis mode.", stage="distil"
    )
    without: tuple[str, ...] = setting(
        (),
        "Readable mode: what is left out, to see what it is good for. All linkages but Ward; splits as "
        "features; the preference for cheap splits; other weights of states for each tree; closures; what is "
        "achieved and what is missing of goals.",
        ("linkages", "splits", "cheapness", "bootstrap", "closures", "derived"),
        stage="distil",
        late=True,
    )
    thresholds: int = setting(10, "Splits ask for more than t objects; t is at most this.", stage="distil")
    pooling: str = setting(
        "sum",
        "Trees about states see how many objects have a feature, or whether any has.",
        ("sum", "max"),
        stage="distil",
    )
    distance: str = setting(
        "euclidean", "Between leaves.", ("euclidean", "manhattan", "cosine"), stage="distil"
    )
    linkage: str = setting(
        "ward", "Between sets of leaves.", ("ward", "average", "complete", "single"), stage="distil"
    )
    features: tuple[str, ...] = setting(
        ("boolean", "numerical", "combined"),
        "What the regression may use: whether any object has a feature, how many have, combinations.",
        ("boolean", "numerical", "combined"),
        stage="regress",
    )
    regression: str = setting(
        "auto",
        "The shortest value function with whole weights and no error, if there is one (exact); least "
        "squares; least absolute errors, exactly or by stochastic gradient descent. Auto is exact in "
        "readable mode, which has no other, and non-negative least squares in the others.",
        ("auto", "exact", "squares", "absolute", "sgd"),
        stage="regress",
    )
    intercept: bool = setting(True, "The value function may have a constant.", stage="regress")
    nonnegative: bool = setting(False, "Weights are not negative; the constant may be.", stage="regress")
    target: str = setting(
        "optimal", "Explain V*, or what the network itself computes.", ("optimal", "model"), stage="regress"
    )
    seed: int = setting(0, "Of samples and weights.", stage="replay")

    @property
    def is_readable(self) -> bool:
        """Whether features are short formulas, and not as trees make them."""
        return self.mode == "readable"


@dataclass(frozen=True)
class Measurement(Settings):
    """How a value function is measured, besides its errors on labelled states."""

    max_steps: int = setting(1000, "A greedy execution gives up after so many steps; 0 executes none.")


@dataclass(frozen=True)
class Export(Settings):
    """What a run's folder holds besides its data."""

    formats: tuple[str, ...] = setting(
        ("ascii", "emlc", "c2", "english", "latex", "dlplan", "pddl", "python"),
        "The forms in which the value function is written.",
        ("ascii", "emlc", "c2", "english", "latex", "latex-c2", "dlplan", "pddl", "python", "json"),
    )
    report: bool = setting(True, "Write a report, one HTML file that needs nothing else.")
