"""`distill families`: features of a run that are one formula iterated, and their closed form."""

from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli.output import Json, console, print_json, print_table
from distill.cli.runs import RUNS, RunName, StoreFolder

if TYPE_CHECKING:
    from distill.jobs.families import ClosedRun


def families(
    run: RunName,
    store: StoreFolder = RUNS,
    equal_on: Annotated[
        str,
        typer.Option(
            help="Where a closed form must equal its family, as far as that goes: on all states of the run, "
            "or on those of train alone.",
            metavar="all|train",
        ),
    ] = "all",
    as_json: Json = False,
) -> None:
    """Find features that are one formula iterated, with weights on a line, and say them in closed form.

    A closed form goes on where the family ends with the longest chain seen in training; the errors before and
    after tell whether that is right. The run itself stays as it is.

    Example: `distill families artifacts/runs/visitall-visitall-…`.
    """
    from distill.jobs import Store
    from distill.jobs.families import close_run

    answer = close_run(Store(store).find(run), equal_on=equal_on)
    if as_json:
        print_json(answer.to_json())
        return
    _show(answer)


def _show(found: "ClosedRun") -> None:
    from distill.jobs.families import written
    from distill.regression.family import shown

    for number, (one, errors) in enumerate(zip(found.closings, found.if_replaced, strict=True), 1):
        family = one.family
        lines = [
            f"{number}. {family.notation}",
            f"   = {shown(family.closed)}",
            f"   {family.label}; {family.size} symbols become {family.closed.size}",
        ]
        for name, check in one.checks.items():
            lines.append(
                f"   {name}: {check.states} states; {check.differing} differ though it has not ended; "
                f"{check.beyond} go beyond, {check.changed} of them change"
            )
        told = ", ".join(f"{error:.4f} on {name}" for name, error in errors.items())
        lines.append(f"   mean error with it: {told}")
        lines.append("   replaced" if one.replaced else f"   not replaced: {one.refused}")
        console().print("\n".join(lines), highlight=False, markup=False, soft_wrap=True)
    rows = [
        [
            name,
            one.states,
            f"{one.before:.4f}",
            f"{one.after:.4f}",
            f"{one.largest_before:.2f}",
            f"{one.largest_after:.2f}",
        ]
        for name, one in found.errors.items()
    ]
    columns = ["split", "states", "MAE before", "after", "largest before", "after"]
    sizes = f"size before {found.before.size}, after {found.after.size}"
    print_table(f"{found.run}: errors against V*", columns, rows, sizes)
    console().print(written(found.after), highlight=False, markup=False, soft_wrap=True)
    console().print(found.sentence, highlight=False, markup=False, soft_wrap=True)
