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
    expansion_settings,
    labelled_states,
)
from distill.errors import InputError
from distill.settings import Distillation

if TYPE_CHECKING:
    from distill.jobs import Run, RunConfig

_LONGEST = 2_000  # symbols of a value function that are printed
_SETTINGS = "; ".join(f"{name}: {Distillation.description(name)}" for name in Distillation().to_mapping())


def run(
    config: Annotated[
        Path | None, typer.Argument(help="A YAML file: checkpoint, problem, distillation.")
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
        typer.Option("--set", metavar="KEY=VALUE", help=f"A setting; may be repeated. {_SETTINGS}"),
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
    from dataclasses import replace

    from distill.jobs import RunConfig
    from distill.jobs import run as make_run

    asked = _settings(given or [])
    asked |= {key: value for key, value in (("pool", pool), ("control", control)) if value is not None}
    source: dict[str, Any] = {
        "problem": problem,
        "domain": domain,
        "instances": instances,
        "train": train,
        "validation": validation,
        "test": test,
    }
    source = {key: str(value) for key, value in source.items() if value is not None}
    if config is not None:
        if checkpoint or source:
            raise InputError("Give either a config, or --checkpoint with --problem or --domain, not both.")
        made = RunConfig.read(config)
    elif not source or (checkpoint is None and asked.get("pool") != "enumerate"):
        raise InputError(
            "Say what to distil: a config, or --checkpoint FILE with --problem NAME or --domain."
        )
    else:
        made = RunConfig(checkpoint, source, Distillation())
    settings = made.settings.to_mapping() | asked
    made = replace(made, settings=Distillation.from_mapping(settings, "The options"))
    splits = _splits(made, max_states)
    sets = labelled_states(splits, "none", workers)
    with stage_bar() as progress:
        found = make_run(made, sets, splits, out, max_steps=max_steps, progress=progress)
    if as_json:
        print_json({"run": str(found.folder), "value": str(_shown(found, english)), **found.metrics})
    else:
        show(found, english)


def show(found: "Run", english: bool = False) -> None:
    """The value function and its metrics, for people."""
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
        f"seconds: {', '.join(f'{stage} {spent}' for stage, spent in metrics['seconds'].items())}",
        f"run: {found.folder}",
    ]
    columns = ["split", "states", "MAE", "largest error", "greedy", "solved"]
    print_table("Against V*", columns, rows, "\n".join(caption))
    for line in ["", *_verdict(metrics["fit"], found.config), "", _shown(found, english)]:
        console().print(line, highlight=False, markup=False, soft_wrap=True)


def _faithful(fidelity: Mapping[str, Any]) -> str:
    agreement = fidelity["greedy_agreement"]
    choices = (
        f"{agreement:.2%} of its greedy choices" if agreement is not None else "greedy choices not known"
    )
    return f"to the network: MAE {fidelity['mae']:.4f}, {choices}"


def _verdict(fit: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """What is known of the fit: whether it is exact, and what stands in the way."""
    if config.get("distillation", {}).get("target") == "model":
        return ["The network's own values are explained; the fit is the best short one by absolute error."]
    if fit["exact"]:
        gap = fit.get("gap", 0.0)
        rest = f"; one that is {gap:.0%} smaller is not ruled out" if gap else ""
        return [f"Exact on all training states{rest}."]
    found = ["NOT exact on all training states; the best short fit by absolute error is shown."]
    if fit.get("conflict"):
        found.append("Two states look the same to every network and formula, and have different V*:")
        found += [f"  V* = {state['v_star']}: {state['atoms']}" for state in fit["conflict"]]
    elif fit.get("blocking"):
        found.append("No exact fit exists in the pool; among the states that prevent it:")
        found += [f"  V* = {state['v_star']}: {state['atoms']}" for state in fit["blocking"]]
    elif "wrong" in fit:
        found.append(f"{fit['wrong']} sorts of states are not met; more time or other settings may help.")
    return found


def _shown(found: "Run", english: bool) -> str:
    from distill.logic import write_defined

    value = found.distilled.value
    if value.size > _LONGEST:
        return f"A value function of {value.size:,} symbols is too long to print; see {found.folder}."
    return write_defined(value, english=english)


def _settings(given: list[str]) -> dict[str, Any]:
    import yaml

    found = {}
    for text in given:
        key, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--set {text} must look like KEY=VALUE.")
        read = value.split(",") if key == "features" else yaml.safe_load(value)
        found[key] = read
    return found


def _splits(config: "RunConfig", max_states: int | None) -> Any:
    from dataclasses import replace

    from distill.planning import Labelling

    settings = expansion_settings(max_states)
    return [
        replace(s, labelling=Labelling.from_mapping({**s.labelling.to_mapping(), **settings}, "options"))
        for s in config.splits()
    ]
