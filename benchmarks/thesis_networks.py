"""The networks of artifacts/checkpoints/thesis beside the base R-GNNs of thesis Tables 5.2-5.6.

Not a matter of speed: it prints the mean absolute error by split. Both are measured on states that were drawn
in the same way, in other instances. States count as often as they occur.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from distill.networks import Checkpoint, values
from distill.planning import SPLITS, prepare_reduced, problem_class

FOLDER = Path(__file__).parents[1] / "artifacts" / "checkpoints" / "thesis"
THESIS = {
    "gripper": (0.0073, 0.0069, 0.0754),
    "miconic-a": (0.0045, 0.0031, 0.0063),
    "miconic-b": (0.0024, 0.0018, 0.0043),
    "blocks-clear": (0.0020, 0.0029, 0.0170),
    "blocks-on": (0.0053, 0.0063, 0.0196),
    "visitall": (0.0068, 0.0232, 0.0390),
}


def errors(name: str, most: int, workers: int) -> dict[str, dict[str, Any]]:
    """For each split the number of states, their MAE and its standard error."""
    network = Checkpoint.load(FOLDER / f"{name}.safetensors").network
    declared = problem_class(f"{name.removesuffix('-a').removesuffix('-b')}-walks")
    found = {}
    for split in SPLITS:
        data, _ = prepare_reduced(declared.split(split), reduce="none", workers=workers)
        if 0 < most < len(data):
            chosen = np.random.default_rng(0).choice(len(data), most, replace=False)
            data = data.pick(np.sort(chosen))
        data = data.distinct()
        error = np.abs(
            np.concatenate([values(network, data.structures(part)) for part in data.slices()]) - data.v_star
        )
        mae = float(np.average(error, weights=data.multiplicity))
        spread = float(np.sqrt(np.average((error - mae) ** 2, weights=data.multiplicity)))
        states = int(data.multiplicity.sum())
        found[split] = {"states": states, "mae": mae, "standard_error": spread / states**0.5}
    return found


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", choices=list(THESIS), help="only this network")
    parser.add_argument("--states", type=int, default=0, help="so many states of each split; 0 takes all")
    parser.add_argument("--workers", type=int, default=1, help="number of processes for labelling")
    options = parser.parse_args()
    rows = []
    for name in [options.only] if options.only else list(THESIS):
        found = errors(name, options.states, options.workers)
        record = Checkpoint.load(FOLDER / f"{name}.safetensors").record
        rows.append(
            {"network": name, "thesis": THESIS[name], "ours": found, "epochs": len(record.get("history", []))}
        )
        if not options.json:
            print(f"{name:13} thesis  " + "  ".join(f"{error:.4f}" for error in THESIS[name]))
            own = "  ".join(f"{one['mae']:.4f} ± {one['standard_error']:.4f}" for one in found.values())
            counts = ", ".join(str(one["states"]) for one in found.values())
            print(f"{'':13} ours    {own}  ({counts} states)", flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
