"""`distill run`: distil a network into a value function."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.evaluate import score_cells
from distill.cli.output import Json, print_json, print_table, print_text, stage_bar
from distill.common import InputError
from distill.distillation import Distillation

if TYPE_CHECKING:
    from distill.runs import Run

_LONGEST = 2_000  # symbols of a value function that is printed
_SETTINGS = "; ".join(f"{name}: {Distillation.description(name)}" for name in Distillation().to_mapping())


def run(
    config: Annotated[
        Path | None,
        typer.Argument(
            help="A YAML file with problem, checkpoint or training, and distillation; see `distill config`."
        ),
    ] = None,
    checkpoint: Annotated[Path | None, typer.Option(help="A network, instead of a config.")] = None,
    problem: Annotated[str | None, typer.Option(help="A problem class, instead of a config.")] = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    train: options.Train = None,
    validation: options.Validation = None,
    test: options.Test = None,
    states: options.States = None,
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
            help="A setting: SECTION.NAME, or the name of a setting of the distillation; may be repeated. "
            f"{_SETTINGS}",
        ),
    ] = None,
    out: options.OutFolder = options.RUNS,
    max_steps: options.MaxSteps = None,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    english: options.English = False,
    as_json: Json = False,
) -> None:
    """Distil a network into a value function: replay, layers of trees, regression, evaluation, a run folder.

    By default every feature is a short formula. If an exact value function with integer weights is found, it
    is chosen; otherwise the obstacle is reported.

    The same inputs and settings give the same run. A run that exists is shown again.

    Examples: `distill run configs/runs/gripper.yaml --english`,
    `distill run --checkpoint artifacts/checkpoints/gripper.safetensors --problem gripper --set seed=1`,
    `distill run configs/runs/gripper.yaml --control untrained`,
    `distill run --problem gripper --pool enumerate`.
    """
    from distill.jobs import RunConfig, do_job, parse_override

    changes = dict(map(parse_override, given or []))
    changes |= {key: value for key, value in (("pool", pool), ("control", control)) if value is not None}
    if max_steps is not None:
        changes["evaluation.max_steps"] = max_steps
    changes |= {f"labelling.{key}": value for key, value in options.expansion_settings(max_states).items()}
    files = {
        "checkpoint": checkpoint,
        "problem": problem,
        "domain": domain,
        "instances": instances,
        "train": train,
        "validation": validation,
        "test": test,
        "states": states,
    }
    named = {key: str(value) for key, value in files.items() if value is not None}
    if config is not None:
        if named:
            raise InputError("Give either a config, or --checkpoint with --problem or --domain, not both.")
        job = RunConfig.read(config, changes)
    elif not named:
        raise InputError("Give a config, or --checkpoint FILE with --problem NAME or --domain.")
    else:
        job = RunConfig.from_mapping(named, Path(), lambda *keys: "The options", changes)
    processes = options.worker_count(workers)
    with stage_bar() as progress:
        result = do_job(job, out, workers=processes, progress=progress)
    if as_json:
        answer = {"run": str(result.folder), "value": _text(result, english), "seconds": result.seconds}
        print_json({**answer, **result.metrics, **({"outdated": result.outdated} if result.outdated else {})})
    else:
        show(result, english)


def show(run: "Run", english: bool = False) -> None:
    """Print the value function of a run and its metrics."""
    from distill.runs import verdict

    metrics = run.metrics
    rows = [[name, *score_cells(row)] for name, row in metrics["splits"].items()]
    weights = "integer" if metrics["integer_weights"] else "non-integer"
    caption = [
        f"pool {metrics['pool']}: {metrics['features']} of {metrics['pool_size']} features, "
        f"size {metrics['formula_size']}, {weights} weights",
        *([_fidelity(metrics["fidelity"])] if metrics["fidelity"] else []),
        f"seconds: {', '.join(f'{stage} {spent}' for stage, spent in run.seconds.items())}",
        f"run: {run.folder}",
    ]
    columns = ["split", "states", "MAE", "largest error", "greedy", "solved"]
    print_table("Against V*", columns, rows, "\n".join(caption))
    outdated = [run.outdated] if run.outdated else []
    for line in [*outdated, "", *verdict(metrics["fit"], run.config), "", _text(run, english)]:
        print_text(line)


def _fidelity(fidelity: Mapping[str, Any]) -> str:
    agreement = fidelity["greedy_agreement"]
    choices = "greedy choices unknown" if agreement is None else f"{agreement:.2%} of its greedy choices"
    errors = ", ".join(f"{name} {mae:.4f}" for name, mae in fidelity.get("network_errors", {}).items())
    own = f"\nMAE of the network itself: {errors}" if errors else ""
    return f"agreement with the network: MAE {fidelity['mae']:.4f}, {choices}{own}"


def _text(run: "Run", english: bool) -> str:
    from distill.logic import write_defined

    value = run.value_function.value
    if value.size > _LONGEST:
        return f"A value function of {value.size:,} symbols is too long to print; see {run.folder}."
    return str(write_defined(value, english=english))
