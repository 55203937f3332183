"""`distill quotient`: how many objects look the same."""

from typing import Annotated

import typer

from distill.cli.output import Json, print_json, print_table
from distill.cli.source import (
    DomainFile,
    Instances,
    MaxStates,
    Problem,
    SplitName,
    Workers,
    chosen_splits,
    expansion_settings,
    labelled_states,
)
from distill.errors import InputError


def quotient(
    problem: Problem = None,
    domain: DomainFile = None,
    instances: Instances = None,
    split: SplitName = None,
    depth: Annotated[
        int | None, typer.Option(help="The number of layers; until nothing splits any more if left out.")
    ] = None,
    sets: Annotated[bool, typer.Option("--sets", help="Forget how often a message occurs.")] = False,
    joint: Annotated[
        bool, typer.Option("--joint", help="All atoms over one pair of objects form one message.")
    ] = False,
    goal_marking: Annotated[
        bool, typer.Option("--goal-marking", help="Mark goals as achieved or missing.")
    ] = False,
    max_states: MaxStates = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Show how far objects and states compress when those that look the same are one row.

    Two objects share a row at depth d if no relational GNN of d layers, and no formula of modal depth d,
    tells them apart. Everything downstream runs on rows, and nothing is lost.
    """
    from distill.jobs import build_quotient_of
    from distill.symmetry import Options

    if depth is not None and depth < 0:
        raise InputError(f"--depth must be at least 0, not {depth}.")
    splits = chosen_splits(problem, domain, instances, {}, None, split, expansion_settings(max_states))
    sets_by_split = labelled_states(splits, "exact", workers)
    options = Options(sets=sets, joint=joint)
    built = build_quotient_of(sets_by_split, depth, options, goal_marking=goal_marking).quotient
    objects = sum(
        int((data.n_objects[data.state_instance] * data.multiplicity).sum())
        for data in sets_by_split.values()
    )
    states = sum(int(data.multiplicity.sum()) for data in sets_by_split.values())
    rows = [len(layer) for layer in built.layers]
    answer = {
        "states": states,
        "state_rows": len(built.v_star),
        "objects": objects,
        "rows": rows,
        "stable": built.stable,
        "state_compression": states / max(1, len(built.v_star)),
        "object_compression": [objects / max(1, count) for count in rows],
    }
    if as_json:
        print_json(answer)
        return
    table = [
        [f"objects at depth {number}", objects, count, f"{objects / max(1, count):.1f}"]
        for number, count in enumerate(rows)
    ]
    table.append(["states", states, len(built.v_star), f"{answer['state_compression']:.1f}"])
    print_table(
        problem or str(domain),
        ["", "before", "rows", "factor"],
        table,
        "stable: no depth splits more" if built.stable else "not stable: a greater --depth may split more",
    )
