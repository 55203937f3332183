"""Stability: whether other networks and other seeds lead to the same value function.

Several fresh networks are trained for a problem, and each is distilled with several seeds: from the trees
alone, and polished. As controls, the same is done with an untrained network and with permuted embeddings,
which contain nothing that the network learned.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from distill.common import InputError, atomic_write, content_key, drawing
from distill.jobs.batch import DONE, Work
from distill.jobs.fresh_networks import FIRST, NETWORK, SEED, fresh_networks
from distill.jobs.run_config import RunConfig
from distill.jobs.sweep import PlannedJob, Sweep, check_jobs
from distill.runs import DistinctFunction, Run, distinct_functions

POOL, CONTROL = "distillation.pool", "distillation.control"
BASE = "base"
TREES, POLISHED = "ridt", "ridt+polish"
CONTROLS = ("untrained", "permuted")
REPORTS = "stability"


def plan_stability(
    configs: Mapping[str, RunConfig], networks: int, seeds: int, *, first: int = FIRST, controls: bool = True
) -> Sweep:
    """Plan all runs of a report on stability.

    Parameters
    ----------
    configs : the config of each problem.
    networks, seeds : the number of fresh networks, and of seeds of the distillation for each.
    first : the first seed of the networks.
    controls : whether controls are run, with the first network and each seed.

    Examples
    --------
    >>> config = RunConfig({"problem": "gripper"}).with_settings({"training.epochs": 5})
    >>> sweep = plan_stability({"gripper": config}, 2, 1)
    >>> [(job.settings[NETWORK], job.settings.get(POOL), job.settings.get(CONTROL)) for job in sweep.jobs]
    [(100, 'ridt', None), (100, 'ridt+polish', None), (101, 'ridt', None), (101, 'ridt+polish', None), \
(100, 'ridt', 'untrained'), (100, 'ridt', 'permuted')]
    """
    if seeds < 1:
        raise InputError(f"There must be at least 1 seed, not {seeds}.")
    kinds = 2 * networks + (len(CONTROLS) if controls else 0)
    check_jobs(len(configs) * seeds * kinds, "The report on stability")
    jobs: list[PlannedJob] = []
    for name, config in configs.items():
        fresh = fresh_networks(config, networks, first)
        changes = [
            (network, {SEED: seed, POOL: pool})
            for network in fresh
            for seed in range(seeds)
            for pool in (TREES, POLISHED)
        ]
        if controls:
            changes += [
                (first, {SEED: seed, POOL: TREES, CONTROL: one}) for one in CONTROLS for seed in range(seeds)
            ]
        jobs += [
            PlannedJob(fresh[network].with_settings(change), {BASE: name, NETWORK: network, **change})
            for network, change in changes
        ]
    return Sweep("stability", tuple(jobs))


@dataclass(frozen=True)
class Member:
    """One run of a report.

    Attributes
    ----------
    run : the name of the run.
    network, seed : the seeds of the network and of the distillation.
    pool, control : settings of the distillation; the control is `none` for the network itself.
    network_mae : the test MAE of the network.
    exact : whether it has no error on training and test states.
    train_mae, test_mae, max_error : errors of the value function; the last is the largest on test.
    features, size : the number of terms and of symbols.
    function : its number among the distinct functions of its pool; None for a control.
    """

    run: str
    network: int
    seed: int
    pool: str
    control: str
    network_mae: float
    exact: bool
    train_mae: float
    test_mae: float
    max_error: float
    features: int
    size: int
    function: int | None = None

    @staticmethod
    def of(run: Run, settings: Mapping[str, Any], network_mae: float, function: int | None) -> "Member":
        """The scores of a run."""
        train, test = (run.metrics["splits"].get(name) for name in ("train", "test"))
        if test is None:
            raise InputError(f"{run.name} has no test instances; give some.")
        return Member(
            run.name,
            int(settings[NETWORK]),
            int(settings[SEED]),
            str(settings[POOL]),
            str(settings.get(CONTROL, "none")),
            network_mae,
            train["max_error"] == 0 and test["max_error"] == 0,
            train["mae"],
            test["mae"],
            test["max_error"],
            run.metrics["features"],
            run.metrics["formula_size"],
            function,
        )


@dataclass(frozen=True, eq=False)
class Stability:
    """How stable the distillation of one problem is.

    Attributes
    ----------
    problem : the name of the problem.
    members : all runs, including controls.
    functions : for each pool the distinct value functions, the most frequent first.
    missing : the jobs without a run, and why.
    """

    problem: str
    members: tuple[Member, ...]
    functions: Mapping[str, tuple[DistinctFunction, ...]]
    missing: tuple[str, ...] = ()

    def of(self, pool: str = TREES, control: str = "none") -> list[Member]:
        """The runs of a pool, or of a control."""
        return [one for one in self.members if one.pool == pool and one.control == control]

    def exact(self, pool: str = TREES, control: str = "none") -> tuple[int, int]:
        """The number of exact runs, and of all runs."""
        mine = self.of(pool, control)
        return sum(one.exact for one in mine), len(mine)

    def same(self, pool: str = POLISHED) -> tuple[int, int]:
        """The number of runs with the most frequent function, and of all runs."""
        mine = self.of(pool)
        return sum(one.function == 0 for one in mine), len(mine)

    @cached_property
    def networks(self) -> list[dict[str, Any]]:
        """For each network its error and the number of its exact runs, the best network first."""
        rows = []
        for seed in dict.fromkeys(one.network for one in self.of()):
            mine = [one for one in self.of() if one.network == seed]
            found = [one for one in self.of(POLISHED) if one.network == seed]
            rows.append(
                {
                    "network": seed,
                    "network_mae": mine[0].network_mae,
                    "exact": sum(one.exact for one in mine),
                    "runs": len(mine),
                    "worst_test_mae": max(one.test_mae for one in mine),
                    "functions": sorted({one.function for one in found if one.function is not None}),
                }
            )
        return sorted(rows, key=lambda row: (row["network_mae"], row["network"]))

    @property
    def contribution(self) -> str:
        """The contribution of the network by comparison with the controls, in a sentence."""
        exact, runs = self.exact()
        controls = {control: self.exact(control=control) for control in CONTROLS}
        if not runs:
            return "No run is done, so nothing can be said."
        if not all(number for _, number in controls.values()):
            return "The controls were not run, so nothing is claimed for the network."
        shares = " and ".join(f"{right} of {number} {name}" for name, (right, number) in controls.items())
        if exact == 0:
            return f"No run is exact with the network either ({shares}), so nothing is claimed for it."
        if all(right == 0 for right, _ in controls.values()):
            return f"The network is needed: {exact} of {runs} runs are exact with it, {shares} without."
        if any(right * runs >= exact * number for right, number in controls.values()):
            return (
                f"Nothing is claimed for the network: {exact} of {runs} runs are exact with it, and {shares} "
                "without, so the language and its costs may suffice."
            )
        return f"The network helps: {exact} of {runs} runs are exact with it, {shares} without."

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "problem": self.problem,
            "exact": list(self.exact()),
            "exact_polished": list(self.exact(POLISHED)),
            "same": list(self.same()),
            "controls": {control: list(self.exact(control=control)) for control in CONTROLS},
            "contribution": self.contribution,
            "networks": self.networks,
            "functions": {pool: [one.to_json() for one in found] for pool, found in self.functions.items()},
            "runs": [asdict(one) for one in self.members],
            "missing": list(self.missing),
        }


def stability_of(works: Sequence[Work], store: Path) -> list[Stability]:
    """The results of `plan_stability` for each problem."""
    found = []
    for name in dict.fromkeys(work.job.settings[BASE] for work in works):
        mine = [work for work in works if work.job.settings[BASE] == name]
        done = [(work, Run.load(store / str(work.name))) for work in mine if work.state == DONE]
        missing = tuple(f"{work.name}: {work.error or work.state}" for work in mine if work.state != DONE)
        functions: dict[str, tuple[DistinctFunction, ...]] = {}
        which: dict[str, int] = {}
        for pool in (TREES, POLISHED):
            own = [run for work, run in done if _kind(work) == (pool, "none")]
            functions[pool] = distinct_functions(own)
            which |= {run: number for number, one in enumerate(functions[pool]) for run in one.runs}
        errors = _network_errors([run for _, run in done])
        members = tuple(
            Member.of(run, work.job.settings, errors[run.name], which.get(run.name)) for work, run in done
        )
        found.append(Stability(name, members, functions, missing))
    return found


def _kind(work: Work) -> tuple[str, str]:
    settings = work.job.settings
    return settings[POOL], settings.get(CONTROL, "none")


def _network_errors(runs: Sequence[Run]) -> dict[str, float]:
    """For each run the test MAE of its network."""
    known: dict[str, float] = {}
    found = {}
    for run in runs:
        key = run.inputs["stages"]["train"]
        if key not in known:
            table = run.predictions()
            test = table[(table["split"] == "test") & (table["v_star"] >= 0)]
            known[key] = float((test["network"] - test["v_star"]).abs().mean())
        found[run.name] = known[key]
    return found


def write_stability(found: Sequence[Stability], works: Sequence[Work], store: Path) -> Path:
    """Write a report into a folder: JSON, a table of all runs, a figure. Returns the folder."""
    place = store / REPORTS / content_key([work.name for work in works])[:8]
    with atomic_write(place / "stability.json") as stream:
        stream.write(json.dumps([one.to_json() for one in found], indent=1, ensure_ascii=False).encode())
    table = pd.DataFrame([{"problem": one.problem, **asdict(run)} for one in found for run in one.members])
    with atomic_write(place / "runs.csv") as stream:
        stream.write(table.to_csv(index=False).encode())
    if len(table):
        draw_stability(found, place / "stability.svg")
    return place


def draw_stability(found: Sequence[Stability], path: Path) -> None:
    """Draw the error of each value function over that of its network, and the errors of the controls."""
    with drawing(path, panels=len(found), width=3.2, height=3.0) as panels:
        for axes, one in zip(panels, found, strict=True):
            for pool, sign in ((TREES, "o"), (POLISHED, "x")):
                mine = one.of(pool)
                axes.plot([m.network_mae for m in mine], [m.test_mae for m in mine], sign, label=pool)
            for control in CONTROLS:
                errors = [m.test_mae for m in one.of(control=control)]
                axes.plot([0.0] * len(errors), errors, "_", markersize=12, label=control)
            axes.set(title=one.problem, xlabel="MAE of the network on test", ylabel="MAE of the formulas")
            axes.set_yscale("symlog", linthresh=1e-3)
            axes.set_ylim(bottom=-2e-4)
        panels[0].legend(frameon=False, fontsize=7)
