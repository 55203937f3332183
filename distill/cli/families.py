"""`distill families`: features of a run that iterate one formula, and their closed forms."""

from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text

if TYPE_CHECKING:
    from distill.runs import ClosedRun


def families(
    run: options.RunName,
    store: options.StoreFolder = options.RUNS,
    equal_on: Annotated[
        str,
        typer.Option(
            help="The states on which a closed form must equal its family: all states of the run, or the "
            "training states only.",
            metavar="all|train",
        ),
    ] = "all",
    as_json: Json = False,
) -> None:
    """Find features that iterate one formula with weights on a line, and write them in closed form.

    A family ends with the longest chain of the training states; its closed form continues. The errors before
    and after the replacement show whether the continuation is right. The run is not changed.

    Example: `distill families artifacts/runs/visitall-visitall-…`.
    """
    from distill.runs import Store, close_run

    answer = close_run(Store(store).find(run), equal_on=equal_on)
    if as_json:
        print_json(answer.to_json())
        return
    _show(answer)


def _show(closed: "ClosedRun") -> None:
    from distill.explanations import abbreviate
    from distill.runs import value_text

    for number, (one, errors) in enumerate(zip(closed.closings, closed.if_replaced, strict=True), 1):
        family = one.family
        lines = [
            f"{number}. {family.notation}",
            f"   = {abbreviate(family.closed)}",
            f"   {family.label}; {family.size} symbols become {family.closed.size}",
        ]
        for name, check in one.checks.items():
            lines.append(
                f"   {name}: {check.states} states; {check.differing} differ within the family; "
                f"{check.beyond} are beyond it, {check.changed} of them change"
            )
        means = ", ".join(f"{error:.4f} on {name}" for name, error in errors.items())
        lines.append(f"   mean error with the closed form: {means}")
        lines.append("   replaced" if one.replaced else f"   not replaced: {one.refused}")
        print_text("\n".join(lines))
    rows = [
        [
            name,
            one.states,
            f"{one.before:.4f}",
            f"{one.after:.4f}",
            f"{one.largest_before:.2f}",
            f"{one.largest_after:.2f}",
        ]
        for name, one in closed.errors.items()
    ]
    columns = ["split", "states", "MAE before", "after", "largest before", "after"]
    sizes = f"size before {closed.before.size}, after {closed.after.size}"
    print_table(f"{closed.run}: errors against V*", columns, rows, sizes)
    print_text(value_text(closed.after))
    print_text(closed.sentence)
