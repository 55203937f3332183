"""Which hyperparameter of thesis Table 4.1 matters? Figures from the runs of the sweeps about it.

`distill batch configs/sweeps/table-4-1.yaml --out artifacts/runs/table-4-1` makes the runs of the first (one
setting changed at a time), `table-4-1-random.yaml` those of the second (random combinations), and
`sampling.yaml` those about other samples and closures (thesis 5.6.1). A model is perfect if its mean absolute
error is below 0.00005. Only finished runs count; their number is printed.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from distill.common import drawing
from distill.jobs import JobBatch, RunConfig, Sweep, table_of

SWEEPS = Path(__file__).parents[1] / "configs" / "sweeps"
MODELS = SWEEPS.parent / "thesis"
NAMES = {"table-4-1": True, "table-4-1-random": False, "sampling": True}
"""The sweeps, and whether their rows are changes of the presented setting, or values of one setting."""
RUNS = Path("artifacts/runs/table-4-1")
PERFECT = 5e-5
PRESENTED = "as presented"
_SPLITS = ("train", "validation", "test")
_SEED = "distillation.seed"


def finished(name: str, store: Path) -> tuple[pd.DataFrame, int, list[str]]:
    """The finished jobs of a sweep with all settings, the number of planned jobs, and the varied settings.

    The column `change` names the settings that differ from those that the thesis presents.
    """
    sweep = Sweep.read(SWEEPS / f"{name}.yaml")
    works = JobBatch(sweep, store).works
    table = table_of(works)
    varied = [key for key in sweep.varied if key.startswith("distillation.") and key != _SEED]
    names = [key.removeprefix("distillation.") for key in varied]
    presented = {base: RunConfig.read(MODELS / f"{base}.yaml").distillation for base in set(table["base"])}
    for setting in names:  # a job that does not change a setting has that of its base
        table[setting] = [_text(getattr(work.job.config.distillation, setting)) for work in works]
    table["change"] = [
        ", ".join(f"{n} {row[n]}" for n in names if row[n] != _text(getattr(presented[row["base"]], n)))
        or PRESENTED
        for _, row in table.iterrows()
    ]
    errors = table[[f"{split}_mae" for split in _SPLITS]]
    table["perfect"] = (errors < PERFECT).all(axis=1)
    table["perfect_on_train"] = table["train_mae"] < PERFECT
    return table[table["state"] == "done"].reset_index(drop=True), len(table), names


def by_value(table: pd.DataFrame, column: str) -> list[dict[str, Any]]:
    """For each value of a column: jobs, shares of perfect models, and the mean test error of each class."""
    rows = []
    for value, own in table.groupby(column):
        errors = own.groupby("base", sort=False)["test_mae"].mean()
        rows.append(
            {
                "setting": str(value) if column == "change" else f"{column} {value}",
                "jobs": len(own),
                "perfect_on_train": float(own["perfect_on_train"].mean()),
                "perfect": float(own["perfect"].mean()),
                "test_mae": {str(base): round(float(error), 4) for base, error in errors.items()},
            }
        )
    return rows


def seed_share(table: pd.DataFrame, settings: list[str]) -> list[dict[str, Any]]:
    """For each class how much of the variance of the test error remains between seeds of one combination.

    `mixed` is the share of combinations of which some seeds are perfect on train and others are not.
    """
    rows = []
    for base, own in table.groupby("base", sort=False):
        groups = own.groupby(settings, sort=False)
        own = own[groups["test_mae"].transform("size") > 1]
        groups = own.groupby(settings, sort=False)
        if not len(own):
            continue
        total = float(((own["test_mae"] - own["test_mae"].mean()) ** 2).sum())
        within = float(((own["test_mae"] - groups["test_mae"].transform("mean")) ** 2).sum())
        shares = groups["perfect_on_train"].mean()
        rows.append(
            {
                "class": str(base),
                "combinations": len(shares),
                "jobs": len(own),
                "seed": within / total if total else 0.0,
                "mixed": float(((shares > 0) & (shares < 1)).mean()),
            }
        )
    return rows


def draw(tables: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Draw the share of models that are perfect on train, and on all splits, for each value."""
    with drawing(path, len(tables), width=5.5, height=11.0) as panels:
        for axes, (name, rows) in zip(panels, tables.items(), strict=True):
            places = np.arange(len(rows))
            axes.barh(
                places, [row["perfect_on_train"] for row in rows], color="C0", alpha=0.4, label="on train"
            )
            axes.barh(places, [row["perfect"] for row in rows], color="C0", label="on all splits")
            axes.set_yticks(places, [row["setting"] for row in rows], fontsize=7)
            axes.invert_yaxis()
            axes.set(title=name, xlabel="share of perfect models", xlim=(0, 1))
            axes.legend(frameon=False)


def _text(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def show(name: str, found: dict[str, Any]) -> None:
    """Print the tables of a sweep in Markdown."""
    classes = list(dict.fromkeys(base for row in found["values"] for base in row["test_mae"]))
    print(f"\n{name}: {found['finished']} of {found['planned']} jobs finished\n")
    print(f"| setting | jobs | perfect on train | on all splits | {' | '.join(classes)} |")
    print(f"| {' | '.join(['---'] * (4 + len(classes)))} |")
    for row in found["values"]:
        errors = [f"{row['test_mae'][base]:.4f}" if base in row["test_mae"] else "–" for base in classes]
        shares = [f"{row['perfect_on_train']:.2f}", f"{row['perfect']:.2f}"]
        print(f"| {row['setting']} | {row['jobs']} | {' | '.join([*shares, *errors])} |")
    print(
        "\n| class | combinations | jobs | variance between seeds | combinations with and without perfect |"
    )
    print("| --- | --- | --- | --- | --- |")
    for row in found["seeds"]:
        shares = f"{row['seed']:.2f} | {row['mixed']:.2f}"
        print(f"| {row['class']} | {row['combinations']} | {row['jobs']} | {shares} |")


def main() -> None:
    """Print tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--runs", type=Path, default=RUNS, help="the folder of the runs")
    parser.add_argument("--figure", type=Path, help="draw the shares of perfect models into this file")
    options = parser.parse_args()
    answer = {}
    for name, changes in NAMES.items():
        table, planned, varied = finished(name, options.runs)
        columns = ["change"] if changes else varied
        values = [row for column in columns for row in by_value(table, column)]
        seeds = seed_share(table, varied)
        answer[name] = {"planned": planned, "finished": len(table), "values": values, "seeds": seeds}
        if not options.json:
            show(name, answer[name])
    if options.json:
        print(json.dumps(answer, indent=1))
    if options.figure:
        draw({name: found["values"] for name, found in answer.items() if found["values"]}, options.figure)


if __name__ == "__main__":
    main()
