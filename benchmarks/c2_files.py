"""The C2 text of the shipped value functions, read back and evaluated by plain loops in all states.

The peer is the evaluator of the tests, which knows formulas of two variables only and loops over objects. Of
isomorphic states one is evaluated. It prints for each class the number of states and of those in which the
text differs from the function, and the time of plain loops over that of our evaluator.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from distill.explanations import ValueFunction, express
from distill.logic import Evaluator, read_formula
from distill.planning import SPLITS, prepare_reduced, problem_class

ROOT = Path(__file__).parents[1]
VALUES = ROOT / "tests" / "golden" / "expected" / "values"
sys.path.insert(0, str(ROOT))


def one(name: str) -> dict[str, Any]:
    """The states of a class, those in which the text is wrong, and the ratio of times."""
    from tests.support.two_variables import states_of

    function = ValueFunction.load(VALUES / name / "model.json")
    problem = problem_class(name)
    sets = [prepare_reduced(problem.split(split), reduce="iso")[0] for split in SPLITS]
    text = express(function.value, "c2", sets[0].vocabulary, function.bounds(sets))
    read = read_formula(text)
    ours = plain = 0.0
    states = wrong = 0
    for data in sets:
        batch = data.structures()
        begun = time.process_time()
        values = Evaluator(batch).number(read)
        ours += time.process_time() - begun
        begun = time.process_time()
        naive = np.array([state.value(read) for state in states_of(batch)])
        plain += time.process_time() - begun
        states += len(data)
        wrong += int(((np.abs(naive - data.v_star) > 1e-9) | (np.abs(values - data.v_star) > 1e-9)).sum())
    return {"class": name, "states": states, "wrong": wrong, "ratio": plain / ours}


def main() -> None:
    """Print a line for each class, or JSON."""
    names = sorted(folder.name for folder in VALUES.iterdir() if folder.is_dir())
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    parser.add_argument("--only", choices=names, action="append", help="only this class; may be repeated")
    options = parser.parse_args()
    rows = []
    for name in options.only or names:
        rows.append(one(name))
        if not options.json:
            row = rows[-1]
            print(
                f"{name}: {row['states']} states, {row['wrong']} wrong, ratio {row['ratio']:.0f}", flush=True
            )
    if options.json:
        print(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
