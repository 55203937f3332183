"""Hostile input in bulk: how many cases of each kind fail.

The tests run a few hundred cases of each kind. This script runs as many as one asks for, from another seed:

    python benchmarks/hostile.py --cases 2000 --seed 7
    python benchmarks/hostile.py pddl formulas --cases 500 --json
"""

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support import hostile

KINDS = sorted(path.stem for path in Path(hostile.__file__).parent.glob("[a-z]*.py"))


def run(kind: str, number: int, seed: int) -> dict[str, object]:
    """Run the cases of one kind and list the failures."""
    module = importlib.import_module(f"tests.support.hostile.{kind}")
    failures = []
    count = 0
    for case in module.cases(number, seed):
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            reason = module.failure(case, Path(folder))
        if reason:
            failures.append(f"{case.name}: {reason}")
        if sys.stderr.isatty():
            print(f"\r{kind}: {count} cases, {len(failures)} failures", end="", file=sys.stderr)
    return {"kind": kind, "cases": count, "seed": seed, "failures": failures}


def main() -> int:
    """Run the kinds that the command line names; the exit code is 1 if a case fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"all by default: {', '.join(KINDS)}")
    parser.add_argument("--cases", type=int, default=200, help="cases of each kind (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1; the tests use 0)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}; the kinds are {', '.join(KINDS)}")
    results = [run(kind, options.cases, options.seed) for kind in options.kinds or KINDS]
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        for result in results:
            print(f"{result['kind']}: {result['cases']} cases, {len(result['failures'])} failures")
            print("".join(f"  {line}\n" for line in result["failures"]), end="")
    return int(any(result["failures"] for result in results))


if __name__ == "__main__":
    sys.exit(main())
