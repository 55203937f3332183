"""What commands answer in JSON, on a small case, and what `distill export` prints."""

import re

import pytest

from tests.golden.support import DEMO, FILES, Golden, World, command_tree

SOURCE = ("--domain", "blocks.pddl", "--instances", "instances")
TRAIN = ("--domain", "blocks.pddl", "--train", "instances")
TEST = ("--domain", "blocks.pddl", "--test", "instances")
ONE = ("--domain", "blocks.pddl", "--instance", "instances/blocks-clear-train-004.pddl")
GRIPPER = ("--domain", FILES / "classes" / "gripper.pddl", "--instances", "gripper.pddl")
# The name of the small run stands for RUN. Options after the case's name; the exit code where it is not 0.
CASES: dict[str, tuple[object, ...]] = {
    "problems": ("problems",),
    "data": ("data", *SOURCE, "--workers", 1),
    "data-reduced": ("data", *TRAIN, "--reduce", "exact", "--workers", 1),
    "plan": ("plan", *ONE),
    "plan-several": ("plan", *SOURCE, "--checkpoint", "net.safetensors", "--planner", "astar"),
    "conflicts": ("conflicts", *SOURCE, "--workers", 1),
    "quotient": ("quotient", *SOURCE, "--workers", 1),
    "quotient-joint": ("quotient", *SOURCE, "--depth", 2, "--sets", "--joint", "--goal-marking"),
    "train": ("train", "train.yaml", "--out", "trained.safetensors", "--workers", 1),
    "evaluate": ("evaluate", "net.safetensors", *TEST, "--workers", 1),
    "evaluate-run": ("evaluate", "RUN", *TEST, "--workers", 1),
    "replay": ("replay", "net.safetensors", *TRAIN, "--out", "replayed.npz", "--workers", 1),
    "run": ("run", "run.yaml", "--out", "runs"),
    "batch-dry-run": ("batch", "sweep.yaml", "--out", "planned", "--dry-run", "--set", "states=61"),
    "batch": ("batch", "sweep.yaml", "--out", "swept", "--workers", 1),
    "runs-list": ("runs", "list", "--store", "listed"),
    "runs-show": ("runs", "show", "RUN"),
    "runs-compare": ("runs", "compare", "RUN", "OTHER"),
    "refit": ("refit", "RUN", "--drop", 1, "--add", "#clear", "--out", "refits"),
    "refit-exact": ("refit", "RUN", "--exact", "--pool", "--out", "refits"),
    "verify-run": ("verify-run", "RUN"),
    "verify": ("verify", DEMO, "--max-objects", 6, "--certificate", "demo.json.gz", "--workers", 1),
    "verify-wrong": ("verify", "RUN", *SOURCE, "--workers", 1),
    "verify-beyond": ("verify", DEMO, "--beyond", *GRIPPER, "--time-limit", 0),
    "recheck": ("recheck", "demo.json.gz", "--max-objects", 5),
    "stability": (
        *("stability", "trained-run.yaml", "--networks", 1, "--seeds", 1, "--no-controls"),
        *("--out", "trials", "--workers", 1),
    ),
    "ablations": ("ablations", "trained-run.yaml", "--only", "closures", "--out", "trials", "--workers", 1),
    "families": ("families", DEMO),
    "faithfulness": ("faithfulness", "RUN", "--states", 20, "--draws", 1),
    "config-check": ("config", "check", "run.yaml"),
    "config-check-sweep": ("config", "check", "sweep.yaml"),
    "probe": ("probe", "net.safetensors", *SOURCE, "--split", "train", "--workers", 1),
    "graphs": ("graphs", "@emlc0", "--graphs", 40, "--folds", 2, "--layers", 1, "--no-network"),
    "checkpoint-info": ("checkpoint", "info", "net.safetensors"),
    "formula-eval": ("formula", "eval", "<on+>clear_G", *SOURCE, "--workers", 1),
    "formula-eval-one": ("formula", "eval", "@blocks-clear-closure", *ONE),
    "formula-explain": ("formula", "explain", "<on+>clear_G & ~clear", *ONE),
    "formula-library": ("formula", "library"),
    "formula-library-one": ("formula", "library", "gripper"),
    "formula-simplify": ("formula", "simplify", "<on>top & <on>(clear | top)", *SOURCE, "--workers", 1),
    "formula-translate": ("formula", "translate", "#<on^-1>clear"),
}
FAILS = {"verify-wrong"}
SLOW = {"batch", "stability", "ablations", "train"}
# Cases that need what another one wrote.
AFTER = {"recheck": "verify"}
FORMS = ("ascii", "emlc", "c2", "english", "latex", "latex-c2", "dlplan", "pddl", "python", "json")
SENTENCES = ("contribution",)


def without_sentences(found: object) -> object:
    """Sentences about results may be reworded; the name of a refit has a digest of computed numbers."""
    if isinstance(found, dict):
        plain = {k: "SENTENCE" if k in SENTENCES else without_sentences(v) for k, v in found.items()}
        return plain | {k: re.sub(r"-[0-9a-f]{8}$", "-DIGEST", v) for k, v in found.items() if k == "folder"}
    return [without_sentences(one) for one in found] if isinstance(found, list) else found


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] * (case in SLOW)) for case in CASES]
)
def test_what_a_command_answers(case: str, world: World, golden: Golden) -> None:
    (world.base / "gripper.pddl").write_text((FILES / "classes" / "gripper-instance.pddl").read_text())
    made = world.run("run.yaml")
    names = {"RUN": made.relative_to(world.base)}
    if "OTHER" in CASES[case]:
        names["OTHER"] = world.run(
            "run.yaml", "--set", "pool=enumerate", "--set", "feature_size=4"
        ).relative_to(world.base)
    if case == "runs-list":
        world.run("run.yaml", store="listed")
    if case in AFTER:
        world.distill(*CASES[AFTER[case]])
    arguments = [names.get(str(part), part) for part in CASES[case]]
    found = world.answer(*arguments, code=int(case in FAILS))
    golden.check_answer(f"answers/{case}.json", without_sentences(found))


def test_every_command_that_answers_in_json_is_a_case() -> None:
    commands = [
        name.split()[1:]
        for name, parameters in command_tree().items()
        if any("--json" in one.split() for one in parameters)
    ]
    asked = [list(map(str, case)) for case in CASES.values()]
    assert [one for one in commands if not any(case[: len(one)] == one for case in asked)] == []


@pytest.mark.parametrize("form", FORMS)
def test_what_export_prints(form: str, world: World, golden: Golden) -> None:
    texts = {f"exports/{form}.txt": world.text("export", DEMO, "--format", form)}
    if form != "json":
        texts[f"exports/{form}-term2.txt"] = world.text("export", DEMO, "--format", form, "--term", 2)
    golden.check(texts)


def test_all_forms_are_exported(world: World) -> None:
    world.text("export", DEMO, "--format", "all", "--out", "forms")
    assert len(list((world.base / "forms").iterdir())) == len(FORMS) + 1
