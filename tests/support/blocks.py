"""Small Blocks instances, also with other names and in another order."""

import random
import re
from pathlib import Path

import numpy as np

from distill.logic import Evaluator, Number
from distill.planning import Domain, Instance, expand, problem_class
from distill.structures import DataSet, join

CHECKPOINTS = Path(__file__).parents[2] / "artifacts/checkpoints"
OTHER_NAMES = {"on": "zu", "ontable": "aa", "clear": "quite", "holding": "b", "handempty": "yes"}
ALL_NAMES = {f"{old}{end}": f"{new}{end}" for old, new in OTHER_NAMES.items() for end in ("", "_G")}


def expanded(instances: list[Instance]) -> DataSet:
    return join([data for data in (expand(one, 10_000) for one in instances) if data is not None])


def small_instances() -> list[Instance]:
    return [one for one in problem_class("blocks-clear").make("train") if len(one.objects) <= 5]


def error(value: Number, states: DataSet) -> float:
    solvable = states.v_star >= 0
    return float(np.abs(Evaluator(states.structures()).number(value) - states.v_star)[solvable].max())


def rewritten(instances: list[Instance]) -> list[Instance]:
    """The same with renamed predicates, reordered declarations, shuffled objects and in another order."""
    shuffled = random.Random(3)

    def changed(text: str) -> str:
        for old, new in OTHER_NAMES.items():
            text = re.sub(rf"\({old}(?=[ )])", f"({new}", text)
        declared = re.search(r"\(:predicates (.*)\)\n", text)
        if declared:
            parts = re.findall(r"\([^()]*\)", declared[1])
            shuffled.shuffle(parts)
            text = text.replace(declared[1], " ".join(parts))
        objects = sorted(set(re.findall(r"\bb\d+\b", text)))
        others = [f"thing{number}" for number in range(len(objects))]
        shuffled.shuffle(others)
        places = dict(zip(objects, others, strict=True))
        text = re.sub(r"\bb\d+\b", lambda found: places[found[0]], text)
        return re.sub(r"\(:objects ([^)]*)\)", lambda f: f"(:objects {' '.join(sorted(f[1].split()))})", text)

    domain = Domain(changed(problem_class("blocks-clear").domain.text))
    found = [Instance(domain, changed(one.text), one.name) for one in instances]
    shuffled.shuffle(found)
    return found
