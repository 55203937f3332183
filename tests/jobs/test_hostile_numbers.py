import re

from distill.common import Settings
from distill.distillation import Distillation
from distill.evaluation import Measurement
from distill.networks import FAMILY_SETTINGS, Training
from distill.planning import Labelling
from distill.runs import Export
from tests.golden.support import command_tree
from tests.support.commands import distill
from tests.support.hostile import refused, settings as hostile
from tests.support.samples import some_and_all

GROUPS: dict[str, list[type[Settings]]] = {
    "labelling": [Labelling],
    "network": list(FAMILY_SETTINGS.values()),
    "training": [Training],
    "distillation": [Distillation],
    "evaluation": [Measurement],
    "export": [Export],
}


def test_all_numeric_settings_are_covered():
    declared = {
        (section, name)
        for section, kinds in GROUPS.items()
        for kind in kinds
        for name, item in kind.model_fields.items()
        if type(item.default) in (int, float)
    }
    assert {(number.path[0], number.path[-1]) for number in hostile.settings()} == declared
    assert len(declared) > 35


def test_all_numeric_options_are_covered():
    declared = {
        (*path.split()[1:], re.search(r" (--[a-z-]+)", line)[1])
        for path, lines in command_tree().items()
        for line in lines
        if re.search(r"\b(int|float)\b", line)
    }
    assert {number.path for number in hostile.options()} == declared
    assert len(declared) > 40


def test_every_number_has_a_range():
    for number in [*hostile.settings(), *hostile.options()]:
        assert number.least is not None, number
        assert number.most is not None, number
        assert number.least < number.most, number


@some_and_all(7)
def test_odd_values_of_every_number(step, tmp_path):
    cases = list(hostile.every())[::step]
    failures = [f"{case.name}: {reason}" for case in cases if (reason := hostile.failure(case, tmp_path))]
    assert not failures


def test_random_values(tmp_path):
    cases = list(hostile.cases(300, seed=0))
    failures = [f"{case.name}: {reason}" for case in cases if (reason := hostile.failure(case, tmp_path))]
    assert not failures


def test_the_command_ends_with_code_2_and_one_line(tmp_path):
    (tmp_path / "run.yaml").write_text("problem: gripper\ntraining: {epochs: 0}\n")
    for command in (
        ["config", "check", tmp_path / "run.yaml"],
        ["run", tmp_path / "run.yaml", "--out", tmp_path / "runs"],
        ["data", "gripper", "--time-limit", 0],
        ["app", "--port", -1],
        ["stability", "x.yaml", "--networks", 10**12],
    ):
        done = distill(*command)
        assert refused(done, (2,)) is None
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "runs").exists()
