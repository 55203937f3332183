"""The thesis's method with its settings, on our networks and data, beside what it reports (Tables 5.2-5.6).

Not a matter of speed: it prints the mean absolute error of each seed on each split, ours and the thesis's.
The data differ, so the numbers can be compared in kind only: which splits are perfect.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from distill.jobs import RunConfig, distil, prepare_reduced
from distill.models import Checkpoint

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
        distilled, _ = distil(checkpoint, sets, replace(config.distillation, seed=seed))
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
    asked = parser.parse_args()
    names = [asked.only] if asked.only else list(THESIS)
    rows = []
    for name in names:
        found = errors(name, asked.seeds)
        rows.append({"class": name, "thesis": THESIS[name], "ours": found})
        if not asked.json:
            print(f"{name:13} thesis  " + "  ".join(f"{error:.4f}" for error in THESIS[name]))
            for seed, own in enumerate(found):
                print(f"{'':13} seed {seed}  " + "  ".join(f"{error:.4f}" for error in own), flush=True)
    if asked.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
