"""`distill evaluate`: compare a network or a run with V*."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import (
    Json,
    decimal,
    interval,
    print_json,
    print_table,
    print_text,
    progress_bar,
    ratio,
)
from distill.common import InputError, check_format

if TYPE_CHECKING:
    from distill.evaluation import BeyondSplit, Evaluation
    from distill.structures import DataSet


def evaluate(
    checkpoint: options.CheckpointFile,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instance: options.InstanceFile = None,
    instances: options.Instances = None,
    train: options.Train = None,
    validation: options.Validation = None,
    test: options.Test = None,
    states: options.States = None,
    split: options.SplitName = None,
    max_steps: options.MaxSteps = None,
    figure: Annotated[Path | None, options.figure_option("box plots of V by V*")] = None,
    beyond: Annotated[
        bool,
        typer.Option(
            "--beyond",
            help="Evaluate on far larger instances instead of the splits. They are labelled by the hand-made "
            "value function of the problem class, after it was validated on all states of the splits. Plans "
            "are executed only with --max-steps.",
        ),
    ] = False,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Evaluate a network, or the value function of a run: errors against V*, greedy choices and plans.

    A greedy step is optimal if the V* of the chosen successor is lower by one. Plans are validated.

    Examples: `distill evaluate artifacts/checkpoints/gripper.safetensors gripper`,
    `distill evaluate NET.ckpt --domain D.pddl --instances FOLDER --json`, `distill evaluate RUN --beyond`.
    """
    from functools import partial

    from distill import networks
    from distill.evaluation import evaluate as evaluate_splits, greedy_policy, network_policy
    from distill.planning import problem_class
    from distill.runs import Run

    check_format(figure)
    if max_steps is not None and max_steps < 0:
        raise InputError(f"--max-steps must be at least 0, not {max_steps}.")
    if checkpoint.is_dir():
        run = Run.load(checkpoint)
        function = run.value_function
        predict, policy = function.predict, partial(greedy_policy, function)
        problem = problem or (run.config.get("problem") if beyond else None)
    else:
        network = networks.Checkpoint.load(checkpoint).network
        predict, policy = partial(networks.predict, network), partial(network_policy, network)
    if beyond:
        if problem is None:
            raise InputError("--beyond needs a problem class; `distill problems` lists them.")
        problem_class(problem).declared("beyond")
    folders = {"train": train, "validation": validation, "test": test}
    splits = options.chosen_splits(
        problem,
        domain,
        instances,
        split,
        max_states=max_states,
        folders=folders,
        instance=instance,
        states=states,
    )
    sets = options.labelled_states(splits, "none", workers)
    far = _labelled_beyond(problem, sets) if problem and beyond else None
    solve = None if max_steps == 0 or (far and max_steps is None) else policy(max_steps)
    with progress_bar("Executing") as progress:
        if far is None:
            evaluation = evaluate_splits(predict(sets), solve, splits, sets, progress=progress)
        else:
            evaluation = far.evaluate(predict, solve, progress=progress)
    if figure is not None:
        _draw(evaluation, figure)
    if as_json:
        print_json(scores_as_json(evaluation) if far is None else beyond_as_json(far, evaluation))
        return
    if far is None:
        show_scores(f"{checkpoint.name} on {problem or domain or states}", evaluation)
    else:
        show_beyond(f"{checkpoint.name} beyond the splits", far, evaluation)
    if figure is not None:
        print_text(f"figure: {figure}")


def scores_as_json(evaluation: "Evaluation") -> dict[str, Any]:
    """All scores, for `--json`."""
    splits = {
        name: {
            **score.to_json(),
            "known_within_half": evaluation.known_within_half(name),
            "by_v_star": evaluation.by_v_star(name),
            "plan_lengths": list(evaluation.plans[name]),
        }
        for name, score in evaluation.splits.items()
    }
    return {**evaluation.total().to_json(), "splits": splits}


def score_cells(row: Mapping[str, Any]) -> list[Any]:
    """Scores of a split in a table: states, MAE, largest error, greedy steps, solved instances."""
    return [
        row["states"],
        decimal(row["mae"]),
        decimal(row["max_error"], ".2f"),
        ratio(row["greedy_optimal_steps"], row["greedy_steps"]),
        f"{row['solved']}/{row['instances']}" if row["instances"] else "–",
    ]


def show_scores(title: str, evaluation: "Evaluation") -> None:
    """Print all scores as tables."""
    rows = []
    for name, score in evaluation.splits.items():
        *errors, greedy, solved = score_cells(score.to_json())
        known = decimal(evaluation.known_within_half(name), ".2%")
        length = ratio(score.plan_length, score.optimal_length, ".3f")
        rows.append([name, *errors, known, greedy, solved, length])
    columns = ["split", "states", "MAE", "largest", "within ½", "greedy", "solved", "length"]
    caption = (
        "largest: largest error; within ½: share of states with |V − V*| < 0.5 whose V* occurs in training;\n"
        "greedy: share of optimal greedy steps; length: length of greedy plans over optimal length"
    )
    print_table(title, columns, rows, caption)
    errors_by_v = {
        name: {row["v_star"]: row["mae"] for row in evaluation.by_v_star(name)} for name in evaluation.splits
    }
    largest = int(max(v_star for by_v in errors_by_v.values() for v_star in by_v))
    table = [
        [v_star, *(decimal(by_v.get(v_star)) for by_v in errors_by_v.values())]
        for v_star in range(largest + 1)
    ]
    print_table("MAE by V*", ["V*", *errors_by_v], table)


def beyond_as_json(far: "BeyondSplit", evaluation: "Evaluation") -> dict[str, Any]:
    """The scores beyond the splits and the source of the labels, for `--json`."""
    summary = far.data.summary()
    return {
        "class": far.data.provenance["class"],
        "labelled_by": f"@{far.labels}",
        "validated_states": far.validated_states,
        "min_objects": summary["min_objects"],
        "max_objects": summary["max_objects"],
        "max_v": summary["max_v_star"],
        **evaluation.splits["beyond"].to_json(),
        "executed": len(evaluation.plans["beyond"]),
        "instances": summary["instances"],
        "by_v": evaluation.by_v_star("beyond"),
        "plan_lengths": list(evaluation.plans["beyond"]),
    }


def show_beyond(title: str, far: "BeyondSplit", evaluation: "Evaluation") -> None:
    """Print the scores beyond the splits and the source of the labels."""
    scores = beyond_as_json(far, evaluation)
    row = [
        scores["class"],
        interval(scores["min_objects"], scores["max_objects"]),
        *(scores[key] for key in ("instances", "states", "max_v")),
        decimal(scores["mae"]),
        decimal(scores["max_error"], ".2f"),
    ]
    columns = ["class", "objects", "instances", "states", "max V", "MAE", "largest error"]
    if scores["executed"]:
        length = ratio(scores["plan_length"], scores["optimal_length"], ".3f")
        row += [f"{scores['solved']}/{scores['executed']}", length]
        columns += ["solved", "length"]
    print_table(title, columns, [row], far.sentence)


def _labelled_beyond(problem: str, sets: "dict[str, DataSet]") -> "BeyondSplit":
    from distill.evaluation import label_beyond
    from distill.planning import problem_class

    with progress_bar("Labelling beyond") as progress:
        return label_beyond(problem_class(problem), sets, progress=progress)


def _draw(evaluation: "Evaluation", figure: Path) -> None:
    from distill.networks import draw_predictions

    panels = {
        name: (evaluation.v_star[evaluation.split == number], evaluation.value[evaluation.split == number])
        for number, name in enumerate(evaluation.splits)
    }
    draw_predictions(panels, figure)
