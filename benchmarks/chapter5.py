"""Chapter 5 of the thesis: Tables 5.1-5.6 and Figures 5.1-5.12, from the runs of its sweep.

`make thesis` makes the runs and calls this script. It prints the tables and writes them with the figures into
a folder. Errors are mean absolute errors, and all seeds are listed. The figures show the seed with the least
error on train, then on validation; those of the bad R-IDT of Gripper show the seed with the largest. For
each model, `trees-MODEL.html` shows the first tree of each layer, the first tree about states, and their leaf
sets. A concept is written as `layer.tree{leaves}`, since its formula may have millions of symbols.

The published figures are about other instances of the same classes, and other networks.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from published import NETWORK_ERRORS, RIDT_ERRORS, SPLITS, STATES
from thesis_data import beyond_training

from app.drawings.decision_tree import Labels, draw_dendrogram, draw_tree
from app.drawings.svg import to_svg
from distill.jobs import JobBatch, Sweep
from distill.logic import Compare, Count, Modal, Node
from distill.networks import draw_predictions
from distill.runs import Run, cut, draw_weights, stored_trees

SWEEPS = Path(__file__).parents[1] / "configs" / "sweeps"
SWEEP = SWEEPS / "chapter5.yaml"
READABLE = SWEEPS / "chapter5-readable.yaml"
RUNS = Path("artifacts/runs/thesis")
TABLES = {
    "5.2": ("Gripper", ["gripper"]),
    "5.3": ("Miconic", ["miconic-a", "miconic-b"]),
    "5.4": ("Blocks-Clear", ["blocks-clear-a", "blocks-clear-b"]),
    "5.5": ("Blocks-On", ["blocks-on"]),
    "5.6": ("Visitall", ["visitall-a", "visitall-b"]),
}
BAD = "gripper, bad"
NETWORK = "network"
WEIGHTS = {
    "5.1": ["gripper", BAD],
    "5.5": ["miconic-a", "miconic-b"],
    "5.9": ["blocks-clear-a", "blocks-clear-b"],
}
"""For each figure of weights the models that it shows."""
PREDICTIONS = {
    "5.2": [("gripper", NETWORK), ("gripper", "value"), (BAD, "value")],
    "5.3": [("miconic-a", NETWORK), ("miconic-b", NETWORK)],
    "5.4": [("miconic-a", "value"), ("miconic-b", "value")],
    "5.6": [("blocks-clear-a", NETWORK)],
    "5.7": [("blocks-clear-a", "value")],
    "5.8": [("blocks-clear-b", "value")],
    "5.10": [("visitall-a", NETWORK)],
    "5.11": [("visitall-a", "value")],
    "5.12": [("visitall-b", "value")],
}
"""For each figure of predictions the models that it shows, and whose values."""
_CAPTION = "<p>Numbers are weights of objects or states in the sample. Each colour is a leaf set.</p>"
_COLOURED = 6  # leaf sets of a tree
FACTOR = 1.5  # of a published test error that the best seed should not exceed


@dataclass(frozen=True, eq=False)
class Model:
    """The runs of a model, one for each seed.

    Attributes
    ----------
    runs : the finished runs by seed.
    planned : the number of seeds of the sweep.
    """

    name: str
    runs: Mapping[int, Run]
    planned: int

    def errors(self, seed: int) -> list[float]:
        """The mean absolute error of a seed on each split."""
        return [self.runs[seed].metrics["splits"][split]["mae"] for split in SPLITS]

    @property
    def network_errors(self) -> list[float]:
        """The mean absolute error of its network on each split."""
        known = next(iter(self.runs.values())).metrics["fidelity"]["network_errors"]
        return [known[split] for split in SPLITS]

    def row(self, seed: int) -> dict[str, Any]:
        """The results of a seed."""
        run = self.runs[seed]
        return {
            "seed": seed,
            "ours": self.errors(seed),
            "weights": len(run.value_function.terms()),
            "whole": bool(run.metrics["integer_weights"]),
            "constant": run.value_function.constant,
            "state_features": len(run.value_function.pool),
            "size": run.metrics["formula_size"],
        }

    @property
    def best(self) -> int:
        """The seed with the least error on train, then on validation."""
        return min(self.runs, key=lambda seed: [round(one, 6) for one in self.errors(seed)[:2]])

    @property
    def worst(self) -> int:
        """The seed with the largest error on train, then on validation."""
        return max(self.runs, key=lambda seed: [round(one, 6) for one in self.errors(seed)[:2]])


def models_in(store: Path) -> dict[str, Model]:
    """The models of the sweep that have finished runs in a folder."""
    found: dict[str, dict[int, Run]] = {}
    planned: dict[str, int] = {}
    for work in JobBatch(Sweep.read(SWEEP), store).works:
        name, seed = work.job.settings["base"], work.job.settings["distillation.seed"]
        planned[name] = planned.get(name, 0) + 1
        if work.state == "done":
            found.setdefault(name, {})[seed] = Run.load(store / str(work.name))
    return {name: Model(name, runs, planned[name]) for name, runs in found.items()}


def readable_in(store: Path) -> dict[str, Run]:
    """The finished runs of readable mode by the name of their network."""
    works = [work for work in JobBatch(Sweep.read(READABLE), store).works if work.state == "done"]
    return {Path(work.job.config.checkpoint).stem: Run.load(store / str(work.name)) for work in works}


def states_table(models: Mapping[str, Model]) -> list[dict[str, Any]]:
    """Table 5.1: the states of each class, with the published numbers."""
    rows = []
    for name, published in STATES.items():
        own = [model for key, model in models.items() if key.startswith(name)]
        if not own:
            continue
        data = next(iter(own[0].runs.values())).inputs["data"]
        for split, (states, objects, greatest) in zip(SPLITS, published, strict=True):
            summary = data[split]["summary"]
            ours = [
                summary["states"],
                [summary["min_objects"], summary["max_objects"]],
                summary["max_v_star"],
            ]
            rows.append(
                {"class": name, "split": split, "ours": ours, "published": [states, list(objects), greatest]}
            )
    return rows


def errors_table(
    models: Mapping[str, Model], names: Sequence[str], readable: Mapping[str, Run]
) -> list[dict[str, Any]]:
    """Tables 5.2-5.6: the networks, the R-IDT of each seed, and readable mode on the same states."""
    rows = []
    known = set()
    for name in (one for one in names if one in models):
        model = models[name]
        network = name if name in NETWORK_ERRORS else name.rpartition("-")[0]
        if network not in known:
            known.add(network)
            published = list(NETWORK_ERRORS[network])
            rows.append({"model": f"R-GNN {network}", "ours": model.network_errors, "published": published})
            if network in readable:
                own = Model(network, {0: readable[network]}, 1)
                rows.append({"model": f"readable mode {network}", **own.row(0), "published": None})
        published = list(RIDT_ERRORS[name])
        seeds = sorted(model.runs)
        rows += [{"model": f"R-IDT {name}", **model.row(seed), "published": published} for seed in seeds]
        if name == "gripper":
            rows.append({"model": "R-IDT gripper, bad", "ours": None, "published": list(RIDT_ERRORS[BAD])})
    return rows


def targets(models: Mapping[str, Model]) -> list[str]:
    """For each model whether the best seed is as good as the published R-IDT."""
    lines = []
    for name, model in models.items():
        every = [model.errors(seed) for seed in sorted(model.runs)]
        perfect = sum(max(one) < 5e-5 for one in every)
        exact = sum(one[0] < 5e-5 for one in every)
        best, published = min(one[2] for one in every), RIDT_ERRORS[name][2]
        within = "within" if best <= FACTOR * published + 5e-5 else "NOT within"
        lines.append(
            f"{name}: {len(every)} of {model.planned} seeds; perfect on train {exact}, on all splits "
            f"{perfect}; least test error {best:.4f}, {within} {FACTOR} times the published {published:.4f}"
        )
    return lines


def errors_within(model: Model) -> tuple[float, dict[int, float]]:
    """The share of test states beyond the training range, and for each seed the error on the other ones."""
    some = model.runs[model.best]
    sets = {split: some.states(split) for split in ("train", "test")}
    higher, further = beyond_training(sets)["test"]
    within = ~np.logical_or.reduce([higher, *further.values()])
    errors = {}
    for seed, run in sorted(model.runs.items()):
        table = run.predictions()
        own = table[table["split"] == "test"]
        errors[seed] = float(np.abs(own["value"] - own["v_star"]).to_numpy()[within].mean())
    return 1 - float(within.mean()), errors


def written(errors: Sequence[float] | None) -> str:
    """Errors on the three splits."""
    return "–" if errors is None else " / ".join(f"{error:.4f}" for error in errors)


def tables_text(models: Mapping[str, Model], readable: Mapping[str, Run]) -> str:
    """All tables in Markdown."""
    lines = ["# Chapter 5 of the thesis", "", "Table 5.1: states. Each cell: ours (published).", ""]
    lines += ["| class | split | states | objects | greatest V\\* |", "| --- | --- | --- | --- | --- |"]
    for row in states_table(models):
        (states, objects, greatest), (s, o, g) = row["ours"], row["published"]
        between = [f"{low}-{high}" if low < high else f"{low}" for low, high in (objects, o)]
        cells = [f"{states} ({s})", f"{between[0]} ({between[1]})", f"{greatest} ({g})"]
        lines.append(f"| {row['class']} | {row['split']} | {' | '.join(cells)} |")
    for number, (title, names) in TABLES.items():
        lines += ["", f"Table {number}: mean absolute errors on {title}, train / validation / test.", ""]
        lines += ["| model | seed | ours | published | weights | symbols |", f"|{' --- |' * 6}"]
        for row in errors_table(models, names, readable):
            kind = "" if "whole" not in row else "whole" if row["whole"] else "real"
            weights = f"{row['weights']} {kind}, of {row['state_features']} features" if kind else ""
            cells = [row["model"], str(row.get("seed", "")), written(row["ours"]), written(row["published"])]
            size = f"{row['size']:,}" if kind else ""
            lines.append(f"| {' | '.join([*cells, weights, size])} |")
    lines += [
        "",
        *(f"- {line}" for line in targets(models)),
        "",
        "Test states within the training range:",
        "",
    ]
    for name, (share, errors) in ((name, errors_within(model)) for name, model in models.items()):
        if errors and share < 1:
            listed = ", ".join(f"seed {seed} {error:.4f}" for seed, error in errors.items())
            lines.append(f"- {name} ({share:.1%} of the states are beyond): {listed}")
    return "\n".join([*lines, ""])


def draw_figures(models: Mapping[str, Model], folder: Path) -> None:
    """Write Figures 5.1-5.12, and the trees of each model."""
    shown = {name: (model, model.best) for name, model in models.items()}
    if "gripper" in models:
        shown[BAD] = models["gripper"], models["gripper"].worst
    for number, names in WEIGHTS.items():
        panels = {
            f"{name}, seed {seed}": model.runs[seed].value_function.terms()
            for name, (model, seed) in ((name, shown[name]) for name in names if name in shown)
        }
        if panels:
            draw_weights(panels, folder / f"figure-{number}.svg")
    for number, rows in PREDICTIONS.items():
        drawn: dict[str, tuple[Any, Any]] = {}
        for name, column in rows:
            if name not in shown:
                continue
            model, seed = shown[name]
            table = model.runs[seed].predictions()
            for split in ("train", "test"):
                own = table[table["split"] == split]
                title = f"R-GNN {name}" if column == NETWORK else f"R-IDT {name}, seed {seed}"
                drawn[f"{title}, {split}"] = own["v_star"].to_numpy(), own[column].to_numpy()
        if drawn:
            draw_predictions(drawn, folder / f"figure-{number}.svg", columns=2)
    for name, (model, seed) in shown.items():
        draw_trees(model.runs[seed], folder / f"trees-{name.replace(', ', '-')}.html")


def draw_trees(run: Run, path: Path) -> None:
    """Write a page with the first tree of each layer, the first tree about states, and their leaf sets."""
    trees = stored_trees(run)
    names = {
        one.formula(leaves): f"{one.layer}.{one.number}{{{','.join(map(str, leaves))}}}"
        for one in trees
        for dendrogram in one.dendrograms.values()
        for leaves in dendrogram.sets
        if not one.about_states
    }
    parts = [f"<!doctype html><meta charset=utf-8><title>{run.name}</title><h1>{run.name}</h1>", _CAPTION]
    for tree in (one for one in trees if one.number == 0):
        dendrogram = next(iter(tree.dendrograms.values()))
        leaf_set = np.zeros(len(tree.tree.leaves), dtype=np.int64)
        for number, leaves in enumerate(cut(dendrogram, _COLOURED)):
            leaf_set[list(leaves)] = number
        kind = "states" if tree.about_states else "objects"
        weight = np.rint(tree.tree.weights).astype(np.int64)
        labels = Labels({c: split_name(f, names) for c, f in tree.formulas.items()}, weight, kind, leaf_set)
        title = "Trees about states" if tree.about_states else f"Layer {tree.layer}"
        parts.append(f"<h2>{title}</h2>{to_svg(draw_tree(tree.tree, labels))}")
        parts.append(to_svg(draw_dendrogram(dendrogram, leaf_set, weight[tree.tree.leaves])))
    path.write_text("\n".join(parts))


def split_name(split: Node, names: Mapping[Node, str]) -> str:
    """A split with short names of concepts, as in `<on>3.0{1,4} > 0`."""
    if split in names:
        return names[split]
    if isinstance(split, Compare):
        number, threshold = split.fields
        return f"{split_name(number, names)} > {threshold}"
    if isinstance(split, Count):
        return f"#{split_name(split.fields[0], names)}"
    if isinstance(split, Modal):
        relation, operand, threshold = split.fields
        return f"<{relation}>{split_name(operand, names)} > {threshold}"
    return str(split)


def main() -> None:
    """Print the tables, or JSON, and write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--runs", type=Path, default=RUNS, help="the folder of the runs")
    parser.add_argument("--out", type=Path, default=RUNS / "chapter5", help="the folder to write")
    options = parser.parse_args()
    models = models_in(options.runs)
    if not models:
        raise SystemExit(f"{options.runs} has no runs of {SWEEP}; make them with `make thesis`.")
    options.out.mkdir(parents=True, exist_ok=True)
    readable = readable_in(options.runs)
    text = tables_text(models, readable)
    (options.out / "tables.md").write_text(text)
    draw_figures(models, options.out)
    if options.json:
        tables = {number: errors_table(models, names, readable) for number, (_, names) in TABLES.items()}
        print(json.dumps({"5.1": states_table(models), **tables}, indent=1))
    else:
        print(text)
        print(f"Tables and figures: {options.out}")


if __name__ == "__main__":
    main()
