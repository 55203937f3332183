"""`distill checkpoint`: what is in a network's file."""

import typer

from distill.cli.evaluate import CheckpointFile
from distill.cli.output import Json, console, print_json, print_table

_ORDER = ("train", "validation", "test")

app = typer.Typer(help="Look into a network's file.", no_args_is_help=True)


@app.callback()
def _commands() -> None:
    """Look into a network's file."""


@app.command("info")
def info(checkpoint: CheckpointFile, as_json: Json = False) -> None:
    """Show format, vocabulary, architecture, training record and metrics; nothing in the file is executed."""
    from distill.models import Checkpoint

    loaded = Checkpoint.load(checkpoint)
    network = loaded.network
    architecture = network.architecture.to_mapping()
    if as_json:
        print_json(
            {
                "file": str(checkpoint),
                "format": loaded.source,
                "key": loaded.key,
                "parameters": loaded.n_parameters,
                "vocabulary": network.vocabulary.to_json(),
                "architecture": architecture,
                "record": dict(loaded.record),
            }
        )
        return
    console().print(
        f"{checkpoint.name}: {loaded.source} format, {loaded.n_parameters} parameters, key {loaded.key}",
        style="bold",
        highlight=False,
    )
    print_table("Architecture", ["setting", "value"], [[k, str(v)] for k, v in architecture.items()])
    predicates = [[p.name, p.arity, p.role] for p in network.vocabulary]
    print_table("Vocabulary", ["predicate", "arity", "role"], predicates)
    record = loaded.record
    if "history" in record:
        last = record["history"][record["best_epoch"] - 1]
        told = f"Trained with seed {record['seed']}: best epoch {last['number']} of {len(record['history'])}"
        console().print(f"{told}, validation MAE {last['validation_mae']:.4f}.", highlight=False)
    if "metrics" in record:
        keys = ("states", "mae", "max_error", "known_within_half", "solved", "instances")
        rows = [
            [name, *(f"{row[key]:.4f}" if isinstance(row[key], float) else row[key] for key in keys)]
            for name, row in sorted(record["metrics"].items(), key=lambda item: _ORDER.index(item[0]))
        ]
        print_table("Metrics", ["split", *keys], rows)
