"""`distill quotient`: equivalence classes of objects and states, and the abstract state model."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table
from distill.common import InputError, check_format, did_you_mean

if TYPE_CHECKING:
    from distill.planning import Split
    from distill.structures import DataSet, Options
    from distill.symmetry import StateModel

_MOST_CLASSES = 40  # in a table
_MODEL = "Abstract state model"


def quotient(
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = None,
    depth: Annotated[
        int | None,
        options.count_option("The number of layers; by default, until the classes are stable.", least=0),
    ] = None,
    sets: Annotated[bool, typer.Option("--sets", help="Ignore how often a message occurs.")] = False,
    joint: Annotated[
        bool, typer.Option("--joint", help="All atoms over one pair of objects form one message.")
    ] = False,
    goal_marking: Annotated[
        bool, typer.Option("--goal-marking", help="Mark goals as achieved or missing.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="INSTANCE",
            help="Show the classes of isomorphic states of one instance, and the transitions between them: "
            "the name of an instance of the problem, or with --domain a PDDL file.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option(
            help="Draw this model into this file (.png, .svg, .pdf).",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Show the size of the quotient, in which equivalent objects and equivalent states share a row.

    Two objects share a row at depth d if no relational GNN with d layers, and no formula of modal depth d,
    distinguishes them. All later computations use rows; their results are the same as on all objects.

    With --model, show the abstract state model of an instance (Drexler et al. 2024, Definition 1).

    Examples: `distill quotient gripper`,
    `distill quotient gripper --model gripper-train-001 --figure model.svg`.
    """
    if model is not None:
        if depth is not None or sets or joint or goal_marking or states:
            raise InputError(
                "--model compares all atoms of states; leave --depth, --sets, --joint, --goal-marking and "
                "--states out."
            )
        check_format(figure)
        chosen = _with_instance(model, problem, domain, instances, split, max_states)
        _show_model(chosen, workers, figure, as_json)
        return
    if figure is not None:
        raise InputError("--figure draws the model of an instance; give --model INSTANCE as well.")
    from distill.structures import Options

    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states, states=states)
    sets_by_split = options.labelled_states(splits, "exact", workers)
    encoding = Options(sets=sets, joint=joint)
    answer = _sizes(sets_by_split, depth, encoding, goal_marking)
    if as_json:
        print_json(answer)
    else:
        _show_sizes(problem or str(domain), answer)


def _sizes(
    sets_by_split: "dict[str, DataSet]", depth: int | None, encoding: "Options", goal_marking: bool
) -> dict[str, Any]:
    """The numbers of states and objects, and of their rows."""
    from distill.symmetry import build_quotient_of

    built = build_quotient_of(sets_by_split, depth, encoding, goal_marking=goal_marking).quotient
    objects = sum(
        int((data.n_objects[data.state_instance] * data.multiplicity).sum())
        for data in sets_by_split.values()
    )
    n_states = sum(int(data.multiplicity.sum()) for data in sets_by_split.values())
    rows = [len(layer) for layer in built.layers]
    return {
        "states": n_states,
        "state_rows": built.n_state_rows,
        "objects": objects,
        "rows": rows,
        "stable": built.stable,
        "state_compression": n_states / max(1, built.n_state_rows),
        "object_compression": [objects / max(1, count) for count in rows],
    }


def _show_sizes(title: str, answer: dict[str, Any]) -> None:
    table = [
        [f"objects at depth {number}", answer["objects"], count, f"{factor:.1f}"]
        for number, (count, factor) in enumerate(
            zip(answer["rows"], answer["object_compression"], strict=True)
        )
    ]
    states = [answer["states"], answer["state_rows"], f"{answer['state_compression']:.1f}"]
    print_table(
        title,
        ["", "before", "rows", "factor"],
        [*table, ["states", *states]],
        "stable: a greater depth gives the same rows"
        if answer["stable"]
        else "not stable: a greater --depth may give more rows",
    )


def _with_instance(
    name: str,
    problem: str | None,
    domain: Path | None,
    instances: Path | None,
    split: str | None,
    max_states: int | None,
) -> "Split":
    """A split with one instance, given by its name in a problem or by its file."""
    if domain is not None and instances is None and problem is None:
        [one] = options.chosen_splits(None, domain, None, split, max_states=max_states, instance=Path(name))
        return one
    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states)
    by_name = {one.name: (part, one) for part in splits for one in part.instances}
    if name not in by_name:
        raise InputError(f"There is no instance {name}; {did_you_mean(name, by_name)}")
    part, found = by_name[name]
    return replace(part, instances=[found])


def _show_model(split: "Split", workers: int | None, figure: Path | None, as_json: bool) -> None:
    from distill.planning import transitions
    from distill.symmetry import StateModel, check_drawable, draw_state_model

    [data] = options.labelled_states([split], "none", workers).values()
    model = StateModel.of(data, transitions(data, split.instances))
    if figure is not None:
        check_drawable(model)
        draw_state_model(model, figure)
    if as_json:
        print_json(model.to_json())
    else:
        _print_model(model)


def _print_model(model: "StateModel") -> None:
    sizes = model.sizes().tolist()
    rows = [
        [
            node,
            sizes[node],
            "∞" if v_star < 0 else v_star,
            ", ".join(
                f"{model.transitions[number, 1]} ({', '.join(model.schemas[number])})"
                for number in model.after(node)
            ),
        ]
        for node, v_star in enumerate(model.v_star[:_MOST_CLASSES].tolist())
    ]
    more = (
        f"; the first {_MOST_CLASSES} classes are shown, --json has all" if len(model) > _MOST_CLASSES else ""
    )
    print_table(
        f"{model.instance}: {len(model.state)} states in {len(model)} classes of isomorphic states",
        ["class", "states", "V*", "transitions to"],
        rows,
        f"{len(model.transitions)} transitions; class 0 has the initial state{more}",
    )
