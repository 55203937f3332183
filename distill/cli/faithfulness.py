"""`distill faithfulness`: compare the formulas of a run with its network."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from distill.cli import options
from distill.cli.output import Json, decimal, print_json, print_table, print_text, progress_bar, ratio

if TYPE_CHECKING:
    from distill.runs import Faithfulness


def faithfulness(
    run: options.RunName,
    store: options.StoreFolder = options.RUNS,
    states: Annotated[int, options.count_option("Number of training states for the layers.")] = 500,
    draws: Annotated[
        int, options.count_option("Number of untrained networks and of random sets, as controls.", most=1000)
    ] = 3,
    seed: Annotated[int, options.seed_option("The random seed of states, networks and sets.")] = 0,
    figure: Annotated[Path | None, options.figure_option("R² by layer")] = None,
    as_json: Json = False,
) -> None:
    """Report how much of a network the formulas of a run explain: its values, greedy choices and layers.

    R² of a layer is reported with two controls: the same sets of objects on untrained networks, and random
    sets of the same sizes. An R² that a control also reaches is no evidence. Where network and formulas
    disagree, V* decides which of them is right.

    Example: `distill faithfulness artifacts/runs/gripper-gripper-… --figure layers.svg`.
    """
    from distill.common import check_format
    from distill.runs import Store, measure_faithfulness

    check_format(figure)
    source = Store(store).find(run)
    with progress_bar("Layers") as progress:
        answer = measure_faithfulness(source, states=states, draws=draws, seed=seed, progress=progress)
    if figure is not None:
        answer.draw(figure)
    if as_json:
        print_json(answer.to_json())
        return
    _show(answer)


def _show(comparison: "Faithfulness") -> None:
    rows = [
        [
            name,
            one.states,
            decimal(one.mae),
            decimal(one.share),
            f"{one.within_half:.2%}",
            ratio(one.choices.meet, one.choices.states),
            ratio(one.choices.same, one.choices.states),
        ]
        for name, one in comparison.splits.items()
    ]
    columns = ["split", "states", "MAE", "R²", "within 0.5", "choices meet", "the same"]
    caption = "choices: successors of least value; they meet if one successor is greedy for both"
    print_table(f"{comparison.run}: formulas and network", columns, rows, caption)
    layers = sorted({one.layer for one in comparison.layers})
    shares = {(one.layer, one.basis): one for one in comparison.layers}
    bases = list(dict.fromkeys(one.basis for one in comparison.layers))
    table = [[layer, *(_cell(shares[layer, basis]) for basis in bases)] for layer in layers]
    names = {"layer": "leaf sets of the layer", "so far": "leaf sets so far", "in V": "formulas in V"}
    caption = "number of sets: R² (on untrained networks, with random sets); –: no sets, or more than rows"
    print_table("R² of the embeddings", ["layer", *(names[b] for b in bases)], table, caption)
    disputes = [
        [one.what, one.compared, one.disagreements, *one.counts.values()] for one in comparison.disputes
    ]
    print_table(
        "Disagreements, decided by V*",
        ["about", "compared", "disagree", *comparison.disputes[0].counts],
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
        for dispute in comparison.disputes
        for one in dispute.examples
    ]
    if examples:
        columns = ["about", "verdict", "split", "state", "instance", "V*", "network", "formulas"]
        print_table("Examples", columns, examples, "--json lists the atoms of these states")
    print_text(comparison.sentence)


def _cell(one: object) -> str:
    from distill.evaluation import LayerR2

    if not isinstance(one, LayerR2):
        return "–"
    trained, untrained, random = (decimal(share, ".2f") for share in (one.trained, one.untrained, one.random))
    return f"{one.columns}: {trained} ({untrained}, {random})"
