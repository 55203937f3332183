"""Rankings for full domains: found without a network, and executed on larger instances.

`--pddl FOLDER` names a folder whose subfolders have `table1` with the instances to learn from and `test` with
larger ones, as in the tables of Drexler et al.; the domain is `table1/domain.pddl`. All reachable states of
training instances of at most `--max-states` states are known. Each ranking is executed strictly on the
tests: only transitions that descend are taken, and visited states are not remembered. The ratio compares our
processor time, from expanded states to the ranking, with the published time of the sketch learner, which was
measured on another machine.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distill.common import InputError
from distill.distillation import TEACHERS, Distillation, distil_policy
from distill.evaluation import descending_policy
from distill.planning import (
    SOLVED,
    Domain,
    Instance,
    Labelling,
    Solver,
    instance_files,
    prepare,
    splits_from_folders,
    validate,
)

PUBLISHED = {
    "blocks_3": ("3 features, 7 rules", 31_512),
    "delivery": ("3 features, 9 rules", 321),
    "ferry": ("3 features, 4 rules", 157),
    "gripper": ("2 features, 4 rules", 1),
    "miconic": ("3 features, 4 rules", 50),
    "reward": ("2 features, 2 rules", 12),
    "spanner": ("2 features, 3 rules", 5),
    "visitall": ("2 features, 3 rules", 98),
}
"""For each domain the policy of the sketch learner of width 0, and the seconds it took."""


def executed(domain: Domain, files: Sequence[Path], solve: Solver) -> list[dict[str, Any]]:
    """The result of a policy on each instance; plans are validated."""
    rows = []
    for number, file in enumerate(files, 1):
        print(f"\r{file.parent}: {number}/{len(files)}", end="\033[K", file=sys.stderr, flush=True)
        try:
            instance = Instance.read(domain, file)
            outcome = solve(instance)
        except InputError as error:
            rows.append({"instance": file.name, "solved": False, "note": str(error)})
            continue
        solved = outcome.status == SOLVED and validate(instance, outcome.plan).valid
        row = {"instance": file.name, "solved": solved, "length": len(outcome.plan)}
        rows.append(row if solved else {**row, "note": outcome.note})
    return rows


def one(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The ranking of a domain, and its results on the test instances."""
    domain = Domain.read(folder / "table1" / "domain.pddl")
    labelling = Labelling(max_states=options.max_states)
    [split] = splits_from_folders(domain, {"train": folder / "table1"}, labelling)
    data, _ = prepare(split, reduce="none")
    begun = time.process_time()
    found = distil_policy(
        None,
        data,
        Distillation(pool="enumerate", seed=options.seed),
        teacher=options.teacher,
        progress=lambda part, done, total: print(
            f"\r{folder.name}: {part} {done}/{total}", end="\033[K", file=sys.stderr, flush=True
        ),
    )
    seconds = time.process_time() - begun
    files = instance_files(folder / "test")[: options.tests]
    rows = executed(domain, files, descending_policy(found.ranking, options.steps))
    print("\r", end="\033[K", file=sys.stderr, flush=True)
    sketch, published = PUBLISHED.get(folder.name, ("", 0))
    return {
        "domain": folder.name,
        "levels": [str(level) for level in found.ranking.levels],
        "size": found.ranking.size,
        "states": found.states,
        "situations": found.situations,
        "violations": found.violations,
        "pool_size": found.pool_size,
        "rounds": found.rounds,
        "blocking": list(found.blocking),
        "tests": len(rows),
        "strict": sum(row["solved"] for row in rows),
        "length": sum(row["length"] for row in rows if row["solved"]),
        "runs": rows,
        "sketch": sketch,
        "ratio": seconds / published if published else None,
    }


def show(row: dict[str, Any]) -> None:
    """Print the results of a domain."""
    if "error" in row:
        print(f"{row['domain']}: {row['error']}")
        return
    ratio = f"{row['ratio']:.3f}" if row["ratio"] else "–"
    print(
        f"{row['domain']}: ({', '.join(row['levels'])})\n"
        f"  {row['size']} symbols, from {row['pool_size']} features in {row['rounds']} rounds; violations in "
        f"{row['violations']} of {row['states']} states ({row['situations']} situations)\n"
        f"  tests, strictly descending: {row['strict']} of {row['tests']}; time over that of the sketch "
        f"learner ({row['sketch']}; another machine): {ratio}",
        flush=True,
    )
    for test in (test for test in row["runs"] if not test["solved"]):
        print(f"  {test['instance']}: {test['note']}")
    for state in row["blocking"][:1]:
        print(f"  blocked: {state['atoms']}")


def main() -> None:
    """Print the results, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--pddl", type=Path, help="the folder of domains")
    parser.add_argument("--only", action="append", help="only this domain; may be repeated")
    parser.add_argument("--teacher", choices=[one for one in TEACHERS if one != "model"], default="optimal")
    parser.add_argument("--max-states", type=int, default=1000, help="of an instance to learn from")
    parser.add_argument("--tests", type=int, default=30, help="at most so many test instances of a domain")
    parser.add_argument("--steps", type=int, default=10_000, help="limit on the length of a plan")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.pddl is None:
        print("Skipped: name a folder of domains with --pddl FOLDER.")
        return
    rows = []
    for folder in sorted(options.pddl.iterdir()):
        if not (folder / "table1").is_dir() or (options.only and folder.name not in options.only):
            continue
        try:
            rows.append(one(folder, options))
        except InputError as error:
            rows.append({"domain": folder.name, "error": str(error)})
        if not options.json:
            show(rows[-1])
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
