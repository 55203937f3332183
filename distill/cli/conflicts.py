"""`distill conflicts`: what colourings, and so networks, cannot tell apart."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli.output import Json, console, print_json, print_table, progress_bar
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
from distill.figures import check_format

if TYPE_CHECKING:
    from distill.jobs import Analysis, Example


def conflicts(
    problem: Problem = None,
    domain: DomainFile = None,
    instances: Instances = None,
    split: SplitName = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw an example pair of states into this file (.png, .svg, .pdf).")
    ] = None,
    max_states: MaxStates = None,
    workers: Workers = None,
    as_json: Json = False,
) -> None:
    """Count isomorphism classes and the pairs of them that 1-WL and 2-FWL confuse.

    An E-conflict is a pair of non-isomorphic states of one instance with the same colours; a V-conflict is
    one whose V\\* differ, so that no network of that power can represent V\\*. Both are counted on classes,
    as in Table 1 of Drexler et al. 2024; +G marks goals as achieved or missing.
    """
    from distill.jobs import analyse, examples
    from distill.planning import join

    if figure is not None:
        check_format(figure)
    splits = chosen_splits(problem, domain, instances, {}, None, split, expansion_settings(max_states))
    data = join(labelled_states(splits, "none", workers).values())
    with progress_bar("Classifying states") as progress:
        analysis = analyse(data, progress)
    found = examples(analysis)
    if as_json:
        print_json({**analysis.summary(), "examples": [example.to_json() for example in found]})
    else:
        _show(problem or str(domain), analysis)
        for example in found:
            _show_example(example)
    if figure is not None:
        if found:
            from distill.planning.figures import draw_states

            draw_states(data, found[-1].states, figure)
        else:
            console().print("There is no conflict to draw.")


def _show(title: str, analysis: "Analysis") -> None:
    counts = analysis.summary()
    by_variant = counts.pop("conflicts_E_V")
    print_table(title, ["", ""], [[name.replace("_", " "), value] for name, value in counts.items()])
    plain = [name for name in by_variant if not name.endswith("+G")]
    rows = [[name, *by_variant[name], *by_variant[f"{name}+G"]] for name in plain]
    print_table("Conflicts", ["colouring", "#E", "#V", "#E with +G", "#V with +G"], rows)


def _show_example(example: "Example") -> None:
    values = [("∞" if value < 0 else str(value)) for value in example.v_star]
    print_table(
        f"{example.variant} confuses two states of {example.instance} ({example.kind}-conflict)",
        [f"V* = {values[0]}", f"V* = {values[1]}"],
        example.side_by_side(),
        example.explanation(),
    )
