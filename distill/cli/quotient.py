"""`distill quotient`: the number of equivalence classes of objects and states."""

from typing import Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table


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
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Show the size of the quotient, in which equivalent objects and equivalent states share a row.

    Two objects share a row at depth d if no relational GNN with d layers, and no formula of modal depth d,
    distinguishes them. All later computations use rows; their results are the same as on all objects.
    """
    from distill.structures import Options
    from distill.symmetry import build_quotient_of

    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states, states=states)
    sets_by_split = options.labelled_states(splits, "exact", workers)
    encoding = Options(sets=sets, joint=joint)
    built = build_quotient_of(sets_by_split, depth, encoding, goal_marking=goal_marking).quotient
    objects = sum(
        int((data.n_objects[data.state_instance] * data.multiplicity).sum())
        for data in sets_by_split.values()
    )
    n_states = sum(int(data.multiplicity.sum()) for data in sets_by_split.values())
    rows = [len(layer) for layer in built.layers]
    answer = {
        "states": n_states,
        "state_rows": built.n_state_rows,
        "objects": objects,
        "rows": rows,
        "stable": built.stable,
        "state_compression": n_states / max(1, built.n_state_rows),
        "object_compression": [objects / max(1, count) for count in rows],
    }
    if as_json:
        print_json(answer)
        return
    table = [
        [f"objects at depth {number}", objects, count, f"{objects / max(1, count):.1f}"]
        for number, count in enumerate(rows)
    ]
    table.append(["states", states, built.n_state_rows, f"{answer['state_compression']:.1f}"])
    print_table(
        problem or str(domain),
        ["", "before", "rows", "factor"],
        table,
        "stable: a greater depth gives the same rows"
        if built.stable
        else "not stable: a greater --depth may give more rows",
    )
