"""The thesis's method with its settings, on our networks and data, beside what it reports (Tables 5.2-5.6).

Not a matter of speed: it prints the mean absolute error of each seed on each split, ours and the thesis's.
The data differ, so the numbers can be compared in kind only: which splits are perfect.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from distill.distillation import distil
from distill.jobs import RunConfig
from distill.networks import Checkpoint
from distill.planning import prepare_reduced

CONFIGS = Path(__file__).parents[1] / "configs" / "thesis"
THESIS = {
    "gripper": (0.0, 0.0, 0.0),
    "miconic": (0.0, 0.0, 0.0),
    "blocks-clear": (0.0, 0.0213, 0.1312),
    "blocks-on": (0.0, 0.0221, 0.2314),
    "visitall": (0.0, 0.3168, 0.5757),
}


def errors(name: str, seeds: int) -> list[list[float]]:
    """For each seed the MAE on train, validation and test."""
    config = RunConfig.read(CONFIGS / f"{name}.yaml")
    splits = {split.name: split for split in config.splits()}
    sets = {key: prepare_reduced(split, reduce="none", workers=2)[0] for key, split in splits.items()}
    checkpoint = Checkpoint.load(config.checkpoint)
    found = []
    for seed in range(seeds):
        distilled = distil(checkpoint, sets, config.distillation.replace(seed=seed)).explanation
        values = distilled.predict(sets)
        found.append(
            [float(np.abs(values[key] - data.v_star)[data.v_star >= 0].mean()) for key, data in sets.items()]
        )
    return found


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seeds", type=int, default=4, help="how many seeds")
    parser.add_argument("--only", choices=list(THESIS), help="only this class")
    options = parser.parse_args()
    names = [options.only] if options.only else list(THESIS)
    rows = []
    for name in names:
        found = errors(name, options.seeds)
        rows.append({"class": name, "thesis": THESIS[name], "ours": found})
        if not options.json:
            print(f"{name:13} thesis  " + "  ".join(f"{error:.4f}" for error in THESIS[name]))
            for seed, own in enumerate(found):
                print(f"{'':13} seed {seed}  " + "  ".join(f"{error:.4f}" for error in own), flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
