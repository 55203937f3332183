"""Hostile addresses and uploads: sentences, names as they are, and nothing written elsewhere."""

import pytest

from tests.support.hostile import app as hostile

PARTS = 4


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_hostile_addresses_and_uploads(part, tmp_path) -> None:
    cases = list(hostile.cases(200, seed=0))[part::PARTS]
    found = []
    for number, case in enumerate(cases):
        (folder := tmp_path / str(number)).mkdir()
        found.append((case.name, hostile.failure(case, folder)))
    assert len(found) == 200 // PARTS
    assert [f"{name}: {reason}" for name, reason in found if reason] == []
