"""The value functions of the five networks that come along: the same formulas, byte for byte."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.golden.support import (
    CLASSES,
    DEMO,
    EXPECTED,
    FILES,
    ROOT,
    Golden,
    World,
    different,
    distilled_files,
)

# A function depends on training and validation states only, so these copies of the classes declare no test
# states: labelling them takes longest. Whole runs give the same files.
SLOW = ("blocks-on", "gripper", "miconic", "visitall")


def value_files(run: Path) -> dict[str, str]:
    """The value function in all forms, with the model."""
    return {file.name: file.read_bytes().decode() for file in [*run.glob("value.*"), run / "model.json"]}


def expected_name(problem: str, file: str) -> str:
    """Where the expected text stands; the Python file ends in .txt, so that no tool takes it for code."""
    return f"values/{problem}/{file}.txt" if file.endswith(".py") else f"values/{problem}/{file}"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CLASSES]
)
def test_a_network_that_comes_along(name: str, world: World, golden: Golden) -> None:
    checkpoint = ROOT / "artifacts" / "checkpoints" / f"{name}.safetensors"
    problem = FILES / "classes" / f"{name}.yaml"
    found = distilled_files(problem, checkpoint, world.base / "cache")
    assert len(found) == 9
    golden.check({expected_name(name, file): text for file, text in found.items()})


def test_the_run_that_comes_along() -> None:
    found = value_files(DEMO)
    assert len(found) == len(list((EXPECTED / "values" / "gripper").iterdir()))
    for file, text in found.items():
        assert text == (EXPECTED / expected_name("gripper", file)).read_bytes().decode(), file


@pytest.mark.slow
def test_the_whole_run_that_comes_along(world: World) -> None:
    """Its config gives the same name, metrics and files again; not its log, and texts about the settings.

    Numbers that are computed with floats may differ in their last digits.
    """
    made = world.run(str(ROOT / "configs" / "runs" / "gripper.yaml"), store="whole")
    assert made.name == DEMO.name
    same = [file for file in DEMO.iterdir() if file.suffix in (".json", ".npz", ".safetensors", ".txt")]
    same = [file for file in same if file.name != "inputs.json"]
    same += [DEMO / name for name in ("value.pddl", "value.py", "value.tex")]
    for file in same:
        if file.suffix == ".json":
            found, expected = (json.loads((folder / file.name).read_text()) for folder in (made, DEMO))
            assert list(different(found, expected)) == [], file.name
        elif file.suffix == ".npz":
            with np.load(made / file.name) as found, np.load(file) as expected:
                assert found.files == expected.files
                for name in found.files:
                    np.testing.assert_allclose(
                        found[name], expected[name], rtol=1e-4, atol=1e-4, err_msg=name
                    )
        else:
            assert (made / file.name).read_bytes() == file.read_bytes(), file.name
