"""`distill stability` and `distill ablations`: results on new networks and other seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.cli.batch import exit_if_failed, run_jobs, show_failures, show_plan
from distill.cli.output import Json, decimal, print_json, print_table, print_text
from distill.common import InputError

if TYPE_CHECKING:
    from distill.jobs import Ablation, JobBatch, RunConfig, Stability

Configs = Annotated[
    list[Path],
    typer.Argument(
        help="YAML files with training settings, such as configs/training/gripper.yaml.", metavar="CONFIG..."
    ),
]
_MOST = 10_000  # networks, and seeds of each
Networks = Annotated[int, options.count_option("Number of networks to train for each config.", most=_MOST)]
Seeds = Annotated[
    int, options.count_option("Number of seeds of the distillation for each network.", most=_MOST)
]
First = Annotated[int, options.seed_option("The first seed of the networks.")]
DoneOnly = Annotated[bool, typer.Option("--done-only", help="Report on finished jobs; run none.")]


def stability(
    configs: Configs,
    networks: Networks = 5,
    seeds: Seeds = 2,
    first: First = 100,
    controls: Annotated[
        bool, typer.Option(help="Also distil an untrained network and permuted embeddings, as controls.")
    ] = True,
    out: options.OutFolder = options.RUNS,
    executor: options.Executor = "local",
    workers: options.Workers = None,
    dry_run: options.DryRun = False,
    retry_failed: options.Retry = False,
    done_only: DoneOnly = False,
    changes: options.Changes = None,
    as_json: Json = False,
) -> None:
    """Train new networks, distil each with several seeds, and report whether the results agree.

    The report contains the number of exact runs, with and without the polish; the value functions that were
    found, where terms with equal values are equal; the error of each network; and the results of the
    controls. An interrupted call continues where it stopped.

    Examples: `distill stability configs/training/gripper.yaml --networks 5 --seeds 2`,
    `distill stability configs/training/*.yaml --done-only`.
    """
    from distill.jobs import JobBatch, plan_stability, stability_of, write_stability

    plan = plan_stability(_configs(configs, changes), networks, seeds, first=first, controls=controls)
    jobs = JobBatch(plan, out, retry=retry_failed)
    if not _run(jobs, executor, workers, dry_run, done_only, as_json):
        return
    reports = stability_of(jobs.works, out)
    place = write_stability(reports, jobs.works, out)
    if as_json:
        print_json({"report": str(place), "problems": [one.to_json() for one in reports]})
    else:
        _show_stability(reports)
        print_text(f"report: {place}")
    _end(jobs, done_only)


def ablations(
    configs: Configs,
    networks: Networks = 1,
    seeds: Seeds = 1,
    first: First = 100,
    only: Annotated[
        list[str] | None, typer.Option(help="Remove only this ingredient; may be repeated.")
    ] = None,
    out: options.OutFolder = options.RUNS,
    executor: options.Executor = "local",
    workers: options.Workers = None,
    dry_run: options.DryRun = False,
    retry_failed: options.Retry = False,
    done_only: DoneOnly = False,
    changes: options.Changes = None,
    as_json: Json = False,
) -> None:
    """Remove each ingredient of the learner in turn, on new networks, and report the effect.

    The networks are those of `distill stability`. An interrupted call continues where it stopped.

    Examples: `distill ablations configs/training/blocks-on.yaml --networks 2`,
    `distill ablations configs/training/gripper.yaml --only closures --only bootstrap`.
    """
    from distill.jobs import JobBatch, ablations_of, plan_ablations

    plan = plan_ablations(_configs(configs, changes), networks, seeds, first=first, only=only or ())
    jobs = JobBatch(plan, out, retry=retry_failed)
    if not _run(jobs, executor, workers, dry_run, done_only, as_json):
        return
    results = ablations_of(jobs.works)
    if as_json:
        print_json([one.to_json() for one in results])
    else:
        _show_ablations(results)
    _end(jobs, done_only)


def _configs(files: Sequence[Path], changes: Sequence[str] | None) -> "dict[str, RunConfig]":
    from distill.jobs import RunConfig, parse_override

    overrides = dict(map(parse_override, changes or []))
    configs: dict[str, RunConfig] = {}
    for file in files:
        if file.stem in configs:
            raise InputError(f"Two configs are called {file.stem}; give each name once.")
        configs[file.stem] = RunConfig.read(file, overrides)
    return configs


def _run(
    jobs: "JobBatch", executor: str, workers: int | None, dry_run: bool, done_only: bool, as_json: bool
) -> bool:
    """Run or list the jobs, as the options select; returns whether there are results to report."""
    processes = options.worker_count(workers)
    if dry_run:
        show_plan(jobs, as_json)
    elif not done_only:
        run_jobs(jobs, executor, processes)
    return not dry_run


def _end(jobs: "JobBatch", done_only: bool) -> None:
    if not done_only:
        show_failures(jobs.works)
        exit_if_failed(jobs)


def _show_stability(reports: "Sequence[Stability]") -> None:
    def share(counted: tuple[int, int]) -> str:
        return f"{counted[0]}/{counted[1]}"

    rows = [
        [
            one.problem,
            share(one.exact()),
            share(one.exact("ridt+polish")),
            share(one.same()),
            *(share(one.exact(control=control)) for control in ("untrained", "permuted")),
        ]
        for one in reports
    ]
    if len(reports) > 1:
        rows.append(["all", *(_summed(row[number] for row in rows) for number in range(1, len(rows[0])))])
    print_table(
        "Stability",
        ["problem", "exact", "polished", "same function", "untrained", "permuted"],
        rows,
        "exact: right on all training and test states; same function: equal terms after polish; untrained, "
        "permuted: exact in the controls",
    )
    for one in reports:
        columns = ["network", "its MAE on test", "exact", "worst MAE", "functions after polish"]
        table = [
            [
                row["network"],
                f"{row['network_mae']:.4f}",
                f"{row['exact']}/{row['runs']}",
                f"{row['worst_test_mae']:.4f}",
                ", ".join(f"F{number + 1}" for number in row["functions"]),
            ]
            for row in one.networks
        ]
        if table:
            print_table(one.problem, columns, table)
        for number, function in enumerate(one.functions["ridt+polish"]):
            text = f"F{number + 1} ({len(function.runs)} runs): V = {function.value}"
            if function.unlike:
                values = "the same value in every state" if function.equal else "another value in some states"
                text += f"\n   has {function.unlike}; {values}"
            print_text(text)
        print_text(f"{one.problem}: {one.contribution}")
        if one.missing:
            print_text(f"{len(one.missing)} jobs are not done.")


def _summed(cells: object) -> str:
    pairs = [tuple(map(int, str(cell).split("/"))) for cell in cells]  # type: ignore[attr-defined]
    return f"{sum(pair[0] for pair in pairs)}/{sum(pair[1] for pair in pairs)}"


def _show_ablations(results: "Sequence[Ablation]") -> None:
    rows = [
        [
            one.problem,
            one.without,
            f"{one.exact_train}/{one.runs}",
            f"{one.exact_test}/{one.runs}",
            decimal(one.test_mae if one.runs else None),
            decimal(one.features if one.runs else None, "g"),
            decimal(one.size if one.runs else None, "g"),
        ]
        for one in results
    ]
    columns = ["problem", "without", "exact on train", "on test", "MAE on test", "terms", "size"]
    caption = "terms, size: medians; only finished runs are counted"
    print_table("Ablations", columns, rows, caption)
