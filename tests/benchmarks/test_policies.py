"""The benchmark of rankings, on Gripper with few balls."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from tests.support.gripper import carry_all

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_broken_test_instance_is_named_and_the_others_are_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    policies = importlib.import_module("policies")
    train, test = tmp_path / "gripper" / "table1", tmp_path / "gripper" / "test"
    for folder, balls in ((train, (1, 2, 3)), (test, (4, 6))):
        folder.mkdir(parents=True)
        for n in balls:
            (folder / f"p{n}.pddl").write_text(carry_all(n).text)
    (train / "domain.pddl").write_text(carry_all(1).domain.text)
    (test / "p5.pddl").write_text(carry_all(5).text.replace("ball5 roomb", "ball9 roomb"))
    (tmp_path / "notes").mkdir()
    monkeypatch.setattr(sys, "argv", ["policies.py", "--pddl", str(tmp_path), "--json"])
    policies.main()
    [row] = json.loads(capsys.readouterr().out)
    assert (row["violations"], row["tests"], row["strict"]) == (0, 3, 2)
    assert [run["solved"] for run in row["runs"]] == [True, False, True]
    assert "ball9" in row["runs"][1]["note"]
    assert row["levels"]
