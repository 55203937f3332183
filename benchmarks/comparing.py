"""Shared by the benchmarks: networks like the included ones, and a report of ratios to a peer."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass

from distill.networks import Architecture

NETWORKS = {
    "gripper": Architecture(layers=5, size=16),
    "blocks-clear": Architecture(layers=12),
    "blocks-on": Architecture(layers=12, aggregation="max"),
    "miconic": Architecture(layers=5, pooling="max"),
    "visitall": Architecture(layers=22, aggregation="max", pooling="max"),
}


@dataclass(frozen=True)
class Row:
    """One input: our seconds and the peer's, measured in the same run."""

    name: str
    ours: float
    peer: float

    @property
    def ratio(self) -> float:
        """Our time over the peer's: below 1 we are faster."""
        return self.ours / self.peer


def report(title: str, rows: Sequence[Row], limit: float | None = None) -> None:
    """Print a table, or JSON if the command line has --json."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    if parser.parse_args().json:
        listed = [{"name": r.name, "ours": r.ours, "peer": r.peer, "ratio": r.ratio} for r in rows]
        print(json.dumps({"title": title, "limit": limit, "rows": listed}, indent=1))
        return
    print(title)
    for row in rows:
        print(f"  {row.ratio:7.3g}   {row.name}")
    worst = max(row.ratio for row in rows)
    print(f"  {worst:7.3g}   worst" + (f" (limit {limit:g})" if limit else ""))
