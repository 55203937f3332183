"""Hostile formulas of all kinds: refused in one sentence, or read, written and evaluated rightly."""

from tests.support.hostile import formulas as hostile
from tests.support.samples import some_and_all


@some_and_all(10)
def test_hostile_formulas(step, tmp_path):
    cases = list(hostile.cases(500, seed=0))[::step]
    found = [(case.name, hostile.failure(case, tmp_path)) for case in cases]
    assert not [f"{name}: {reason}" for name, reason in found if reason]
    assert len(found) == 500 // step
