"""A tree of thesis mode on merged rows, against scikit-learn on single objects, as the thesis did.

Both fit one tree about objects to the same sample of states, in the first layers of the models of
configs/thesis. It prints the processor time of both and their ratio. The columns of merged rows are prepared
once for all trees of a layer; each tree is charged its part. `chapter5.py` prints the errors of the models.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from distill.distillation import ThesisLayers, TreeFitter, take_sample
from distill.jobs import RunConfig
from distill.networks import Checkpoint
from distill.planning import prepare_reduced

CONFIGS = Path(__file__).parents[1] / "configs" / "thesis"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """The seconds of processor time of some work, and its result."""
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def engines(name: str, layers: int, sample: int | None) -> list[dict[str, Any]]:
    """For each of the first layers the seconds of one tree with each engine, and their ratio."""
    config = RunConfig.read(CONFIGS / f"{name}.yaml")
    checkpoint = Checkpoint.load(config.checkpoint)
    sets = {split.name: prepare_reduced(split, reduce="none", workers=2)[0] for split in config.splits()}
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
    models = sorted(file.stem for file in CONFIGS.glob("*.yaml"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--only", choices=models, action="append", help="only this model")
    parser.add_argument("--layers", type=int, default=2, help="how many layers")
    parser.add_argument("--sample", type=int, default=0, help="states of a sample, if not as in the config")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in options.only or models:
        found = engines(name, options.layers, options.sample)
        rows += found
        for one in [] if options.json else found:
            print(
                f"{name:15} layer {one['layer']}: {one['objects']} objects in {one['rows']} rows, "
                f"{one['columns']} columns; {one['quotient']:.4f} s merged, {one['sklearn']:.3f} s single, "
                f"ratio {one['ratio']:.0f}",
                flush=True,
            )
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
