"""`distill stability` and `distill ablations`: what holds on fresh networks and other seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli.batch import do, show_failures, show_plan
from distill.cli.output import Json, console, print_json, print_table
from distill.cli.source import Workers, check_workers
from distill.errors import InputError

if TYPE_CHECKING:
    from distill.jobs import Ablation, Batch, RunConfig, Stability

Configs = Annotated[
    list[Path],
    typer.Argument(
        help="YAML files that say how to train, such as configs/gripper.yaml.", metavar="CONFIG..."
    ),
]
Networks = Annotated[int, typer.Option(help="Fresh networks to train for each config.")]
Seeds = Annotated[int, typer.Option(help="Seeds of the distillation for each network.")]
First = Annotated[int, typer.Option(help="The first seed of the networks.")]
Out = Annotated[Path, typer.Option(help="The folder that keeps runs.")]
Executor = Annotated[str, typer.Option(help="Who works: `local` processes, or `dask://HOST:PORT`.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only tell how many jobs there are.")]
Retry = Annotated[bool, typer.Option("--retry-failed", help="Try jobs again that failed earlier.")]
Given = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="A setting for all jobs; may be repeated."),
]
DoneOnly = Annotated[bool, typer.Option("--done-only", help="Only report on jobs that are done; do none.")]
_STORE = Path("artifacts/runs")


def stability(
    configs: Configs,
    networks: Networks = 5,
    seeds: Seeds = 2,
    first: First = 100,
    controls: Annotated[
        bool, typer.Option(help="Also distil from an untrained network and from permuted embeddings.")
    ] = True,
    out: Out = _STORE,
    executor: Executor = "local",
    workers: Workers = None,
    dry_run: DryRun = False,
    retry_failed: Retry = False,
    done_only: DoneOnly = False,
    given: Given = None,
    as_json: Json = False,
) -> None:
    """Train fresh networks, distil each with several seeds, and tell whether they agree.

    Reports how many runs are exact, from trees alone and polished; whether they found the same value
    function, by what its terms count; how that depends on the network's own error; what differs; and what
    comes out without what the network learned (controls). An interrupted call goes on where it stopped.

    Examples: `distill stability configs/gripper.yaml --networks 5 --seeds 2`,
    `distill stability configs/*.yaml --done-only`.
    """
    from distill.jobs import Batch, plan_stability, stability_of, write_stability

    check_workers(workers)
    plan = plan_stability(_configs(configs, given), networks, seeds, first=first, controls=controls)
    made = Batch(plan, out, retry=retry_failed)
    if not _done(made, executor, workers, dry_run, done_only, as_json):
        return
    found = stability_of(made.works, out)
    place = write_stability(found, made.works, out)
    if as_json:
        print_json({"report": str(place), "problems": [one.to_json() for one in found]})
    else:
        _show_stability(found)
        console().print(f"report: {place}", soft_wrap=True, highlight=False)
    _end(made, done_only)


def ablations(
    configs: Configs,
    networks: Networks = 1,
    seeds: Seeds = 1,
    first: First = 100,
    only: Annotated[
        list[str] | None, typer.Option(help="Leave out only this ingredient; may be repeated.")
    ] = None,
    out: Out = _STORE,
    executor: Executor = "local",
    workers: Workers = None,
    dry_run: DryRun = False,
    retry_failed: Retry = False,
    done_only: DoneOnly = False,
    given: Given = None,
    as_json: Json = False,
) -> None:
    """Leave out each ingredient of the learner in turn, on fresh networks, and tell what that costs.

    The networks are those of `distill stability`; an interrupted call goes on where it stopped.

    Examples: `distill ablations configs/blocks-on.yaml --networks 2`,
    `distill ablations configs/gripper.yaml --only closures --only bootstrap`.
    """
    from distill.jobs import Batch, ablations_of, plan_ablations

    check_workers(workers)
    plan = plan_ablations(_configs(configs, given), networks, seeds, first=first, only=only or ())
    made = Batch(plan, out, retry=retry_failed)
    if not _done(made, executor, workers, dry_run, done_only, as_json):
        return
    found = ablations_of(made.works)
    if as_json:
        print_json([one.to_json() for one in found])
    else:
        _show_ablations(found)
    _end(made, done_only)


def _configs(files: Sequence[Path], given: Sequence[str] | None) -> "dict[str, RunConfig]":
    from distill.jobs import RunConfig, parse_override

    changes = dict(parse_override(text) for text in given or [])
    found: dict[str, RunConfig] = {}
    for file in files:
        if file.stem in found:
            raise InputError(f"Two configs are called {file.stem}; give each name once.")
        found[file.stem] = RunConfig.read(file, changes)
    return found


def _done(
    made: "Batch", executor: str, workers: int | None, dry_run: bool, done_only: bool, as_json: bool
) -> bool:
    """Do the jobs as far as that is asked for; whether there is something to report."""
    if dry_run:
        show_plan(made, as_json)
    elif not done_only:
        do(made, executor, workers)
    return not dry_run


def _end(made: "Batch", done_only: bool) -> None:
    if done_only:
        return
    show_failures(made.works)
    if any(work.state == "failed" for work in made.works):
        raise typer.Exit(1)


def _show_stability(found: "Sequence[Stability]") -> None:
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
        for one in found
    ]
    if len(found) > 1:
        rows.append(["all", *(_summed(row[number] for row in rows) for number in range(1, len(rows[0])))])
    print_table(
        "Stability",
        ["problem", "exact", "polished", "same function", "untrained", "permuted"],
        rows,
        "exact: right on all training and test states; same function: after polish, equal terms; untrained, "
        "permuted: exact without what the network learned",
    )
    for one in found:
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
            told = f"F{number + 1} ({len(function.runs)} runs): V = {function.value}"
            if function.unlike:
                same = "the same value in every state" if function.equal else "another value in some states"
                told += f"\n   has {function.unlike}; {same}"
            console().print(told, highlight=False, markup=False, soft_wrap=True)
        told = f"{one.problem}: {one.contribution}"
        console().print(told, highlight=False, markup=False, soft_wrap=True)
        if one.missing:
            console().print(f"{len(one.missing)} jobs are not done.", highlight=False)


def _summed(cells: object) -> str:
    pairs = [tuple(map(int, str(cell).split("/"))) for cell in cells]  # type: ignore[attr-defined]
    return f"{sum(pair[0] for pair in pairs)}/{sum(pair[1] for pair in pairs)}"


def _show_ablations(found: "Sequence[Ablation]") -> None:
    rows = [
        [
            one.problem,
            one.without,
            f"{one.exact_train}/{one.runs}",
            f"{one.exact_test}/{one.runs}",
            f"{one.test_mae:.4f}" if one.runs else "–",
            f"{one.features:g}" if one.runs else "–",
            f"{one.size:g}" if one.runs else "–",
        ]
        for one in found
    ]
    columns = ["problem", "without", "exact on train", "on test", "MAE on test", "terms", "size"]
    caption = "terms, size: medians; runs that are not done are not counted"
    print_table("Ablations", columns, rows, caption)
