"""The schemas of a run's files. Entries that are not declared here are accepted."""

from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from distill.common import Record, read_text, read_yaml, shown

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
ADVICE = "make the run again"


def _part_of_path(name: str) -> str:
    if not name or "/" in name or "\0" in name or name in (".", ".."):
        raise ValueError("a name of a split must not be a path")
    return name


def _inside(name: str) -> str:
    path = PurePosixPath(name)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name:
        raise ValueError("a file of a run must lie in its folder")
    return name


SplitName = Annotated[str, AfterValidator(_part_of_path)]


class SplitMetrics(Record):
    """The metrics of a split; see `distill.evaluation.Score`."""

    states: Count
    mae: Annotated[float, Field(ge=0)]
    max_error: Annotated[float, Field(ge=0)]
    within_half: Share
    ratio_min: float | None = None
    ratio_max: float | None = None
    greedy_steps: Count = 0
    greedy_optimal_steps: Count = 0
    instances: Count = 0
    solved: Count = 0
    plan_length: Count = 0
    optimal_length: Count = 0


class Fidelity(Record, allow_inf_nan=True):
    """The agreement with the network, whose values need not be finite."""

    mae: float
    greedy_agreement: float | None = None


class StateOfFit(Record):
    """A state that prevents an exact fit."""

    v_star: int
    atoms: str


class Fit(Record):
    """The properties of a fit; see `DistillationResult`."""

    exact: bool | None = None
    gap: float | None = None
    wrong: Count | None = None
    blocking: list[StateOfFit] | None = None
    conflict: list[StateOfFit] | None = None


class Metrics(Record):
    """The content of `metrics.json`."""

    splits: Annotated[dict[SplitName, SplitMetrics], Field(min_length=1)]
    fidelity: Fidelity | Annotated[dict[str, Any], Field(max_length=0)]
    features: Count
    integer_weights: bool
    formula_size: Count
    pool: str
    pool_size: Count
    objects: Count
    fit: Fit
    plans: dict[str, list[Count | None]]


class RunSource(Record):
    """The content of `config.yaml`: sources, and settings by section."""

    problem: str | None = None
    domain: str | None = None
    instances: str | None = None
    train: str | None = None
    validation: str | None = None
    test: str | None = None
    checkpoint: str | None = None
    labelling: dict[str, Any] | None = None
    network: dict[str, Any] | None = None
    training: dict[str, Any] | None = None
    distillation: dict[str, Any] | None = None
    evaluation: dict[str, Any] | None = None
    export: dict[str, Any] | None = None


class DataRecord(Record):
    """The key of the states of a split, and counts of them."""

    key: str
    summary: dict[str, int]


class NetworkRecord(Record):
    """The key of the network, and the format of its file."""

    key: str
    format: str


class Inputs(Record):
    """The content of `inputs.json`."""

    version: str
    code: dict[str, int] | None = None
    stages: dict[str, str | None]
    data: dict[str, DataRecord]
    network: NetworkRecord | None
    files: Annotated[dict[Annotated[str, AfterValidator(_inside)], str], Field(min_length=1)]


class LogLine(Record):
    """A line of `log.jsonl`; see `StageRecord`."""

    stage: str
    key: str
    made: bool
    seconds: Annotated[float, Field(ge=0)]
    damaged: bool = False


class RefitErrors(Record):
    """The errors on a split before or after a refit."""

    mae: float
    wrong: Count


class RefitResult(Record):
    """The content of the `result.json` of a refit."""

    run: str
    added: list[str]
    dropped: list[Count]
    asked: dict[str, Any]
    exact: bool
    value: str
    terms: list[Annotated[tuple[float, str], Field(strict=False)]]  # JSON has no tuples
    before: Annotated[dict[SplitName, RefitErrors], Field(min_length=1)]
    after: Annotated[dict[SplitName, RefitErrors], Field(min_length=1)]


def read_source(file: Path) -> dict[str, Any]:
    """The config of a run."""
    content, _ = read_yaml(read_text(file), lambda line: f"{shown(file)}, line {line}", fast=True)
    RunSource.check(content, file, ADVICE)
    found: dict[str, Any] = content
    return found
