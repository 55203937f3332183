"""The data of the thesis's classes beside Table 5.1, and which states are beyond the training range.

Not a matter of speed. A state is beyond the training range if its V* is greater than any of training, or if
two of its objects are further apart along a relation (such as `on`: a higher tower) than in any training
state. States count as often as they occur. The last columns are for the choice of layers.
"""

import argparse
import json
from typing import Any

import numpy as np
from published import LAYERS, STATES

from distill.networks import diameters, layers_to_cross
from distill.planning import SPLITS, prepare_reduced, problem_class, thesis_classes
from distill.structures import DataSet


def distances(data: DataSet) -> dict[str, np.ndarray]:
    """For each relation of the states (n_states,) the largest distance of two objects along it."""
    relations = [p for p in data.vocabulary if p.arity > 1 and p.role == "state"]
    found: dict[str, list[np.ndarray]] = {p.name: [] for p in relations}
    known: dict[str, dict[Any, int]] = {p.name: {} for p in relations}
    for states in data.slices():
        batch = data.structures(states)
        for one in relations:
            found[one.name].append(diameters(batch, [one], known[one.name]))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def beyond_training(sets: dict[str, DataSet]) -> dict[str, tuple[np.ndarray, dict[str, np.ndarray]]]:
    """For each split (n_states,) which states have a greater V* than training, or objects further apart."""
    far = {split: distances(data) for split, data in sets.items()}
    greatest = sets["train"].v_star.max()
    return {
        split: (
            data.v_star > greatest,
            {name: reach > far["train"][name].max() for name, reach in far[split].items()},
        )
        for split, data in sets.items()
    }


def rows_of(name: str, exhaustive: bool, workers: int) -> list[dict[str, Any]]:
    """One row for each split of a class."""
    declared = problem_class(name if exhaustive else f"{name}-walks")
    sets = {
        split: prepare_reduced(declared.split(split), reduce="none", workers=workers)[0] for split in SPLITS
    }
    distinct = {split: data.distinct() for split, data in sets.items()}
    far = beyond_training(distinct)
    layers = layers_to_cross(data.structures(part) for data in distinct.values() for part in data.slices())
    rows = []
    for (split, data), (states, _, greatest) in zip(sets.items(), STATES[name], strict=True):
        summary = data.summary()
        kept = distinct[split]
        higher, further = far[split]
        beyond = np.logical_or.reduce([higher, *further.values()])

        def states_of(chosen: np.ndarray, counts: np.ndarray = kept.multiplicity) -> int:
            return int(counts[chosen].sum())

        rows.append(
            {
                "class": name,
                "split": split,
                "instances": summary["instances"],
                "objects": [summary["min_objects"], summary["max_objects"]],
                "states": len(data),
                "distinct": len(kept),
                "unlabelled": summary["unlabelled_states"],
                "thesis_states": states,
                "ratio": len(data) / states,
                "max_v_star": summary["max_v_star"],
                "thesis_max_v_star": greatest,
                "higher_v_star": states_of(higher),
                "further_apart": {key: states_of(one) for key, one in further.items() if one.any()},
                "beyond_training": states_of(beyond),
                "layers": layers,
                "thesis_layers": LAYERS[name],
            }
        )
    return rows


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", choices=list(STATES), help="only this class")
    parser.add_argument("--exhaustive", action="store_true", help="our own classes instead")
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    options = parser.parse_args()
    assert [f"{name}-walks" for name in sorted(STATES)] == thesis_classes()
    rows = []
    for name in [options.only] if options.only else list(STATES):
        found = rows_of(name, options.exhaustive, options.workers)
        rows += found
        for row in [] if options.json else found:
            low, high = row["objects"]
            share = row["beyond_training"] / row["states"]
            print(
                f"{name:12} {row['split']:10} {row['instances']:4} instances  {low:2}-{high:<3} objects  "
                f"{row['states']:7} states ({row['distinct']} distinct; Table 5.1: {row['thesis_states']}, "
                f"{row['ratio']:.3f})  max V* {row['max_v_star']} ({row['thesis_max_v_star']})  "
                f"beyond training {row['beyond_training']} ({share:.1%})  "
                f"layers {row['layers']} ({row['thesis_layers']})",
                flush=True,
            )
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
