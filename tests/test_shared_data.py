"""The counts of published instances; skipped where the instances made by others are not at hand."""

import json
from pathlib import Path

import pytest

from distill.planning import (
    Domain,
    Labelling,
    Limits,
    find_plan,
    prepare,
    splits_by_size,
    splits_from_folders,
    validate,
)
from distill.planning.fast_downward import find_driver

TABLE_1 = ["gripper", "ferry", "spanner", "blocks4ops-clear", "blocks4ops-on", "reward", "miconic"]
COUNTS = ["instances", "solvable_instances", "states", "states_of_solvable_instances", "max_v_star"]


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE_1)
def test_counts_of_table_1(shared_pddl: Path, name: str) -> None:
    folder = shared_pddl / name / "table1"
    expected = json.loads((shared_pddl / "EXPECTED.json").read_text())[name]
    [split] = splits_from_folders(Domain.read(folder / "domain.pddl"), {"train": folder}, Labelling())
    summary = prepare(split)[0].summary()
    assert {key: summary[key] for key in COUNTS} == {key: expected[key] for key in COUNTS}
    assert summary["exhaustive_instances"] == summary["instances"]
    assert summary["distinct_states"] <= summary["states"]


@pytest.mark.skipif(find_driver() is None, reason="Fast Downward (extra `planners`) is not installed")
@pytest.mark.parametrize(
    # Not Spanner: its dead ends, too few spanners left, keep LAMA busy for minutes.
    "name",
    [f"{n}/test" for n in TABLE_1 if n != "spanner"] + ["kr22/gripper/test", "kr22/blocks/test"],
)
@pytest.mark.slow
def test_large_instances_are_read_and_planned(shared_pddl: Path, name: str) -> None:
    folder = shared_pddl / name
    splits = splits_by_size(Domain.read(folder / "domain.pddl"), folder, Labelling())
    instances = [instance for split in splits for instance in split.instances]
    smallest = min(instances, key=lambda instance: len(instance.text))
    outcome = find_plan("lama", smallest, None, Limits(seconds=60))
    assert outcome.status == "solved"
    assert validate(smallest, outcome.plan).valid
