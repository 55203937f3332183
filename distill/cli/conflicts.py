"""`distill conflicts`: states that colourings, and thus networks, cannot distinguish."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text, progress_bar
from distill.common import check_format

if TYPE_CHECKING:
    from distill.symmetry import Example, Expressivity


def conflicts(
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = None,
    figure: Annotated[Path | None, options.figure_option("a pair of states as an example")] = None,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Count isomorphism classes and the pairs of classes that 1-WL and 2-FWL do not distinguish.

    An E-conflict is a pair of non-isomorphic states of one instance with the same colours. A V-conflict is an
    E-conflict with different V\\*, so that no network of that expressivity represents V\\*. Both are counted
    on classes, as in Table 1 of Drexler et al. 2024. +G marks goals as achieved or missing.
    """
    from distill.structures import join
    from distill.symmetry import Expressivity, examples

    check_format(figure)
    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states, states=states)
    data = join(options.labelled_states(splits, "none", workers).values())
    with progress_bar("Classifying states") as progress:
        expressivity = Expressivity.of(data, progress)
    found = examples(expressivity)
    if as_json:
        print_json({**expressivity.summary(), "examples": [example.to_json() for example in found]})
    else:
        _show(problem or str(domain), expressivity)
        for example in found:
            _show_example(example)
    if figure is not None:
        if found:
            from distill.planning import draw_states

            draw_states(data, found[-1].states, figure)
        else:
            print_text("There is no conflict to draw.")


def _show(title: str, expressivity: "Expressivity") -> None:
    counts = expressivity.summary()
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
