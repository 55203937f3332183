"""`distill evaluate`: how good a network is."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli.output import Json, console, print_json, print_table, progress_bar
from distill.cli.source import (
    DomainFile,
    InstanceFile,
    Instances,
    MaxStates,
    Problem,
    SplitName,
    Test,
    Train,
    Validation,
    Workers,
    chosen_splits,
    expansion_settings,
    labelled_states,
)
from distill.errors import InputError
from distill.figures import check_format

if TYPE_CHECKING:
    from distill.jobs import Evaluation

CheckpointFile = Annotated[
    Path,
    typer.Argument(
        help="A network: ours (.safetensors), or one of gnn-policy-kr22, relational-neural-network-python "
        "or pymimir-rgnn. Nothing in the file is executed."
    ),
]


def evaluate(
    checkpoint: CheckpointFile,
    problem: Problem = None,
    domain: DomainFile = None,
    instance: InstanceFile = None,
    instances: Instances = None,
    train: Train = None,
    validation: Validation = None,
    test: Test = None,
    split: SplitName = None,
    max_steps: Annotated[
        int | None, typer.Option(help="A greedy execution gives up after so many steps; 0 executes none.")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw box plots of V by V* into this file (.png, .svg, .pdf).")
    ] = None,
    max_states: MaxStates = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Compare a network, or the value function of a run, with V*: its error, greedy choices, and plans.

    A greedy step is optimal when the chosen successor's V* is lower by one. Plans are validated.

    Examples: `distill evaluate artifacts/checkpoints/gripper.safetensors gripper`,
    `distill evaluate NET.ckpt --domain D.pddl --instances FOLDER --json`.
    """
    from distill.jobs import Run, evaluate_checkpoint
    from distill.jobs import evaluate as evaluate_values
    from distill.models import Checkpoint

    if figure is not None:
        check_format(figure)
    if max_steps is not None and max_steps < 0:
        raise InputError(f"--max-steps must be at least 0, not {max_steps}.")
    run = Run.load(checkpoint) if checkpoint.is_dir() else None
    loaded = None if run else Checkpoint.load(checkpoint)
    folders = {"train": train, "validation": validation, "test": test}
    settings = expansion_settings(max_states)
    splits = chosen_splits(problem, domain, instances, folders, None, split, settings, instance)
    sets = labelled_states(splits, "none", workers)
    with progress_bar("Executing") as progress:
        if loaded is not None:
            found = evaluate_checkpoint(loaded, splits, sets, max_steps=max_steps, progress=progress)
        elif run is not None:
            solve = None if max_steps == 0 else run.distilled.policy(max_steps)
            values = run.distilled.predict(sets)
            found = evaluate_values(values, solve, splits, sets, progress=progress)
    if figure is not None:
        from distill.models.figures import draw_predictions

        panels = {
            name: (found.v_star[found.split == number], found.value[found.split == number])
            for number, name in enumerate(found.splits)
        }
        draw_predictions(panels, figure)
    if as_json:
        print_json(scores_as_json(found))
    else:
        show_scores(f"{checkpoint.name} on {problem or domain}", found)
        if figure is not None:
            console().print(f"figure: {figure}", soft_wrap=True, highlight=False)


def scores_as_json(found: "Evaluation") -> dict[str, Any]:
    """All scores, for programs."""
    splits = {
        name: {
            **score.to_json(),
            "known_within_half": found.known_within_half(name),
            "by_v_star": found.by_v_star(name),
            "plan_lengths": list(found.plans[name]),
        }
        for name, score in found.splits.items()
    }
    return {**found.total().to_json(), "splits": splits}


def show_scores(title: str, found: "Evaluation") -> None:
    """All scores, for people."""
    rows = []
    for name, score in found.splits.items():
        known = found.known_within_half(name)
        rows.append(
            [
                name,
                score.states,
                f"{score.mae:.4f}",
                f"{score.max_error:.2f}",
                "–" if known is None else f"{known:.2%}",
                f"{score.greedy_optimal_steps / score.greedy_steps:.2%}" if score.greedy_steps else "–",
                f"{score.solved}/{score.instances}" if score.instances else "–",
                f"{score.plan_length / score.optimal_length:.3f}" if score.optimal_length else "–",
            ]
        )
    columns = ["split", "states", "MAE", "largest", "within ½", "greedy", "solved", "length"]
    caption = (
        "largest: error; within ½: states with |V − V*| < 0.5, of those whose V* occurs in training;\n"
        "greedy: steps that are optimal; length: of greedy plans over that of optimal ones"
    )
    print_table(title, columns, rows, caption)
    by_value = [(name, found.by_v_star(name)) for name in found.splits]
    most = max(row["v_star"] for _, table in by_value for row in table)
    errors = {name: {row["v_star"]: row["mae"] for row in table} for name, table in by_value}
    table = [
        [v_star, *(f"{errors[name][v_star]:.4f}" if v_star in errors[name] else "–" for name in errors)]
        for v_star in range(int(most) + 1)
    ]
    print_table("MAE by V*", ["V*", *errors], table)
