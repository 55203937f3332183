"""Hostile formulas of all kinds: refused in one sentence, or read, written and evaluated rightly."""

import pytest

from tests.support.hostile import formulas as hostile

PARTS = 5


@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_formulas(part, tmp_path):
    cases = list(hostile.cases(500, seed=0))[part::PARTS]
    found = [(case.name, hostile.failure(case, tmp_path)) for case in cases]
    assert not [f"{name}: {reason}" for name, reason in found if reason]
    assert len(found) == 100
