"""`distill faithfulness`: how much of a network the formulas of a run explain."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli.output import Json, console, print_json, print_table, progress_bar
from distill.cli.runs import RUNS, RunName, StoreFolder

if TYPE_CHECKING:
    from distill.jobs.faithfulness import Faithfulness


def faithfulness(
    run: RunName,
    store: StoreFolder = RUNS,
    states: Annotated[int, typer.Option(help="Training states whose objects are looked at.", min=1)] = 500,
    draws: Annotated[
        int, typer.Option(help="Untrained networks and random sets to compare with.", min=1)
    ] = 3,
    seed: Annotated[int, typer.Option(help="Of the states, the networks and the sets.")] = 0,
    figure: Annotated[
        Path | None, typer.Option(help="Draw what is explained of each layer into this file (svg, png, pdf).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Tell how much of a network the formulas of a run explain: its values, its choices, its layers.

    What sets of objects explain of a layer stands beside the same on untrained networks, and beside random
    sets of the same sizes: what these reach too is no evidence. Where network and formulas disagree, V* is
    the judge.

    Example: `distill faithfulness artifacts/runs/gripper-gripper-… --figure layers.svg`.
    """
    from distill.figures import check_format
    from distill.jobs import Store
    from distill.jobs.faithfulness import faithfulness as compare

    if figure is not None:
        check_format(figure)
    found = Store(store).find(run)
    with progress_bar("Layers") as progress:
        answer = compare(found, states=states, draws=draws, seed=seed, progress=progress)
    if figure is not None:
        answer.draw(figure)
    if as_json:
        print_json(answer.to_json())
        return
    _show(answer)


def _show(found: "Faithfulness") -> None:
    rows = [
        [
            name,
            one.states,
            f"{one.mae:.4f}",
            "–" if one.share is None else f"{one.share:.4f}",
            f"{one.within_half:.2%}",
            f"{one.choices.meet / one.choices.states:.2%}" if one.choices.states else "–",
            f"{one.choices.same / one.choices.states:.2%}" if one.choices.states else "–",
        ]
        for name, one in found.splits.items()
    ]
    columns = ["split", "states", "MAE", "R²", "within 0.5", "choices meet", "the same"]
    caption = "choices: successors of least value; they meet where one is a best one for both"
    print_table(f"{found.run}: formulas and network", columns, rows, caption)
    layers = sorted({one.layer for one in found.layers})
    shares = {(one.layer, one.basis): one for one in found.layers}
    bases = list(dict.fromkeys(one.basis for one in found.layers))
    table = [[layer, *(_cell(shares[layer, basis]) for basis in bases)] for layer in layers]
    names = {"layer": "leaf sets of the layer", "so far": "leaf sets so far", "in V": "formulas in V"}
    caption = "sets: R² (on untrained networks, with random sets); –: none, or too many for the rows"
    print_table("What they explain of the embeddings", ["layer", *(names[b] for b in bases)], table, caption)
    disputes = [[one.what, one.compared, one.disagreements, *one.counts.values()] for one in found.disputes]
    print_table(
        "Where they disagree, who is right by V*",
        ["about", "compared", "disagree", *found.disputes[0].counts],
        disputes,
    )
    examples = [
        [
            dispute.what,
            one.verdict,
            one.split,
            one.state,
            one.instance,
            one.v_star,
            f"{one.network:.2f}",
            f"{one.formulas:.2f}",
        ]
        for dispute in found.disputes
        for one in dispute.examples
    ]
    if examples:
        columns = ["about", "verdict", "split", "state", "instance", "V*", "network", "formulas"]
        print_table("Examples", columns, examples, "--json tells what holds in them")
    console().print(found.sentence, highlight=False, markup=False, soft_wrap=True)


def _cell(one: object) -> str:
    from distill.jobs.explained import Shares

    if not isinstance(one, Shares):
        return "–"
    return f"{one.columns}: {_share(one.trained)} ({_share(one.untrained)}, {_share(one.random)})"


def _share(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"
