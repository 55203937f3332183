"""The thesis's method with its settings, on our networks and data, beside what it reports (Tables 5.2-5.6).

It prints the mean absolute error of each seed on each split, ours and the thesis's. The data differ, so the
numbers can be compared in kind only: which splits are perfect.

With `--engines` it prints the processor time of one tree about objects instead: on merged rows, and with
scikit-learn on single objects, for the same sample of states in the same run. The columns of merged rows are
prepared once for all trees of a layer; each tree is charged its part.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from distill.distillation import ThesisLayers, TreeFitter, distil, take_sample
from distill.jobs import RunConfig
from distill.networks import Checkpoint
from distill.planning import prepare_reduced
from distill.structures import DataSet

CONFIGS = Path(__file__).parents[1] / "configs" / "thesis"
CHECKPOINTS = Path(__file__).parents[1] / "artifacts" / "checkpoints"
THESIS = {
    "gripper-good": (0.0, 0.0, 0.0),
    "gripper-bad": (1.4020, 1.3297, 1.2855),
    "miconic-a": (0.0, 0.0, 0.0),
    "miconic-b": (0.0, 0.0006, 0.0053),
    "blocks-clear-a": (0.0, 0.0344, 0.1754),
    "blocks-clear-b": (0.0, 0.0213, 0.1312),
    "blocks-on": (0.0, 0.0221, 0.2314),
    "visitall-a": (0.0, 0.3168, 0.5757),
    "visitall-b": (0.0, 0.3540, 0.7657),
}


def opened(name: str, shipped: bool) -> tuple[RunConfig, Checkpoint, dict[str, DataSet]]:
    """The config of a model, its network (or the one we ship for its class), and the states."""
    config = RunConfig.read(CONFIGS / f"{name}.yaml")
    file = CHECKPOINTS / f"{config.source['problem']}.safetensors" if shipped else config.checkpoint
    splits = {split.name: split for split in config.splits()}
    sets = {key: prepare_reduced(split, reduce="none", workers=2)[0] for key, split in splits.items()}
    return config, Checkpoint.load(file), sets


def errors(name: str, seeds: int, shipped: bool) -> list[list[float]]:
    """For each seed the MAE on train, validation and test."""
    config, checkpoint, sets = opened(name, shipped)
    found = []
    for seed in range(seeds):
        given = config.distillation
        distilled = distil(checkpoint, sets, given.replace(seed=given.seed + seed)).explanation
        values = distilled.predict(sets)
        found.append(
            [float(np.abs(values[key] - data.v_star)[data.v_star >= 0].mean()) for key, data in sets.items()]
        )
    return found


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of processor time of some work, and its result."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def engines(name: str, layers: int, sample: int | None, shipped: bool) -> list[dict[str, Any]]:
    """For each of the first layers the seconds of one tree with each engine, and their ratio."""
    config, checkpoint, sets = opened(name, shipped)
    settings = config.distillation.replace(inner_sample=sample or config.distillation.inner_sample)
    states = take_sample(checkpoint, sets, None, settings)
    if states.activations is None:
        raise ValueError("The sample has no activations.")
    embeddings, learned, found = states.activations.embeddings, ThesisLayers(states.quotient, settings), []
    for depth in range(1, min(layers, len(embeddings) - 1) + 1):
        targets = np.asarray(embeddings[depth], dtype=np.float64)
        counts, rows, _ = learned.layer(depth, targets)
        drawn = learned.draw.sample(settings.inner_sample, "uniform", np.random.default_rng(0))
        parts = counts, rows
        prepared, merged = timed(partial(TreeFitter, *parts, settings, np.random.default_rng(0)))
        single = TreeFitter(*parts, settings.replace(engine="sklearn"), np.random.default_rng(0))
        quick, one = timed(partial(merged.fit, drawn, learned.draw, settings.inner_depth))
        slow, other = timed(partial(single.fit, drawn, learned.draw, settings.inner_depth))
        quick += prepared / settings.inner_width
        found.append(
            {
                "class": name,
                "layer": depth,
                "objects": int((drawn * rows.histogram.sum(axis=1)).sum()),
                "rows": len(counts),
                "columns": counts.shape[1],
                "quotient": quick,
                "sklearn": slow,
                "ratio": slow / quick,
                "gain_difference": float(abs(one.tree.gains[0] / other.tree.gains[0] - 1)),
            }
        )
        learned.add(depth, targets)
    return found


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--seeds", type=int, default=4, help="how many seeds")
    parser.add_argument("--only", choices=list(THESIS), help="only this model")
    parser.add_argument("--shipped", action="store_true", help="with the networks in artifacts/checkpoints")
    parser.add_argument("--engines", action="store_true", help="compare the times of the two engines")
    parser.add_argument("--layers", type=int, default=2, help="how many layers to compare the engines on")
    parser.add_argument("--sample", type=int, default=0, help="states of a sample, if not as in the config")
    options = parser.parse_args()
    names = [options.only] if options.only else list(THESIS)
    rows: list[dict[str, Any]] = []
    for name in names:
        if options.engines:
            found = engines(name, options.layers, options.sample, options.shipped)
            rows += found
            for one in [] if options.json else found:
                print(
                    f"{name:15} layer {one['layer']}: {one['objects']} objects in {one['rows']} rows, "
                    f"{one['columns']} columns; {one['quotient']:.4f} s merged, "
                    f"{one['sklearn']:.3f} s single, "
                    f"ratio {one['ratio']:.0f}",
                    flush=True,
                )
            continue
        ours = errors(name, options.seeds, options.shipped)
        rows.append({"class": name, "thesis": THESIS[name], "ours": ours})
        if not options.json:
            print(f"{name:15} thesis  " + "  ".join(f"{error:.4f}" for error in THESIS[name]))
            for seed, own in enumerate(ours):
                print(f"{'':15} seed {seed}  " + "  ".join(f"{error:.4f}" for error in own), flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
