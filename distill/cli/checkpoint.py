"""`distill checkpoint`: the content of the file of a network."""

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text

_ORDER = ("train", "validation", "test")

app = typer.Typer(help="Show the content of a checkpoint.", no_args_is_help=True)


@app.callback()
def _commands() -> None:
    """Show the content of a checkpoint."""


@app.command("info")
def info(checkpoint: options.CheckpointFile, as_json: Json = False) -> None:
    """Show format, vocabulary, architecture, training record and metrics of a checkpoint."""
    from distill.networks import Checkpoint

    loaded = Checkpoint.load(checkpoint)
    network = loaded.network
    architecture = network.settings.to_mapping()
    if as_json:
        print_json(
            {
                "file": str(checkpoint),
                "format": loaded.source,
                "key": loaded.key,
                "parameters": loaded.n_parameters,
                **loaded.description,
                "record": dict(loaded.record),
            }
        )
        return
    facts = f"{loaded.source} format, {loaded.n_parameters} parameters, key {loaded.key}"
    print_text(f"{checkpoint.name}: {facts}")
    print_table("Architecture", ["setting", "value"], [[k, str(v)] for k, v in architecture.items()])
    predicates = [[p.name, p.arity, p.role] for p in network.vocabulary]
    print_table("Vocabulary", ["predicate", "arity", "role"], predicates)
    record = loaded.record
    if "history" in record:
        last = record["history"][record["best_epoch"] - 1]
        epoch = f"best epoch {last['number']} of {len(record['history'])}"
        error = f"validation MAE {last['validation_mae']:.4f}"
        print_text(f"Trained with seed {record['seed']}: {epoch}, {error}.")
    if "metrics" in record:
        keys = ("states", "mae", "max_error", "known_within_half", "solved", "instances")
        rows = [
            [name, *(f"{row[key]:.4f}" if isinstance(row[key], float) else row[key] for key in keys)]
            for name, row in sorted(record["metrics"].items(), key=lambda item: _ORDER.index(item[0]))
        ]
        print_table("Metrics", ["split", *keys], rows)
