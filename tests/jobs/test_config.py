"""Configs: what they say, where they say it, and what is told when they are wrong."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given, strategies as st
from pydantic import ValidationError

from distill.common import InputError, read_yaml
from distill.distillation import Distillation
from distill.jobs import Document, RunConfig, TrainingConfig, parse_override
from distill.jobs.run_config import key_path
from distill.networks import FAMILY_SETTINGS, Architecture, Training
from distill.planning import Labelling
from distill.runs import SECTIONS
from tests.support.configs import Other, contents, nowhere, value_of

ROOT = Path(__file__).parents[2]


def write(folder: Path, text: str, name: str = "run.yaml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


@given(contents())
def test_a_whole_config_makes_the_same_run_from_anywhere(content):
    config = RunConfig.from_mapping(content, Path("some/folder"), nowhere)
    whole = config.to_mapping()
    again, _ = read_yaml(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True), str)
    assert again == whole
    assert RunConfig.from_mapping(again, Path("elsewhere"), nowhere) == config
    assert config.with_settings({}) == config
    assert all(Path(config.source[key]).is_absolute() for key in config.source if key != "problem")


@given(contents())
def test_what_is_given_is_kept_and_the_rest_is_by_default(content):
    config = RunConfig.from_mapping(content, Path(), nowhere)
    trained = bool(content.keys() & {"network", "training"})
    assert (config.network is not None) == (config.training is not None) == trained
    assert set(config.labelling) == set(content.get("labelling", {}))
    assert Labelling.from_mapping(config.labelling, "") == Labelling.from_mapping(
        content.get("labelling", {}), ""
    )
    for name in ("network", "training", "distillation", "evaluation", "export"):
        found = getattr(config, name)
        if found is not None:
            assert found == SECTIONS[name].from_mapping(content.get(name) or {}, "")


@given(contents(), st.data())
def test_a_changed_setting_is_the_only_change(content, data):
    config = RunConfig.from_mapping(content, Path(), nowhere)
    name = data.draw(st.sampled_from(["distillation", "evaluation", "export"]))
    item = data.draw(st.sampled_from(SECTIONS[name].names()))
    value = data.draw(value_of(SECTIONS[name], item))
    if (name, item) == ("distillation", "pool"):
        value = "enumerate"
    section = getattr(config, name).replace(**{item: value})
    assert config.with_settings({f"{name}.{item}": value}) == replace(config, **{name: section})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abc.# :'\"é", min_size=1), inner, max_size=3)
        ),
    ),
    st.booleans(),
)
@example({"a": "1e3", "b": "2024-01-01", "c": "null", "d": "=", "e": "yes"}, True)
def test_plain_data_is_read_as_it_was_written(data, flow):
    text = yaml.safe_dump(data, default_flow_style=flow)
    assert read_yaml(text, str)[0] == data


@given(st.text("ab1:-#?&*!|>%@`'\"[]{},\n\t \x00\x85ü~<=.e+", max_size=30))
@example("a: &x [*x]")
@example("a: &a [1]\nb: *a")
@example("? [1]\n: 2")
@example("{" * 3000)
@example("a: !!python/object/apply:os.getcwd []")
@example("a: !!binary eA==")
@example("a: !!int x")
@example("--- 1\n--- 2")
@example("<<: {a: 1}")
@example("a: " + "9" * 5000)
def test_no_text_does_harm(text):
    try:
        found, lines = read_yaml(text, "line {}".format)
    except InputError as error:
        told = str(error)
    else:
        told = f"line {lines.get((), 1)}: {type(found).__name__}."
    assert re.match(r"line \d+: ", told)
    assert told.endswith(".")


def test_the_line_of_every_part_is_known(tmp_path):
    text = "# one\nproblem: gripper\n\ncases:\n  - a: 1\n    b:\n      [2,\n       3]\n  - {c: {d: 4}}\n"
    document = Document.read(write(tmp_path, text))
    assert dict(document.lines) == {
        (): 2,
        ("problem",): 2,
        ("cases",): 4,
        ("cases", 0): 5,
        ("cases", 0, "a"): 5,
        ("cases", 0, "b"): 6,
        ("cases", 0, "b", 0): 7,
        ("cases", 0, "b", 1): 8,
        ("cases", 1): 9,
        ("cases", 1, "c"): 9,
        ("cases", 1, "c", "d"): 9,
    }
    assert document.place("cases", 1, "c") == f"{document.path}, line 9"
    assert document.place("cases", 0, "b", 7) == f"{document.path}, line 6"
    assert document.place("nothing") == document.place() == str(document.path)


BASE = "problem: gripper\ncheckpoint: a\n"
BOMB = "a: &a [1, 1]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{last}'] * 10)}]\n"
    for last, name in zip("abcdef", "bcdefg", strict=True)
)
LARGE = "this YAML is too large (with its aliases it has more than 100,000 parts or 100 levels); correct it."
WHOLE = "distillation.seed must be a whole number from 0 to 4294967295, not"
SECONDS = "distillation.time_limit must be a number from 0 to 1000000, not"


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (BASE + "distillation:\n  seed: a", 4, f"{WHOLE} 'a'."),
        (BASE + "distillation: {seed: -1}", 3, f"{WHOLE} -1."),
        (BASE + "distillation: {seed: 1.0}", 3, f"{WHOLE} 1.0."),
        (BASE + "distillation: {seed: true}", 3, f"{WHOLE} True."),
        (BASE + "distillation: {time_limit: .nan}", 3, f"{SECONDS} nan."),
        (BASE + "distillation: {time_limit: .inf}", 3, f"{SECONDS} inf."),
        (BASE + "\n\ndistillation:\n  seed:", 6, "distillation.seed has no value; give one, or remove it."),
        (
            BASE + "distillation:\n  mode: thesis\n  linkage: war",
            5,
            "distillation.linkage must be one of ward, average, complete, single, not 'war'.",
        ),
        (
            BASE + "distillation: {features: [boolean, some]}",
            3,
            "distillation.features must be some of boolean, numerical, combined, not ['boolean', 'some'].",
        ),
        (BASE + "export:\n  report: 1", 4, "export.report must be one of true, false, not 1."),
        (
            BASE + "labelling:\n  walks: 1000000\n  walk_length: 1000000",
            4,
            "labelling.walks times walk_length must be at most 20000000, not 1000000000000.",
        ),
        (BASE + "labelling: {walk: 3}", 3, "there is no setting walk in labelling; did you mean walks?"),
        (
            BASE + "evaluation: {speed: 3}",
            3,
            "there is no setting speed in evaluation; choose from max_steps.",
        ),
        (
            "problem: gripper\nnetwork:\n  size: 8\n  family: rgn",
            4,
            "there is no family rgn of networks; did you mean rgnn?",
        ),
        ("problem: gripper\nnetwork: {family: 3}", 2, "network.family must be one of rgnn, not 3."),
        (BASE + "evaluation: 7", 3, "evaluation must hold settings by name, not 7."),
        (BASE + "evaluation: [7]", 3, "evaluation must hold settings by name, not [7]."),
        (BASE + "exprt: {}", 3, "there is no entry exprt; did you mean export?"),
        (
            BASE + "seed: 3",
            3,
            "there is no entry seed; it is a setting of labelling or training or distillation.",
        ),
        ("problem: gripper\ncheckpoint:", 2, "checkpoint has no value; give one, or remove it."),
        ("problem: gripper\ncheckpoint: ''", 2, "checkpoint must be a path, not ''."),
        ("problem: 3\ncheckpoint: a", 1, "problem must be a name, not 3."),
        (BASE + "problem: miconic", 3, "problem is given twice, first in line 1; remove one."),
        (BASE + "training: {seed: 1}", 2, "a checkpoint excludes training; give either a trained network or"),
        ("- problem", 1, "a list has no entries; write some, such as `problem: gripper`."),
        (
            "\n# words\njust words",
            3,
            "a single value has no entries; write some, such as `problem: gripper`.",
        ),
        (BASE + "export: [", 3, "this is not YAML ("),
        (BASE + "export:\n\treport: true", 4, "a tab is not YAML; use spaces."),
        (
            "problem: gripper\nproblem gripper",
            2,
            "this is not YAML (could not find expected ':'); correct it.",
        ),
        (BASE + "export: \x07", 3, "this is not YAML (special characters are not allowed); correct it."),
        (BASE + "x: &a [*a]", 3, LARGE),
        (BASE + BOMB, 4, LARGE),
        (
            BASE + "x: !!python/name:os.system ''",
            3,
            "the tag tag:yaml.org,2002:python/name:os.system is not known",
        ),
        (BASE + "[1]: 2", 3, "a name must not be a list or a mapping; correct it."),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, text, line, told):
    file = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        RunConfig.read(file)
    assert str(caught.value).startswith(f"{file}, line {line}: {told}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", " has no entries; write some, such as `problem: gripper`."),
        ("# only a comment", " has no entries; write some, such as `problem: gripper`."),
        ("problem: gripper", " must name a checkpoint, or a network to train."),
        ("problem: gripper\ndistillation: {pool: both}", " must name a checkpoint, or a network to train."),
        ("checkpoint: a", " must name a problem, or a domain with instances."),
        ("checkpoint: a\ndomain: d", " must name a problem, or a domain with instances."),
        ("checkpoint: a\ninstances: d", " must name a problem, or a domain with instances."),
        (BASE + "domain: d", " must name either a problem or a domain with instances, not both."),
        (
            "checkpoint: a\ndomain: d\ninstances: i\ntest: t",
            " must give either instances or folders for the splits, not both.",
        ),
    ],
)
def test_mistakes_of_the_whole_file_are_told(tmp_path, text, told):
    file = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        RunConfig.read(file)
    assert str(caught.value) == f"{file}{told}"


def test_files_that_cannot_be_read_are_told(tmp_path):
    with pytest.raises(
        InputError, match=r"Cannot read .*no\.yaml: No such file or directory; check the path\.$"
    ):
        RunConfig.read(tmp_path / "no.yaml")
    (tmp_path / "latin.yaml").write_bytes("problem: gr\u00fc".encode("latin-1"))
    with pytest.raises(InputError, match=r"latin\.yaml: it is not UTF-8 text"):
        RunConfig.read(tmp_path / "latin.yaml")


def test_configs_of_trainings_tell_lines_too(tmp_path):
    file = write(tmp_path, "problem: gripper\nnetwork:\n  layers: many\n")
    with pytest.raises(InputError, match=r"run\.yaml, line 3: network\.layers must be a whole number"):
        TrainingConfig.read(file)
    file.write_text("problem: gripper\ntraining: {learning_rate: 1e-3}\n")
    config = TrainingConfig.read(file)
    assert config.network == Architecture()
    assert config.training == Training(learning_rate=0.001)


def test_a_network_is_named_or_trained(tmp_path):
    for given_, (network, training) in {
        "network: {layers: 3}": (Architecture(layers=3), Training()),
        "training: {epochs: 3}": (Architecture(), Training(epochs=3)),
        "network:": (Architecture(), Training()),
        "distillation: {pool: enumerate}": (None, None),
    }.items():
        config = RunConfig.read(write(tmp_path, f"problem: gripper\n{given_}\n"))
        assert (config.network, config.training, config.checkpoint) == (network, training, None)
    named = RunConfig.read(write(tmp_path, BASE))
    assert (named.network, named.training, named.checkpoint) == (None, None, tmp_path / "a")


def test_the_family_of_networks_decides_which_settings_there_are(tmp_path, monkeypatch):
    monkeypatch.setitem(FAMILY_SETTINGS, "other", Other)
    named = RunConfig.read(write(tmp_path, "problem: gripper\nnetwork: {family: rgnn, size: 8}\n"))
    assert named == RunConfig.read(write(tmp_path, "problem: gripper\nnetwork: {size: 8}\n"))
    assert "family" not in named.to_mapping()["network"]
    file = write(tmp_path, "problem: gripper\nnetwork:\n  family: other\n  heads: 2\n")
    config = RunConfig.read(file)
    assert config.network == TrainingConfig.read(file).network == Other(heads=2)
    assert config.to_mapping()["network"] == {"family": "other", "heads": 2, "parts": []}
    assert RunConfig.from_mapping(config.to_mapping(), Path(), nowhere) == config
    assert parse_override("network.parts=left,right") == ("network.parts", ["left", "right"])
    assert config.with_settings({"network.heads": 3}).network == Other(heads=3)
    assert named.with_settings({"network": {"family": "other"}}).network == Other()
    for network, told in {
        "{family: other, size: 8}": "there is no setting size in network; choose from family, heads, parts.",
        "{heads: 2}": "there is no setting heads in network; choose from family, layers, size,",
    }.items():
        with pytest.raises(InputError) as caught:
            RunConfig.read(write(tmp_path, f"problem: gripper\nnetwork: {network}\n"))
        assert str(caught.value).startswith(f"{file}, line 2: {told}")


def test_settings_are_values():
    one = Distillation(features=("boolean",), time_limit=5)
    assert one == Distillation().replace(features=["boolean"], time_limit=5.0)
    assert hash(one) == hash(Distillation(**dict(one)))
    assert one != Distillation()
    with pytest.raises(ValidationError):
        one.seed = 3
    with pytest.raises(ValidationError):
        one.replace(linkage="war")
    with pytest.raises(ValidationError):
        one.replace(sed=3)


def test_the_first_mistake_of_a_file_is_told(tmp_path):
    text = BASE + "distillation:\n  seed: a\n  mode: b\n"
    with pytest.raises(InputError, match=r"line 4: distillation\.seed must be"):
        RunConfig.read(write(tmp_path, text))


def test_labelling_overrides_only_what_is_given(tmp_path):
    config = RunConfig.read(write(tmp_path, BASE + "labelling: {walks: 7, search: blind, time_limit: 5}"))
    assert config.labelling == {"walks": 7, "search": ["blind"], "time_limit": 5.0}
    declared = RunConfig.read(write(tmp_path, BASE)).splits()
    for split, before in zip(config.splits(), declared, strict=True):
        assert split.labelling == before.labelling.replace(walks=7, search=("blind",), time_limit=5.0)


def test_paths_are_relative_to_the_config(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    file = write(tmp_path / "sub", "domain: ../d.pddl\ntrain: here\ncheckpoint: ../nets/a.safetensors\n")
    monkeypatch.chdir(tmp_path)
    config = RunConfig.read(Path("sub/run.yaml"))
    assert config.source == {"domain": str(tmp_path / "d.pddl"), "train": str(tmp_path / "sub" / "here")}
    assert config.checkpoint == tmp_path / "nets" / "a.safetensors"
    assert config == RunConfig.read(file)


def test_a_problem_may_be_a_file_beside_the_config(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    file = write(tmp_path / "sub", "problem: mine.yaml\ncheckpoint: a\n")
    assert RunConfig.read(file).source == {"problem": "mine.yaml"}
    write(tmp_path, "", "mine.yaml")
    assert RunConfig.read(file).source == {"problem": str(tmp_path / "mine.yaml")}
    write(tmp_path / "sub", "", "mine.yaml")
    assert RunConfig.read(file).source == {"problem": str(tmp_path / "sub" / "mine.yaml")}
    (tmp_path / "gripper").mkdir()
    assert RunConfig.read(write(tmp_path, BASE)).to_mapping()["problem"] == "gripper"


@given(contents())
def test_every_setting_has_a_key(content):
    for name, section in RunConfig.from_mapping(content, Path(), nowhere).to_mapping().items():
        if name in SECTIONS:
            assert all(key_path(f"{name}.{setting}", "") == (name, setting) for setting in section)
        else:
            assert key_path(name, "") == (name,)


@pytest.mark.parametrize("file", sorted(ROOT.glob("configs/[rt]*/*.yaml")), ids=lambda f: f.stem)
def test_all_configs_that_come_along_say_a_run(file, tmp_path):
    config = RunConfig.read(file)
    whole = write(tmp_path, yaml.safe_dump(config.to_mapping()))
    assert RunConfig.read(whole) == config
    assert (config.checkpoint is None) == (config.network is not None)
    assert config.checkpoint is None or config.checkpoint.exists()
