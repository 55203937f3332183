"""The output of `distill conflicts`: tables for people, CSV, LaTeX and JSON."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from distill.cli.output import print_json, print_table, print_text

if TYPE_CHECKING:
    from distill.evaluation import DomainCounts, PublishedCounts, SuiteDomain
    from distill.symmetry import Example, Expressivity

_MULTISETS = ("1-WL", "2-FWL", "1-WL+G", "2-FWL+G")
_SETS = ("1-WL set", "2-FWL set", "1-WL set+G", "2-FWL set+G")
_PAPER, _OURS = "paper", "ours"


def show_problem(title: str, expressivity: "Expressivity", examples: "Sequence[Example]") -> None:
    """Print the counts of one problem, and pairs of states as examples."""
    counts = expressivity.summary()
    by_variant = counts.pop("conflicts_E_V")
    print_table(title, ["", ""], [[name.replace("_", " "), value] for name, value in counts.items()])
    plain = [name for name in by_variant if not name.endswith("+G")]
    rows = [[name, *by_variant[name], *by_variant[f"{name}+G"]] for name in plain]
    print_table("Conflicts", ["colouring", "#E", "#V", "#E with +G", "#V with +G"], rows)
    for example in examples:
        values = [("∞" if value < 0 else str(value)) for value in example.v_star]
        print_table(
            f"{example.variant} confuses two states of {example.instance} ({example.kind}-conflict)",
            [f"V* = {values[0]}", f"V* = {values[1]}"],
            example.side_by_side(),
            example.explanation(),
        )


def show_random_networks(found: dict[str, dict[str, Any]]) -> None:
    """Print the pairs that untrained networks do not distinguish, for each problem or domain."""
    first = next(iter(found.values()))
    print_table(
        f"{first['networks']} untrained networks of {first['layers']} layers",
        ["", "networks #E", "#V", "1-WL #E", "#V", "same pairs"],
        [
            [name, *one["networks_E_V"], *one["1-WL_E_V"], "yes" if one["agree"] else "no"]
            for name, one in found.items()
        ],
        "pairs of states with the same value in each network, and with the same colours after as many rounds "
        "of 1-WL from equal colours",
        names=True,
    )


def print_suite_json(domains: "Sequence[SuiteDomain]") -> None:
    """Print published and own counts as JSON."""
    from distill.evaluation import published_conflicts

    tables = published_conflicts()
    answer = [
        {
            "domain": row.published.name if row.published else None,
            "folder": row.domain.name if row.domain else None,
            "published": _published_json(row.published),
            "ours": row.domain.counts.model_dump() if row.domain and row.domain.counts else None,
            "differences": row.domain.differences() if row.domain else [],
            "error": row.domain.fault if row.domain else "",
        }
        for row in _blocks(domains)
    ]
    print_json({"source": tables.source, "instances": tables.instances, "domains": answer})


def print_suite_csv(domains: "Sequence[SuiteDomain]") -> None:
    """Print a line for each domain of the paper and for each analysed folder, as CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    pairs = [f"{name} #{kind}" for name in (*_MULTISETS, *_SETS) for kind in "EV"]
    writer.writerow(
        ["domain", "from", "instances", "states", "classes", *pairs, "training states", "training classes"]
    )
    for row in _rows(domains):
        cells = [cell for name in (*_MULTISETS, *_SETS) for cell in row.conflicts[name]]
        writer.writerow([row.name, row.source, *row.sizes, *cells, *row.training])
    typer.echo(stream.getvalue(), nl=False)


def print_suite_latex(domains: "Sequence[SuiteDomain]") -> None:
    """Print Tables 1 and 2 as LaTeX."""
    rows = list(_rows(domains))
    names = (*_MULTISETS, *_SETS)
    kinds = " & ".join([r"\#E & \#V"] * len(names))
    heads = [rf"\multicolumn{{2}}{{c}}{{{name.removesuffix('+G').replace(' set', '')}" for name in names]
    heads = [
        f"{head}{' + G' if name.endswith('+G') else ''}}}" for head, name in zip(heads, names, strict=True)
    ]
    first = [
        rf"\begin{{tabular}}{{ll*{{{3 + 2 * len(names)}}}{{r}}}}",
        r" & & & & & \multicolumn{8}{c}{Multisets} & \multicolumn{8}{c}{Standard sets} \\",
        rf" & & & & & {' & '.join(heads)} \\",
        rf"Domain & & \#$Q$ & \#$S$ & \#$S/{{\sim}}$ & {kinds} \\",
        r"\hline",
        *(
            _latex_line(
                [row.name, row.source, *row.sizes, *(n for name in names for n in row.conflicts[name])]
            )
            for row in rows
        ),
        r"\end{tabular}",
    ]
    second = [
        r"\begin{tabular}{llrrr}",
        r"Domain & & \#$Q_T$ & \#$Q_T/{\sim}$ & Factor \\",
        r"\hline",
        *(
            _latex_line([row.name, row.source, *row.training, _factor(row)])
            for row in rows
            if row.training[0]
        ),
        r"\end{tabular}",
    ]
    typer.echo("\n".join([*first, "", *second]))


def show_suite(domains: "Sequence[SuiteDomain]") -> None:
    """Print Tables 1 and 2, with the published figures of all domains beside ours."""
    from distill.evaluation import published_conflicts

    tables = published_conflicts()
    rows = list(_rows(domains))
    print_table(
        "Table 1: instances, states and classes of isomorphic states",
        ["domain", "", "instances", "states", "classes"],
        [[row.name, row.source, *row.sizes] for row in rows],
        "classes are counted for each instance and summed; K: thousands, M: millions",
        names=True,
    )
    for title, names in (("multisets of colours", _MULTISETS), ("sets of colours", _SETS)):
        print_table(
            f"Table 1: E- and V-conflicts with {title}",
            ["domain", "", *(name.replace(" set", "") for name in names)],
            [
                [row.name, row.source, *(" ".join(map(str, row.conflicts[name])) for name in names)]
                for row in rows
            ],
            names=True,
        )
    print_table(
        "Table 2: states for training without and with reduction",
        ["domain", "", "states", "classes", "factor"],
        [[row.name, row.source, *row.training, _factor(row)] for row in rows if row.training[0]],
        "solvable instances of at most 10 000 states, of which not all are goals; classes are counted across "
        "instances",
        names=True,
    )
    compared = {
        one.name: one.counts.random_networks for one in domains if one.counts and one.counts.random_networks
    }
    if compared:
        show_random_networks(compared)
    _show_agreement(domains)
    for domain in tables.domains:
        for correction in domain.corrections():
            print_text(f"{correction}.")
    print_text(f"The paper: {tables.source}. Its instances: {tables.instances}")


def _show_agreement(domains: "Sequence[SuiteDomain]") -> None:
    done = [one for one in domains if one.counts]
    known = [one for one in done if one.published]
    different = [one for one in known if one.differences()]
    print_text(f"{len(known) - len(different)} of {len(done)} analysed folders have the published figures.")
    for one in different:
        print_text(f"{one.name} differs from {one.published.name if one.published else ''}:")
        for difference in one.differences():
            print_text(f"  {difference}")
    for one in done:
        if not one.published:
            print_text(f"{one.name}: the paper has no domain of this name.")


@dataclass(frozen=True)
class _Row:
    """A line of the tables; numbers are empty texts where there are none."""

    name: str
    source: str
    sizes: tuple[int | str, ...]
    conflicts: "dict[str, Sequence[int]]"
    training: tuple[int | str, ...]


@dataclass(frozen=True)
class _Block:
    """A domain of the paper with one of our folders; either may be missing."""

    published: "PublishedCounts | None"
    domain: "SuiteDomain | None"


def _blocks(domains: "Sequence[SuiteDomain]") -> "Iterator[_Block]":
    """The domains of the paper, in its order, with our folders; then our other folders."""
    from distill.evaluation import published_conflicts

    for published in published_conflicts().domains:
        mine = [one for one in domains if one.published is published]
        if not mine:
            yield _Block(published, None)
        for one in mine:
            yield _Block(published, one)
    for one in domains:
        if one.published is None:
            yield _Block(None, one)


def _rows(domains: "Sequence[SuiteDomain]") -> Iterator[_Row]:
    before = None
    for block in _blocks(domains):
        if block.published is not None and block.published is not before:
            yield _published_row(block.published)
        before = block.published
        if block.domain is not None and block.domain.counts is not None:
            yield _own_row(block.domain.name, block.domain.counts)


def _published_row(one: "PublishedCounts") -> _Row:
    training = (one.training_states or "", one.training_classes or "")
    return _Row(one.name, _PAPER, (one.instances, one.states, one.classes), dict(one.conflicts), training)


def _own_row(name: str, counts: "DomainCounts") -> _Row:
    sizes = (counts.instances, counts.states, counts.classes_summed_over_instances)
    training = (counts.training_states, counts.training_classes)
    return _Row(name, _OURS, sizes, dict(counts.conflicts_E_V), training)


def _factor(row: _Row) -> str:
    states, classes = row.training
    return (
        f"{states / classes:.2f}" if isinstance(states, int) and isinstance(classes, int) and classes else ""
    )


def _latex_line(cells: Sequence[int | str]) -> str:
    escaped = (str(cell).replace("_", r"\_") for cell in cells)
    return rf"{' & '.join(escaped)} \\"


def _published_json(one: "PublishedCounts | None") -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "instances": one.instances,
        "states": one.states,
        "classes": one.classes,
        "conflicts_E_V": one.conflicts,
        "corrected_E_V": one.corrected,
        "training_states": one.training_states,
        "training_classes": one.training_classes,
    }
