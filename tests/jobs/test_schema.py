"""The schemas say the same as the checks."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.jobs import RunConfig, Sweep, run_schema, sweep_schema
from distill.networks import FAMILY_SETTINGS
from distill.runs import SECTIONS
from tests.support.configs import Other, contents, nowhere

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")

ROOT = Path(__file__).parents[2]
RUN, SWEEP = (jsonschema.Draft202012Validator(schema()) for schema in (run_schema, sweep_schema))


def accepted(content) -> bool:
    try:
        RunConfig.from_mapping(content, Path(), nowhere)
    except InputError:
        return False
    return True


def test_the_schemas_are_schemas():
    for schema in (run_schema(), sweep_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_setting_is_described():
    for name, kind in SECTIONS.items():
        described = run_schema()["properties"][name]["properties"]
        assert list(described) == kind.names()
        for item, own in described.items():
            assert own["description"] == kind.model_fields[item].description
            default = kind.model_fields[item].default
            assert own["default"] == (list(default) if isinstance(default, tuple) else default)
            RUN.evolve(schema=own).validate(own["default"])


def test_a_schema_knows_every_family_of_networks(monkeypatch):
    monkeypatch.setitem(FAMILY_SETTINGS, "other", Other)
    run, sweep = (jsonschema.Draft202012Validator(schema()) for schema in (run_schema, sweep_schema))
    for network, valid in (
        ({"family": "other", "heads": 2}, True),
        ({"family": "rgnn", "size": 2}, True),
        ({"family": "rgnn", "heads": 2}, False),
        ({"family": "other", "size": 2}, False),
        (None, True),
    ):
        assert run.is_valid({"problem": "gripper", "network": network}) == valid
    assert sweep.is_valid({"base": "a.yaml", "grid": {"network.heads": [1], "network.family": ["other"]}})
    assert not sweep.is_valid({"base": "a.yaml", "grid": {"network.heads": ["a"]}})


@given(contents())
def test_valid_configs_are_valid(content):
    RUN.validate(content)
    RUN.validate(RunConfig.from_mapping(content, Path(), nowhere).to_mapping())


ODD = st.sampled_from(
    [None, True, 0, 3, -1, 0.5, "", "a", "ward", "none", "true", [], ["a"], ["boolean"], {}]
)


@given(contents(), st.data())
def test_configs_with_a_mistake_are_refused_by_both(content, data):
    name = data.draw(st.sampled_from(sorted(SECTIONS)))
    item = data.draw(st.sampled_from(SECTIONS[name].names()))
    changed = {**content, name: {**(content.get(name) or {}), item: data.draw(ODD)}}
    assert RUN.is_valid(changed) == accepted(changed)


@given(
    st.dictionaries(
        st.sampled_from(
            ["problem", "domain", "instances", "train", "test", "checkpoint", "network", "training", "problm"]
        ),
        st.sampled_from(["a", "b", 3, None, {}]),
        max_size=4,
    ),
    st.booleans(),
)
def test_entries_go_together_as_the_schema_says(content, enumerated):
    if enumerated:
        content = {**content, "distillation": {"pool": "enumerate"}}
    assert RUN.is_valid(content) == accepted(content)


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("configs/**/*.yaml")), ids=lambda f: f"{f.parent.name}-{f.stem}"
)
def test_the_files_that_come_along_are_valid(file):
    content = yaml.safe_load(file.read_text())
    if file.parent.name != "sweeps":
        RUN.validate(content)
        RUN.validate(RunConfig.read(file).to_mapping())
        assert not RUN.is_valid({**content, "distilation": {}})
        assert not RUN.is_valid({**content, "distillation": {"sed": 1}})
        return
    SWEEP.validate(content)
    for job in Sweep.read(file).jobs:
        RUN.validate(job.config.to_mapping())


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"base": []},
        {"base": 3},
        {"base": {"problm": "gripper"}},
        {"base": "a.yaml", "grid": {"linkage": "ward"}},
        {"base": "a.yaml", "grid": {"linkage": []}},
        {"base": "a.yaml", "grid": {"linkag": ["ward"]}},
        {"base": "a.yaml", "grid": {"distillation.linkage": ["war"]}},
        {"base": "a.yaml", "cases": [{"seed": "a"}]},
        {"base": "a.yaml", "cases": {}},
        {"base": "a.yaml", "seeds": 0},
        {"base": "a.yaml", "seeds": [-1]},
        {"base": "a.yaml", "name": "a/b"},
        {"base": "a.yaml", "sweep": 3},
    ],
)
def test_sweeps_with_a_mistake_are_refused(content):
    assert not SWEEP.is_valid(content)


def test_all_sorts_of_sweeps_are_valid():
    SWEEP.validate(
        {
            "name": "all",
            "base": ["a.yaml", {"problem": "gripper", "distillation": None}],
            "cases": [
                {},
                {"checkpoint": None, "network": {"layers": 3}},
                {"pool": "enumerate", "seed": None},
            ],
            "grid": {"features": [["combined"], "numerical"], "labelling.walks": [1, 2]},
            "seeds": [0, 4],
        }
    )
