"""The whole pipeline, unchanged, on domains it was not tuned on: results, exact or not, and why.

Not a matter of speed. One recipe for all: a network is trained (or cached), distilled, and polished.
For each domain it prints errors, sizes, how good the network itself is, and what prevents an exact
value function; two states that no formula separates although their V* differ are both shown.

`blocks` and `logistics` are problem classes of ours; `airports` is Logistics with one place in each city,
where that happens. `--pddl FOLDER` adds folders of PDDL: for each name given by `--domain NAME` (may be
repeated), FOLDER/NAME must hold domain.pddl and instances, or a folder table1 with them.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from distill.common import InputError
from distill.jobs import RunConfig, do_job
from distill.runs import Run

CLASSES = {
    "blocks": "blocks",
    "logistics": "logistics",
    "airports": str(Path(__file__).with_name("airports.yaml")),
}
RECIPE: dict[str, Any] = {
    "network": {"layers": 8, "size": 32, "aggregation": "max", "pooling": "sum"},
    "training": {
        "epochs": 30,
        "batches": 150,
        "batch_size": 64,
        "loss": "mse",
        "learning_rate": 0.003,
        "weight_decay": 0,
        "layer_spread": 2,
    },
    "distillation": {"pool": "ridt+polish"},
    "evaluation": {"max_steps": 200},
}


def config_of(source: dict[str, str], changes: dict[str, Any]) -> RunConfig:
    """The recipe on a problem class or on PDDL."""
    return RunConfig.from_mapping({**source, **RECIPE}, Path(), lambda *path: "The recipe", changes)


def folder_of(pddl: Path, name: str) -> Path:
    """Where the PDDL of a domain is."""
    places = [pddl / name / "table1", pddl / name]
    found = next((place for place in places if (place / "domain.pddl").is_file()), None)
    if found is None:
        raise InputError(f"There is no domain.pddl in {pddl / name}; check --pddl and --domain.")
    return found


def reason(run: Run) -> str:
    """What prevents an exact value function, in a sentence."""
    fit, splits = run.metrics["fit"], run.metrics["splits"]
    if fit.get("conflict"):
        first, second = fit["conflict"]
        return (
            f"two states that no formula of the language tells apart have V* {first['v_star']} and "
            f"{second['v_star']}: no function in it can be exact"
        )
    if fit.get("exact"):
        wrong = [name for name, score in splits.items() if score["max_error"] > 0]
        return f"exact on train, wrong on {' and '.join(wrong)}" if wrong else "exact on all states"
    if fit.get("blocking"):
        return f"{len(fit['blocking'])} states contradict every sum of the features found"
    return f"nothing exact was found; {fit.get('wrong', 'some')} training rows are wrong"


def row_of(name: str, run: Run) -> dict[str, Any]:
    """The results of a run."""
    table = run.predictions()
    known = table[table["v_star"] >= 0]
    errors = (known["network"] - known["v_star"]).abs().groupby(known["split"], observed=True).mean()
    largest = known.groupby("split", observed=True)["v_star"].max()
    solvable = known.groupby("split", observed=True)["instance"].nunique()
    return {
        "domain": name,
        "states": {split: score["states"] for split, score in run.metrics["splits"].items()},
        "mae": {split: score["mae"] for split, score in run.metrics["splits"].items()},
        "max_v_star": {str(split): int(value) for split, value in largest.items()},
        "network_mae": {str(split): float(error) for split, error in errors.items()},
        "solved": {
            split: [score["solved"], int(solvable[split])] for split, score in run.metrics["splits"].items()
        },
        "features": run.metrics["features"],
        "size": run.metrics["formula_size"],
        "exact": bool(run.metrics["fit"].get("exact")),
        "conflict": run.metrics["fit"].get("conflict"),
        "reason": reason(run),
        "value": str(run.value_function.value),
        "run": str(run.folder),
    }


def show(row: dict[str, Any]) -> None:
    """Print a domain's row for people."""
    print(f"{row['domain']}: {row['reason']}")
    for split, mae in row["mae"].items():
        solved, solvable = row["solved"][split]
        network = row["network_mae"][split]
        print(
            f"  {split:<11} {row['states'][split]:>7} states  V* up to {row['max_v_star'][split]:>2}"
            f"  MAE {mae:.4f} (network {network:.4f})  {solved}/{solvable} solved"
        )
    print(f"  {row['features']} terms, size {row['size']}")
    if row["size"] <= 400:
        print(f"  V = {row['value']}")
    for state in row["conflict"] or ():
        print(f"  V* = {state['v_star']}: {state['atoms'][:400]}")


def main() -> None:
    """Run all chosen domains."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--pddl", type=Path, help="a folder with folders of PDDL")
    parser.add_argument("--domain", action="append", default=[], help="a folder in --pddl; may be repeated")
    parser.add_argument("--class", dest="classes", action="append", choices=list(CLASSES), help="only it")
    parser.add_argument("--seed", type=int, default=0, help="of the distillation")
    parser.add_argument("--out", type=Path, default=Path("artifacts/runs"), help="the folder that keeps runs")
    options = parser.parse_args()
    classes = options.classes or ([] if options.domain else list(CLASSES))
    sources = {name: {"problem": CLASSES[name]} for name in classes}
    try:
        for name in options.domain:
            place = folder_of(options.pddl or Path(), name)
            sources[name] = {"domain": str(place / "domain.pddl"), "instances": str(place)}
    except InputError as error:
        parser.error(str(error))
    rows = []
    for name, source in sources.items():
        try:
            run = do_job(config_of(source, {"seed": options.seed}), options.out)
        except InputError as error:
            rows.append({"domain": name, "error": str(error)})
            if not options.json:
                print(f"{name}: {error}")
            continue
        rows.append(row_of(name, run))
        if not options.json:
            show(rows[-1])
    if options.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
    if any("error" in row for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
