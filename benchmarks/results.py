"""Results of distillation on the five problem classes, beside controls, the thesis and hand-made functions.

Not a matter of speed: for each class and each pool or control it prints the mean absolute error on train,
validation and test, how many of the seeds are exact on all three, and the size of the function; then the
functions themselves. `--beyond` adds the error on instances far beyond the splits, `--by-v` the errors by V*.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from published import RIDT_ERRORS

from distill.distillation import Distillation, distil
from distill.evaluation import label_beyond
from distill.explanations import ValueFunction, has_integer_weights
from distill.logic import hand_made, write_defined
from distill.networks import Checkpoint, draw_predictions
from distill.planning import SPLITS, prepare_reduced, problem_class
from distill.structures import DataSet

CHECKPOINTS = Path(__file__).parents[1] / "artifacts" / "checkpoints"
VARIANTS = {
    "ridt": Distillation(),
    "ridt+polish": Distillation(pool="ridt+polish"),
    "ridt, untrained": Distillation(control="untrained"),
    "ridt, permuted": Distillation(control="permuted"),
    "enumerate": Distillation(pool="enumerate"),
    "both": Distillation(pool="both"),
}
PRESENTED = {
    "gripper": "gripper",
    "miconic": "miconic-a",
    "blocks-clear": "blocks-clear-b",
    "blocks-on": "blocks-on",
    "visitall": "visitall-a",
}
"""The model of the thesis that each class is compared with."""
# The hand-made functions of thesis 5.1; those of Blocks-On and Visitall grow with n, so they have a limit.
HAND_MADE = {"gripper": "gripper", "miconic": "miconic", "blocks-clear": "blocks-clear-closure"}
LIMIT = 60
BANDS = ((0, 5), (6, 10), (11, 15), (16, 20), (21, 99))  # of V*


def largest_size(name: str) -> int:
    """Symbols that a value function may have to be no larger than the hand-made one."""
    return hand_made(HAND_MADE[name]).value_function(2).size if name in HAND_MADE else LIMIT


def errors(distilled: ValueFunction, sets: dict[str, DataSet]) -> dict[str, np.ndarray]:
    """For each split the absolute errors of its solvable states."""
    values = distilled.predict(sets)
    return {key: np.abs(values[key] - data.v_star)[data.v_star >= 0] for key, data in sets.items()}


def by_v(found: dict[str, np.ndarray], sets: dict[str, DataSet]) -> list[list[Any]]:
    """For each band of V* the number of states and their mean absolute error, of all splits together."""
    v_star = np.concatenate([data.v_star[data.v_star >= 0] for data in sets.values()])
    every = np.concatenate(list(found.values()))
    bands = [(v_star >= low) & (v_star <= high) for low, high in BANDS]
    return [[int(band.sum()), float(every[band].mean()) if band.any() else None] for band in bands]


def row(
    name: str, variant: str, seed: int, sets: dict[str, DataSet], checkpoint: Checkpoint
) -> dict[str, Any]:
    """One distillation, measured."""
    settings = VARIANTS[variant].replace(seed=seed)
    begun = time.perf_counter()
    result = distil(None if variant == "enumerate" else checkpoint, sets, settings)
    distilled = result.explanation
    seconds = time.perf_counter() - begun
    found = errors(distilled, sets)
    return {
        "class": name,
        "variant": variant,
        "seed": seed,
        "mae": [float(found[key].mean()) for key in sets],
        "exact": not any(error.any() for error in found.values()),
        "integer": has_integer_weights(distilled.value),
        "features": len(distilled.terms()),
        "size": distilled.value.size,
        "gap": result.fit.get("gap"),
        "seconds": round(seconds, 1),
        "value": write_defined(distilled.value),
        "by_v": by_v(found, sets),
        "distilled": distilled,
    }


def main() -> None:
    """Print tables, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--only", choices=list(PRESENTED), action="append", help="only this class")
    parser.add_argument(
        "--variant", choices=list(VARIANTS), action="append", help="only this pool or control"
    )
    parser.add_argument(
        "--beyond", action="store_true", help="measure on instances far beyond the splits too"
    )
    parser.add_argument("--by-v", action="store_true", help="print errors by V*")
    parser.add_argument("--figure", type=Path, help="draw V by V* of the test states, with the last variant")
    options = parser.parse_args()
    rows, panels = [], {}
    for name in options.only or PRESENTED:
        problem = problem_class(name)
        sets = {key: prepare_reduced(problem.split(key), reduce="none", workers=2)[0] for key in SPLITS}
        far = label_beyond(problem, sets) if options.beyond else None
        checkpoint = Checkpoint.load(CHECKPOINTS / f"{name}.safetensors")
        if not options.json:
            thesis = " / ".join(f"{error:.4f}" for error in RIDT_ERRORS[PRESENTED[name]])
            print(f"{name}: thesis {thesis}; hand-made at most {largest_size(name)} symbols", flush=True)
        for variant in options.variant or VARIANTS:
            for seed in range(options.seeds):
                found = row(name, variant, seed, sets, checkpoint)
                distilled = found.pop("distilled")
                panels[name] = sets["test"].v_star, distilled.predict({"test": sets["test"]})["test"]
                if far is not None:
                    score = far.evaluate(distilled.predict).splits["beyond"]
                    found |= {"beyond_mae": score.mae, "beyond_states": score.states, "labels": far.sentence}
                rows.append(found)
                if not options.json:
                    show(found, options.by_v)
    if options.figure:
        draw_predictions(panels, options.figure)
    if options.json:
        print(json.dumps(rows, indent=1))


def show(found: dict[str, Any], with_v: bool) -> None:
    """Print one row and its value function."""
    mae = " / ".join(f"{error:.4f}" for error in found["mae"])
    far = f"  beyond {found['beyond_mae']:.4f} on {found['beyond_states']}" if "beyond_mae" in found else ""
    whole = "integer" if found["integer"] else "real"
    print(
        f"  {found['variant']:16} seed {found['seed']}  {mae}{far}  {found['features']:3} features  "
        f"size {found['size']:4}  {whole}  {found['seconds']:.0f} s",
        flush=True,
    )
    if found["size"] <= 200:
        print("\n".join(f"      {line}" for line in found["value"].splitlines()), flush=True)
    if with_v:
        shown = ", ".join(
            f"{low}-{high}: {error:.4f} ({states})"
            for (low, high), (states, error) in zip(BANDS, found["by_v"], strict=True)
            if states
        )
        print(f"      by V*: {shown}", flush=True)


if __name__ == "__main__":
    main()
