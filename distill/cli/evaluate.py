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
    from distill.jobs import Beyond, Evaluation
    from distill.planning import DataSet

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
    beyond: Annotated[
        bool,
        typer.Option(
            "--beyond",
            help="Instead of the splits: on instances far larger, labelled by the hand-made value function "
            "that the problem class declares, after it was validated on all states of the splits. Plans are "
            "executed only with --max-steps.",
        ),
    ] = False,
    max_states: MaxStates = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Compare a network, or the value function of a run, with V*: its error, greedy choices, and plans.

    A greedy step is optimal when the chosen successor's V* is lower by one. Plans are validated.

    Examples: `distill evaluate artifacts/checkpoints/gripper.safetensors gripper`,
    `distill evaluate NET.ckpt --domain D.pddl --instances FOLDER --json`, `distill evaluate RUN --beyond`.
    """
    from functools import partial

    from distill import jobs
    from distill.models import Checkpoint
    from distill.planning import problem_class

    if figure is not None:
        check_format(figure)
    if max_steps is not None and max_steps < 0:
        raise InputError(f"--max-steps must be at least 0, not {max_steps}.")
    if checkpoint.is_dir():
        run = jobs.Run.load(checkpoint)
        predict, policy = run.distilled.predict, run.distilled.policy
        problem = problem or (run.config.get("problem") if beyond else None)
    else:
        network = Checkpoint.load(checkpoint).network
        predict, policy = partial(jobs.predict, network), partial(jobs.policy, network)
    if beyond:
        if problem is None:
            raise InputError(
                "--beyond works on problem classes only; name one that `distill problems` lists."
            )
        problem_class(problem).declared("beyond")
    folders = {"train": train, "validation": validation, "test": test}
    settings = expansion_settings(max_states)
    splits = chosen_splits(problem, domain, instances, folders, None, split, settings, instance)
    sets = labelled_states(splits, "none", workers)
    far = _labelled_beyond(problem, sets) if problem and beyond else None
    solve = None if max_steps == 0 or (far and max_steps is None) else policy(max_steps)
    with progress_bar("Executing") as progress:
        if far is None:
            found = jobs.evaluate(predict(sets), solve, splits, sets, progress=progress)
        else:
            found = far.evaluate(predict, solve, progress=progress)
    if figure is not None:
        _draw(found, figure)
    if as_json:
        print_json(scores_as_json(found) if far is None else beyond_as_json(far, found))
        return
    if far is None:
        show_scores(f"{checkpoint.name} on {problem or domain}", found)
    else:
        show_beyond(f"{checkpoint.name} beyond the splits", far, found)
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


def beyond_as_json(far: "Beyond", found: "Evaluation") -> dict[str, Any]:
    """The scores beyond the splits, and who labelled the states, for programs."""
    summary = far.data.summary()
    return {
        "class": far.data.origin["class"],
        "labelled_by": f"@{far.labels}",
        "validated_states": far.validated,
        "min_objects": summary["min_objects"],
        "max_objects": summary["max_objects"],
        "max_v": summary["max_v_star"],
        **found.splits["beyond"].to_json(),
        "executed": len(found.plans["beyond"]),
        "instances": summary["instances"],
        "by_v": found.by_v_star("beyond"),
        "plan_lengths": list(found.plans["beyond"]),
    }


def show_beyond(title: str, far: "Beyond", found: "Evaluation") -> None:
    """The scores beyond the splits, and who labelled the states, for people."""
    told = beyond_as_json(far, found)
    low, high = told["min_objects"], told["max_objects"]
    row = [
        told["class"],
        f"{low}-{high}" if low < high else f"{low}",
        told["instances"],
        told["states"],
        told["max_v"],
        f"{told['mae']:.4f}",
        f"{told['max_error']:.2f}",
    ]
    columns = ["class", "objects", "instances", "states", "max V", "MAE", "largest error"]
    if told["executed"]:
        length = told["plan_length"] / told["optimal_length"] if told["optimal_length"] else None
        row += [f"{told['solved']}/{told['executed']}", "–" if length is None else f"{length:.3f}"]
        columns += ["solved", "length"]
    print_table(title, columns, [row], far.sentence)


def _labelled_beyond(problem: str, sets: "dict[str, DataSet]") -> "Beyond":
    from distill.jobs import label_beyond
    from distill.planning import problem_class

    with progress_bar("Labelling beyond") as progress:
        return label_beyond(problem_class(problem), sets, progress=progress)


def _draw(found: "Evaluation", figure: Path) -> None:
    from distill.models.figures import draw_predictions

    panels = {
        name: (found.v_star[found.split == number], found.value[found.split == number])
        for number, name in enumerate(found.splits)
    }
    draw_predictions(panels, figure)
