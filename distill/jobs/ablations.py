"""Ablations: each ingredient of the learner left out in turn, on networks that nothing was tuned on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from distill.errors import InputError
from distill.jobs.batch import DONE, Work
from distill.jobs.fresh import FIRST, NETWORK, SEED, fresh_networks
from distill.jobs.run_config import RunConfig
from distill.jobs.sweep import Planned, Sweep
from distill.settings import meant

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
"""What can be left out, and by which settings: all linkages but Ward; splits as features; the preference for
cheap splits; other weights of states for each tree; closures; achieved and missing goals as relations and
properties; distances; trees on what is still wrong; the limit of a feature's size, which is doubled, for
without one it would take forever to say leaf sets; trees deeper than 2; more than one tree for each layer."""


@dataclass(frozen=True)
class Ablation:
    """What came out without an ingredient.

    Attributes
    ----------
    problem, without : which problem, and what was left out.
    runs : how many were done, of how many.
    planned : that many.
    exact_train, exact_test : runs without an error on all states of the split.
    test_mae : mean over the runs of the mean error on test.
    features, size : medians.
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
    """All runs that a table of ablations needs.

    Parameters
    ----------
    configs : for each problem how to train and distil.
    networks, seeds : fresh networks, and seeds of the distillation for each.
    first : the first seed of the networks.
    only : ingredients, if not all are to be left out in turn.

    Examples
    --------
    >>> config = RunConfig({"problem": "gripper"}).with_settings({"training.epochs": 5})
    >>> len(plan_ablations({"gripper": config}, 2, 1).jobs) == 2 * len(INGREDIENTS)
    True
    """
    chosen = dict.fromkeys([WHOLE, *only]) if only else dict.fromkeys(INGREDIENTS)
    for name in chosen:
        if name not in INGREDIENTS:
            raise InputError(f"There is no ingredient {name!r}; {meant(name, INGREDIENTS)}")
    if seeds < 1:
        raise InputError(f"There must be at least 1 seed, not {seeds}.")
    jobs = [
        Planned(
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
    """What the jobs of `plan_ablations` say: for each problem and ingredient a row."""
    groups: dict[tuple[str, str], list[Work]] = {}
    for work in works:
        settings = work.planned.settings
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
