"""`distill run`: from a network to a value function."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, print_json, print_table, stage_bar
from distill.cli.source import (
    DomainFile,
    Instances,
    MaxStates,
    Test,
    Train,
    Validation,
    Workers,
    check_workers,
    expansion_settings,
)
from distill.errors import InputError
from distill.settings import Distillation

if TYPE_CHECKING:
    from distill.jobs import Run

_LONGEST = 2_000  # symbols of a value function that are printed
_SETTINGS = "; ".join(f"{name}: {Distillation.description(name)}" for name in Distillation().to_mapping())


def run(
    config: Annotated[
        Path | None,
        typer.Argument(
            help="A YAML file: problem, checkpoint or training, distillation; see `distill config`."
        ),
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="A network, instead of a config.")] = None,
    problem: Annotated[str | None, typer.Option(help="A problem class, instead of a config.")] = None,
    domain: DomainFile = None,
    instances: Instances = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    pool: Annotated[
        str | None, typer.Option(help=f"The setting pool. {Distillation.description('pool')}")
    ] = None,
    control: Annotated[
        str | None, typer.Option(help=f"The setting control. {Distillation.description('control')}")
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A setting, as SECTION.NAME or by the name of one of the distillation; may be repeated. "
            f"{_SETTINGS}",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder that keeps runs.")] = Path("artifacts/runs"),
    max_steps: Annotated[
        int | None, typer.Option(help="A greedy execution gives up after so many steps; 0 executes none.")
    ] = None,
    max_states: MaxStates = None,
    workers: Workers = None,
    english: Annotated[bool, typer.Option("--english", help="Say in words what each term counts.")] = False,
    as_json: Json = False,
) -> None:
    """Distil a network into a value function: replay, layers of trees, regression, evaluation, a run folder.

    By default every feature is a short formula and the value function is exact, with whole weights, if one
    can be found; what stands in the way is told otherwise.

    The same inputs and settings give the same run, which is kept and shown again.

    Examples: `distill run configs/runs/gripper.yaml --english`,
    `distill run --checkpoint artifacts/checkpoints/gripper.safetensors --problem gripper --set seed=1`,
    `distill run configs/runs/gripper.yaml --control untrained`,
    `distill run --problem gripper --pool enumerate`.
    """
    import os

    from distill.jobs import RunConfig, do_job, parse_override

    changes = dict(parse_override(text) for text in given or [])
    changes |= {key: value for key, value in (("pool", pool), ("control", control)) if value is not None}
    if max_steps is not None:
        changes["evaluation.max_steps"] = max_steps
    changes |= {f"labelling.{key}": value for key, value in expansion_settings(max_states).items()}
    files = {
        "checkpoint": checkpoint,
        "problem": problem,
        "domain": domain,
        "instances": instances,
        "train": train,
        "validation": validation,
        "test": test,
    }
    named = {key: str(value) for key, value in files.items() if value is not None}
    if config is not None:
        if named:
            raise InputError("Give either a config, or --checkpoint with --problem or --domain, not both.")
        made = RunConfig.read(config, changes)
    elif not named:
        raise InputError(
            "Say what to distil: a config, or --checkpoint FILE with --problem NAME or --domain."
        )
    else:
        made = RunConfig.from_mapping(named, Path(), lambda *keys: "The options", changes)
    check_workers(workers)
    with stage_bar() as progress:
        found = do_job(made, out, workers=workers or os.cpu_count() or 1, progress=progress)
    if as_json:
        shown = {"run": str(found.folder), "value": str(_shown(found, english)), "seconds": found.seconds}
        print_json({**shown, **found.metrics})
    else:
        show(found, english)


def show(found: "Run", english: bool = False) -> None:
    """The value function and its metrics, for people."""
    from distill.jobs import verdict

    metrics = found.metrics
    rows = [
        [
            name,
            row["states"],
            f"{row['mae']:.4f}",
            f"{row['max_error']:.2f}",
            f"{row['greedy_optimal_steps'] / row['greedy_steps']:.2%}" if row["greedy_steps"] else "–",
            f"{row['solved']}/{row['instances']}" if row["instances"] else "–",
        ]
        for name, row in metrics["splits"].items()
    ]
    whole = "integer" if metrics["integer_weights"] else "no integer"
    caption = [
        f"pool {metrics['pool']}: {metrics['features']} of {metrics['pool_size']} features, "
        f"size {metrics['formula_size']}, {whole} weights",
        *([_faithful(metrics["fidelity"])] if metrics["fidelity"] else []),
        f"seconds: {', '.join(f'{stage} {spent}' for stage, spent in found.seconds.items())}",
        f"run: {found.folder}",
    ]
    columns = ["split", "states", "MAE", "largest error", "greedy", "solved"]
    print_table("Against V*", columns, rows, "\n".join(caption))
    for line in ["", *verdict(metrics["fit"], found.config), "", _shown(found, english)]:
        console().print(line, highlight=False, markup=False, soft_wrap=True)


def _faithful(fidelity: Mapping[str, Any]) -> str:
    agreement = fidelity["greedy_agreement"]
    choices = (
        f"{agreement:.2%} of its greedy choices" if agreement is not None else "greedy choices not known"
    )
    return f"to the network: MAE {fidelity['mae']:.4f}, {choices}"


def _shown(found: "Run", english: bool) -> str:
    from distill.logic import write_defined

    value = found.distilled.value
    if value.size > _LONGEST:
        return f"A value function of {value.size:,} symbols is too long to print; see {found.folder}."
    return write_defined(value, english=english)
