"""Sweeps: which jobs they plan, and what is told when they are wrong."""

from itertools import product
from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from distill.common import InputError
from distill.distillation import Distillation
from distill.jobs import RunConfig, Sweep

ROOT = Path(__file__).parents[2]
INLINE = "base: {problem: gripper, checkpoint: /a}\n"


def write(folder: Path, text: str, name: str = "sweep.yaml") -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def planned(folder: Path, text: str) -> list[dict]:
    sweep = Sweep.read(write(folder, text))
    assert all(job.error is None for job in sweep.jobs)
    return [dict(job.settings) for job in sweep.jobs]


def test_jobs_stand_in_the_order_of_their_nesting(tmp_path):
    write(tmp_path, "problem: gripper\ncheckpoint: net\n", "runs/one.yaml")
    write(tmp_path, "problem: miconic\ncheckpoint: net\ndistillation: {mode: thesis}\n", "runs/two.yaml")
    text = """
name: everything
base: [runs/one.yaml, runs/two.yaml]
cases:
  - {distillation.pool: ridt}
  - {pool: enumerate, checkpoint: null}
grid:
  linkage: [ward, average]
  distillation.intercept: [true, false]
seeds: [5, 3]
"""
    sweep = Sweep.read(write(tmp_path, text))
    assert sweep.name == "everything"
    cases = [{"distillation.pool": "ridt"}, {"distillation.pool": "enumerate", "checkpoint": None}]
    expected = [
        {"base": base, **case, "distillation.linkage": a, "distillation.intercept": b, "distillation.seed": c}
        for base, case, a, b, c in product(("one", "two"), cases, ("ward", "average"), (True, False), (5, 3))
    ]
    assert [job.settings for job in sweep.jobs] == expected
    for job in sweep.jobs:
        config, said = job.config, job.settings
        assert config.source == {"problem": {"one": "gripper", "two": "miconic"}[said["base"]]}
        assert config.checkpoint == (None if "checkpoint" in said else tmp_path / "runs" / "net")
        assert config.distillation == Distillation(
            mode={"one": "readable", "two": "thesis"}[said["base"]],
            pool=said["distillation.pool"],
            linkage=said["distillation.linkage"],
            intercept=said["distillation.intercept"],
            seed=said["distillation.seed"],
        )
    assert sweep.varied == [
        "base",
        "distillation.pool",
        "distillation.linkage",
        "distillation.intercept",
        "distillation.seed",
        "checkpoint",
    ]
    assert sweep.values("distillation.seed") == [5, 3]
    assert sweep.values("checkpoint") == [None]


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "linkage": st.lists(st.sampled_from(["average", "complete", "single"]), min_size=1, max_size=4),
            "inner_depth": st.lists(st.integers(0, 3), min_size=1, max_size=3),
            "intercept": st.lists(st.booleans(), min_size=1, max_size=3),
        },
    ),
    st.one_of(st.integers(1, 4), st.lists(st.integers(0, 5), min_size=1, max_size=4)),
)
def test_every_combination_occurs_once(tmp_path_factory, grid, seeds):
    base = {"problem": "gripper", "checkpoint": "/a"}
    text = yaml.safe_dump({"base": base, "grid": grid, "seeds": seeds}, sort_keys=False)
    sweep = Sweep.read(write(tmp_path_factory.getbasetemp(), text))
    values = [*grid.values(), list(range(seeds)) if isinstance(seeds, int) else seeds]
    wanted = list(dict.fromkeys(product(*values)))
    assert [tuple(job.settings.values()) for job in sweep.jobs] == wanted
    for job, combination in zip(sweep.jobs, wanted, strict=True):
        changes = dict(zip([*grid, "seed"], combination, strict=True))
        assert job.config == RunConfig.from_mapping(base, Path(), str).with_settings(changes)
    for name, given_ in grid.items():
        assert (f"distillation.{name}" in sweep.varied) == (len(set(given_)) > 1)


def test_a_sample_draws_different_combinations_for_each_base_and_all_seeds_of_each(tmp_path):
    grid = "grid: {inner_depth: [1, 2, 3, 4, 5], final_depth: [1, 2, 3, 4, 5], intercept: [true, false]}"
    bases = "base: [{problem: gripper, checkpoint: /a}, {problem: miconic, checkpoint: /b}]"
    text = f"{bases}\n{grid}\nsample: 6\nseeds: 2\n"
    drawn: dict[str, list[tuple[int, int, bool]]] = {"gripper": [], "miconic": []}
    for job in planned(tmp_path, text):
        chosen = tuple(job[f"distillation.{name}"] for name in ("inner_depth", "final_depth", "intercept"))
        drawn[job["base"]].append(chosen)
    for combinations in drawn.values():
        assert len(combinations) == 12
        assert len(set(combinations)) == 6
        assert combinations[::2] == combinations[1::2]  # seeds 0 and 1
    assert set(drawn["gripper"]) != set(drawn["miconic"])
    assert planned(tmp_path, text) == planned(tmp_path, text)
    # A sample as large as the grid is the grid.
    assert planned(tmp_path, INLINE + grid + "\nsample: 99") == planned(tmp_path, INLINE + grid)


def test_a_base_alone_is_one_job(tmp_path):
    sweep = Sweep.read(write(tmp_path, INLINE))
    [job] = sweep.jobs
    assert sweep.name == "sweep"
    assert job.settings == {}
    assert job.config == RunConfig({"problem": "gripper"}, Path("/a"))
    assert sweep.varied == []


def test_equal_jobs_occur_once(tmp_path):
    assert planned(tmp_path, INLINE + "seeds: [2, 2, 1]") == [
        {"distillation.seed": 2},
        {"distillation.seed": 1},
    ]
    # The default of linkage is ward, so that the first two cases say the same.
    cases = "cases: [{}, {linkage: ward}, {linkage: single}]"
    assert planned(tmp_path, INLINE + cases) == [{}, {"distillation.linkage": "single"}]
    assert Sweep.read(tmp_path / "sweep.yaml").varied == ["distillation.linkage"]


def test_bases_have_names_that_tell_them_apart(tmp_path):
    for name in ("runs/gripper.yaml", "thesis/gripper.yaml", "runs/miconic.yaml"):
        config = f"problem: {Path(name).stem}\ncheckpoint: /{Path(name).parent}\n"
        write(tmp_path, config, name)
    for bases, names in {
        "[runs/gripper.yaml, runs/miconic.yaml]": ["gripper", "miconic"],
        "[runs/gripper.yaml, thesis/gripper.yaml]": ["runs/gripper", "thesis/gripper"],
        "[{problem: gripper, checkpoint: /a}, {problem: gripper, checkpoint: /b}]": [
            "gripper 1",
            "gripper 2",
        ],
        "[runs/miconic.yaml, {domain: b/d.pddl, instances: i, checkpoint: /a}]": ["miconic", "d"],
    }.items():
        assert [settings["base"] for settings in planned(tmp_path, f"base: {bases}")] == names
    assert planned(tmp_path, "base: [runs/gripper.yaml]") == [{}]


def test_paths_are_relative_to_where_they_are_written(tmp_path):
    write(tmp_path, "domain: d.pddl\ninstances: i\ncheckpoint: a\n", "runs/one.yaml")
    text = "base: ../runs/one.yaml\ngrid: {checkpoint: [b, ../c]}\ncases: [{}, {instances: j}]\n"
    sweep = Sweep.read(write(tmp_path, text, "sweeps/paths.yaml"))
    assert [job.config.checkpoint for job in sweep.jobs[:2]] == [tmp_path / "sweeps" / "b", tmp_path / "c"]
    assert [job.config.source["instances"] for job in sweep.jobs[1:3]] == [
        str(tmp_path / "runs" / "i"),
        str(tmp_path / "sweeps" / "j"),
    ]
    assert {job.config.source["domain"] for job in sweep.jobs} == {str(tmp_path / "runs" / "d.pddl")}
    assert [job.settings["checkpoint"] for job in sweep.jobs[:2]] == ["b", "../c"]


def test_whole_sections_can_be_varied(tmp_path):
    base = "base: {problem: gripper}\n"
    sweep = Sweep.read(write(tmp_path, base + "grid: {network: [{layers: 2}, {layers: 3, size: 4}]}\n"))
    assert [(job.config.network.layers, job.config.network.size) for job in sweep.jobs] == [(2, 32), (3, 4)]
    assert sweep.varied == ["network"]
    cases = "cases: [{network.size: 4}, {network: {layers: 2}, network.size: 5}]\n"
    sweep = Sweep.read(write(tmp_path, base + cases))
    assert [(job.config.network.layers, job.config.network.size) for job in sweep.jobs] == [(5, 4), (2, 5)]


def test_a_mistake_in_one_combination_leaves_the_others(tmp_path):
    text = """base: {problem: gripper, checkpoint: /a}
cases:
  - {}
  - checkpoint: null
  - network: {layers: 2}
grid:
  linkage:
    - ward
    - war
seeds: 2
"""
    file = write(tmp_path, text)
    sweep = Sweep.read(file)
    wrong = "distillation.linkage must be one of ward, average, complete, single, not 'war'."
    beside = "a checkpoint excludes network; give either a trained network or the settings to train one."
    needs = f"{file}, line 1 must name a checkpoint, or a network to train."
    told = [
        *[None] * 2,
        *[f"{file}, line 9: {wrong}"] * 2,
        *[needs] * 2,
        *[f"{file}, line 9: {wrong}"] * 2,
        *[f"{file}, line 1: {beside}"] * 2,
        *[f"{file}, line 9: {wrong}"] * 2,
    ]
    assert [job.error for job in sweep.jobs] == told
    assert [job.config is None for job in sweep.jobs] == [error is not None for error in told]


def test_mistakes_in_values_of_a_base_are_told_in_its_file(tmp_path):
    base = write(tmp_path, "problem: gripper\ncheckpoint: a\ndistillation:\n  seed: x\n", "base.yaml")
    [job] = Sweep.read(write(tmp_path, "base: base.yaml\n")).jobs
    assert job.error.startswith(f"{base}, line 4: distillation.seed must be")
    assert all(job.error is None for job in Sweep.read(write(tmp_path, "base: base.yaml\nseeds: 2")).jobs)
    [inline] = Sweep.read(write(tmp_path, "base:\n  - problem: gripper\n    checkpoint: 3\n")).jobs
    assert inline.error == f"{tmp_path / 'sweep.yaml'}, line 3: checkpoint must be a path, not 3."


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (INLINE + "grd: {}", 2, "there is no entry grd; did you mean grid?"),
        (INLINE + "grid:", 2, "grid has no value; give one, or remove it."),
        (INLINE + "grid: [1]", 2, "grid must give lists of values by key, not [1]."),
        (INLINE + "grid:\n  linkage: []", 3, "linkage must have a list of values, not []."),
        (INLINE + "grid:\n  linkage: ward", 3, "linkage must have a list of values, not 'ward'."),
        (INLINE + "grid:\n  linkag: [ward]", 3, "there is no entry or setting linkag; did you mean linkage?"),
        (
            INLINE + "grid:\n  distillation.linkag: [ward]",
            3,
            "there is no setting linkag in distillation; did you mean linkage?",
        ),
        (
            INLINE + "grid:\n  linkage: [ward]\n  distillation.linkage: [single]",
            4,
            "distillation.linkage is given by the grid and again by the grid; remove one.",
        ),
        (
            INLINE + "cases:\n  - {linkage: single}\ngrid:\n  linkage: [ward]",
            5,
            "distillation.linkage is given by the cases and again by the grid; remove one.",
        ),
        (
            INLINE + "cases:\n  - {seed: 3}\nseeds: 2",
            4,
            "distillation.seed is given by the cases and again by seeds; remove one.",
        ),
        (
            INLINE + "cases:\n  - {network.size: 3}\ngrid:\n  network: [{}]",
            5,
            "network.size is given by the cases and again by the grid; remove one.",
        ),
        (INLINE + "cases: {}", 2, "cases must be a list of changes, not {}."),
        (INLINE + "cases: []", 2, "cases must be a list of changes, not []."),
        (INLINE + "cases:\n  - {}\n  - ward", 4, "a case must give values by key, not 'ward'."),
        (
            INLINE + "cases:\n  - seed: 1\n    distillation.seed: 2",
            4,
            "distillation.seed is given twice; remove one.",
        ),
        (INLINE + "sample: 0", 2, "sample must be a whole number of at least 1, not 0."),
        (INLINE + "sample: all", 2, "sample must be a whole number of at least 1, not 'all'."),
        (INLINE + "seeds: 0", 2, "seeds must be their number, at least 1, or a list of whole numbers"),
        (INLINE + "seeds: []", 2, "seeds must be their number"),
        (INLINE + "seeds: [1, x]", 2, "seeds must be their number"),
        (INLINE + "seeds: true", 2, "seeds must be their number"),
        (INLINE + "name: a/b", 2, "name must be text without /, not 'a/b'."),
        (INLINE + "name: 3", 2, "name must be text without /, not 3."),
        ("base: 3", 1, "a base must be a config's file, or its entries, not 3."),
        ("base: []", 1, "base is an empty list; give a config's file, or its entries."),
        ("base:\n  - [x]", 2, "a base must be a config's file, or its entries, not ['x']."),
        ("seeds: 3\nbase: no.yaml", 2, "there is no config "),
        ("base:\n  problm: gripper", 2, "there is no entry problm; did you mean problem?"),
        ("base:\n- distillation:\n    sed: 3", 3, "there is no setting sed in distillation; did you mean"),
        (INLINE + "base: x", 2, "base is given twice, first in line 1; remove one."),
        (INLINE + "grid: {", 2, "this is not YAML ("),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, text, line, told):
    file = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        Sweep.read(file)
    assert str(caught.value).startswith(f"{file}, line {line}: {told}")
    assert "\n" not in str(caught.value)


def test_mistakes_without_a_line(tmp_path):
    file = write(tmp_path, "seeds: 3")
    with pytest.raises(InputError, match="must give a base"):
        Sweep.read(file)
    many = list(range(200))
    for text in ("seeds: 1000000000000", f"grid: {{inner_depth: {many}, final_depth: {many}}}"):
        with pytest.raises(InputError, match=r"plans \d+ jobs, and at most 10000 are accepted; vary less"):
            Sweep.read(write(tmp_path, INLINE + text))
    base = write(tmp_path, "problem: gripper\nchekpoint: a\n", "base.yaml")
    with pytest.raises(InputError) as caught:
        Sweep.read(write(tmp_path, "base: base.yaml"))
    assert str(caught.value) == f"{base}, line 2: there is no entry chekpoint; did you mean checkpoint?"


def test_changes_for_all_jobs(tmp_path):
    file = write(tmp_path, INLINE + "seeds: 2")
    changed = Sweep.read(file, {"inner_depth": 3})
    assert [job.config.distillation for job in changed.jobs] == [
        Distillation(inner_depth=3, seed=s) for s in (0, 1)
    ]
    with pytest.raises(InputError, match=r"^The options: distillation\.seed is given by seeds of the sweep"):
        Sweep.read(file, {"seed": 3})
    with pytest.raises(InputError, match="did you mean inner_depth"):
        Sweep.read(file, {"inner_deph": 3})


TABLE_4_1 = {
    *("inner_depth", "final_depth", "inner_width", "final_width", "inner_sample", "final_sample", "pooling"),
    *("distance", "linkage", "features", "regression", "intercept", "nonnegative"),
}


@pytest.mark.parametrize(
    ("name", "number", "varied"),
    [
        ("chapter5", 32, {"base", "seed"}),
        ("table-4-1", 604, {"base", "seed", *TABLE_4_1}),
        ("table-4-1-random", 160, {"base", "seed", *TABLE_4_1}),
        ("seeds", 30, {"base", "seed"}),
        ("regressions", 48, {"regression", "intercept", "nonnegative", "features", "target"}),
    ],
)
def test_the_sweeps_that_come_along(name, number, varied):
    sweep = Sweep.read(ROOT / "configs" / "sweeps" / f"{name}.yaml")
    assert sweep.name == name
    assert [job.error for job in sweep.jobs] == [None] * number
    assert {key.removeprefix("distillation.") for key in sweep.varied} == varied
    assert all(job.config.checkpoint.exists() for job in sweep.jobs)
    modes = {"seeds": "readable", "regressions": "quotient"}
    assert {job.config.distillation.mode for job in sweep.jobs} == {modes.get(name, "thesis")}
    clusterings = {(job.config.distillation.linkage, job.config.distillation.distance) for job in sweep.jobs}
    assert not clusterings & {("ward", "cosine"), ("ward", "manhattan")}


def test_the_regressions_share_their_trees():
    sweep = Sweep.read(ROOT / "configs" / "sweeps" / "regressions.yaml")
    earlier = [
        [job.config.distillation.of_stage(stage) for stage in ("replay", "distil")] for job in sweep.jobs
    ]
    assert all(settings == earlier[0] for settings in earlier)
