"""`distill config`, as a user runs it."""

import json
import re
from pathlib import Path

import pytest
import yaml

from distill.jobs import RunConfig, config_template, run_schema, sweep_schema
from distill.runs import SECTIONS
from tests.support.commands import answer, distill

ROOT = Path(__file__).parents[2]
GRIPPER = ROOT / "configs/runs/gripper.yaml"


def test_a_new_config_can_be_checked_and_is_never_written_over(tmp_path):
    checkpoint = ROOT / "artifacts/checkpoints/gripper.safetensors"
    out, schema = tmp_path / "configs/mine.yaml", tmp_path / "schema.json"
    arguments = "config", "init", "--problem", "miconic", "--checkpoint", checkpoint, "--out", out
    done = distill(*arguments, "--schema", schema)
    assert done.returncode == 0, done.stderr
    assert f"distill config check {out}" in " ".join(done.stdout.split())
    assert RunConfig.read(out) == RunConfig({"problem": "miconic"}, checkpoint)
    assert out.read_text().startswith(f"# yaml-language-server: $schema={schema}\n")
    assert json.loads(schema.read_text()) == run_schema()
    assert answer("config", "check", out) == RunConfig.read(out).to_mapping()
    out.write_text("mine")
    again = distill(*arguments)
    assert again.returncode == 2
    assert "exists already; remove it, or give another name" in " ".join(again.stderr.split())
    assert out.read_text() == "mine"


def test_a_new_config_of_files_names_them_relative_to_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    done = distill("config", "init", "--domain", "d.pddl", "--instances", "sub/i", "--out", "sub/new.yaml")
    assert done.returncode == 0, done.stderr
    text = Path("sub/new.yaml").read_text()
    assert "\ndomain: ../d.pddl\n" in text
    assert "\ninstances: i\n" in text
    assert "$schema" not in text
    config = RunConfig.read(tmp_path / "sub/new.yaml")
    assert config.source == {"domain": str(tmp_path / "d.pddl"), "instances": str(tmp_path / "sub/i")}
    assert config.network is not None


@pytest.mark.parametrize("entries", [{"problem": "gripper"}, {"problem": "gripper", "checkpoint": "/a"}])
def test_a_new_config_shows_every_setting_with_its_default(entries):
    text = config_template(entries)
    assert max(map(len, text.splitlines())) <= 110
    content = yaml.safe_load(text)
    assert {key: value for key, value in content.items() if value is not None} == entries
    shown = yaml.safe_load(re.sub(r"^( *)#(\w+:)", r"\1\2", text, flags=re.MULTILINE))
    assert {name: shown[name] for name in SECTIONS} == {
        name: kind().to_mapping() for name, kind in SECTIONS.items()
    }
    for kind in SECTIONS.values():
        for item in kind.names():
            assert kind.description(item).split()[0] in text


def test_a_config_is_shown_with_all_defaults():
    shown = distill("config", "check", GRIPPER, "--set", "seed=3", "--set", "features=numerical,combined")
    assert shown.returncode == 0, shown.stderr
    whole = yaml.safe_load(shown.stdout)
    expected = RunConfig.read(GRIPPER).to_mapping()
    expected["distillation"] |= {"seed": 3, "features": ["numerical", "combined"]}
    assert whole == expected
    free = answer("config", "check", GRIPPER, "--set", "checkpoint=null", "--set", "pool=enumerate")
    assert "checkpoint" not in free


def test_a_sweep_is_told_by_what_it_plans(tmp_path):
    assert answer("config", "check", ROOT / "configs/sweeps/seeds.yaml", "--set", "inner_depth=3") == {
        "name": "seeds",
        "jobs": 30,
        "varied": {
            "base": ["gripper", "miconic", "blocks-clear", "blocks-on", "visitall"],
            "distillation.seed": [0, 1, 2, 3, 4, 5],
        },
        "errors": [],
    }
    (tmp_path / "two.yaml").write_text(f"base: {GRIPPER}\ngrid:\n  linkage: [ward, war]\n")
    done = distill("config", "check", tmp_path / "two.yaml")
    assert done.returncode == 1
    assert "The sweep two: 2 jobs" in done.stdout
    assert "1 of 2 jobs cannot run." in done.stdout
    assert "two.yaml, line 3: distillation.linkage must be one of ward" in " ".join(done.stdout.split())
    told = distill("config", "check", tmp_path / "two.yaml", "--json")
    assert told.returncode == 1
    [error] = json.loads(told.stdout)["errors"]
    assert error["settings"] == {"distillation.linkage": "war"}


def test_schemas_are_printed_or_written(tmp_path):
    assert json.loads(distill("config", "schema").stdout) == run_schema()
    done = distill("config", "schema", "--sweep", "--out", tmp_path / "sweep.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "sweep.json").read_text()) == sweep_schema()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("check", "no.yaml"), "Cannot read no.yaml"),
        (("check", GRIPPER, "--set", "problem=chess"), "There is no problem class 'chess'"),
        (("check", GRIPPER, "--set", "sed=1"), "did you mean seed?"),
        (("check", GRIPPER, "--set", "seed=a"), "The options: distillation.seed must be a whole number"),
        (("check", ROOT / "configs/sweeps/seeds.yaml", "--set", "seed=1"), "is given by seeds of the sweep"),
        (("init", "--problem", "chess"), "There is no problem class 'chess'"),
        (("init", "--problem", "gripper", "--domain", "d"), "either a problem or a domain"),
        (("init", "--instances", "d"), "must name a problem, or a domain with instances"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments, told):
    done = distill("config", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
