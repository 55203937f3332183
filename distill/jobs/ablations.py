"""Ablations: each ingredient of the distillation is left out in turn, on fresh networks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distill.common import InputError, did_you_mean
from distill.jobs.batch import DONE, Work
from distill.jobs.fresh_networks import FIRST, NETWORK, SEED, fresh_networks
from distill.jobs.run_config import RunConfig
from distill.jobs.sweep import PlannedJob, Sweep, check_jobs

BASE = "base"
WHOLE = "nothing"
INGREDIENTS: Mapping[str, Mapping[str, Any]] = {
    WHOLE: {},
    "linkages": {"without": ["linkages"]},
    "splits as features": {"without": ["splits"]},
    "cheap splits": {"without": ["cheapness"]},
    "bootstrap": {"without": ["bootstrap"]},
    "closures": {"without": ["closures"]},
    "derived relations": {"without": ["derived"]},
    "distances": {"chain_steps": 0},
    "refitting": {"rounds": 0},
    "size limit": {"feature_size": 16, "chain_size": 40},
    "depth": {"inner_depth": 2, "final_depth": 2},
    "width": {"inner_width": 1, "final_width": 1},
}
"""The ingredients, with the settings that leave them out: all linkages but Ward; splits as features; the
preference for cheap splits; bootstrap weights of states; closures; achieved and missing goals as relations
and properties; distances; trees on the residuals; the limit of a feature's size (doubled, since leaf sets
without a limit take too long to express); trees deeper than 2; more than one tree for each layer."""


@dataclass(frozen=True)
class Ablation:
    """The results without an ingredient.

    Attributes
    ----------
    problem, without : the problem and the ingredient.
    runs, planned : the number of finished and of planned runs.
    exact_train, exact_test : the number of runs without an error on the split.
    test_mae : the mean over the runs of the test MAE.
    features, size : medians over the runs.
    """

    problem: str
    without: str
    runs: int
    planned: int
    exact_train: int
    exact_test: int
    test_mae: float
    features: float
    size: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def plan_ablations(
    configs: Mapping[str, RunConfig],
    networks: int,
    seeds: int,
    *,
    first: int = FIRST,
    only: Iterable[str] = (),
) -> Sweep:
    """Plan all runs of a table of ablations.

    Parameters
    ----------
    configs : the config of each problem.
    networks, seeds : the number of fresh networks, and of seeds of the distillation for each.
    first : the first seed of the networks.
    only : the ingredients to leave out; all without any.

    Examples
    --------
    >>> config = RunConfig({"problem": "gripper"}).with_settings({"training.epochs": 5})
    >>> len(plan_ablations({"gripper": config}, 2, 1).jobs) == 2 * len(INGREDIENTS)
    True
    """
    chosen = dict.fromkeys([WHOLE, *only]) if only else dict.fromkeys(INGREDIENTS)
    for name in chosen:
        if name not in INGREDIENTS:
            raise InputError(f"There is no ingredient {name!r}; {did_you_mean(name, INGREDIENTS)}")
    if seeds < 1:
        raise InputError(f"There must be at least 1 seed, not {seeds}.")
    check_jobs(len(configs) * networks * seeds * len(chosen), "The table of ablations")
    jobs = [
        PlannedJob(
            trained.with_settings({SEED: seed, **INGREDIENTS[name]}),
            {BASE: problem, NETWORK: network, SEED: seed, "without": name},
        )
        for problem, config in configs.items()
        for network, trained in fresh_networks(config, networks, first).items()
        for seed in range(seeds)
        for name in chosen
    ]
    return Sweep("ablations", tuple(jobs))


def ablations_of(works: Sequence[Work]) -> list[Ablation]:
    """The results of `plan_ablations`: a row for each problem and ingredient."""
    groups: dict[tuple[str, str], list[Work]] = {}
    for work in works:
        settings = work.job.settings
        groups.setdefault((settings[BASE], settings["without"]), []).append(work)
    found = []
    for (problem, without), mine in groups.items():
        done = [work.metrics for work in mine if work.state == DONE]
        splits = [metrics["splits"] for metrics in done]
        found.append(
            Ablation(
                problem,
                without,
                len(done),
                len(mine),
                sum(one["train"]["max_error"] == 0 for one in splits),
                sum("test" in one and one["test"]["max_error"] == 0 for one in splits),
                float(np.mean([one["test"]["mae"] for one in splits if "test" in one] or [np.nan])),
                float(np.median([metrics["features"] for metrics in done] or [np.nan])),
                float(np.median([metrics["formula_size"] for metrics in done] or [np.nan])),
            )
        )
    return found
