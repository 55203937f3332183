"""`distill run`, as a user runs it."""

import json

import pytest

from tests.cli.test_commands import answer, distill, files  # noqa: F401
from tests.cli.test_network_commands import network  # noqa: F401

QUICK = ("--set", "inner_width=2", "--set", "final_width=2", "--max-steps", "20")


def test_a_run_from_a_network_to_its_folder(tmp_path, files, network):  # noqa: F811
    domain, folder = files
    source = "--domain", domain, "--train", folder, "--test", folder
    out = tmp_path / "runs"
    told = answer("run", "--checkpoint", network, *source, "--out", out, *QUICK)
    assert set(told["splits"]) == {"train", "test"}
    assert told["splits"]["train"]["states"] == told["splits"]["test"]["states"] > 0
    assert told["splits"]["train"]["max_error"] >= told["splits"]["train"]["mae"]
    assert 0 <= told["fidelity"]["greedy_agreement"] <= 1
    assert told["features"] <= told["pool"]
    assert set(told["seconds"]) == {"replay", "layers", "regression", "evaluation"}
    [made] = out.iterdir()
    kept = {file.name for file in made.iterdir()}
    assert kept == {
        "config.yaml",
        "metrics.json",
        "model.json",
        "value.txt",
        "value.tex",
        "value.py",
        "weights.svg",
        "errors.svg",
    }
    assert json.loads((made / "metrics.json").read_text())["pool"] == told["pool"]
    before = (made / "metrics.json").stat().st_mtime_ns
    again = answer("run", "--checkpoint", network, *source, "--out", out, *QUICK)
    assert again == told
    assert (made / "metrics.json").stat().st_mtime_ns == before
    same = answer("run", made / "config.yaml", "--out", out, "--max-steps", "20")
    assert same["run"] == told["run"]
    scores = answer("evaluate", made, *source, "--max-steps", "0")
    assert scores["splits"]["train"]["mae"] == pytest.approx(told["splits"]["train"]["mae"])
    other = distill("run", "--checkpoint", network, *source, "--out", out, *QUICK, "--set", "seed=3")
    assert other.returncode == 0
    assert "Against V*" in other.stdout
    assert "\nV = " in other.stdout
    assert len(list(out.iterdir())) == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "Say what to distil"),
        (("--problem", "gripper"), "Say what to distil"),
        (("--checkpoint", "no.safetensors", "--problem", "chess"), "There is no problem class 'chess'"),
        (("--checkpoint", "x", "--problem", "gripper", "--set", "sed=1"), "did you mean seed?"),
        (("--checkpoint", "x", "--problem", "gripper", "--set", "seed"), "must look like KEY=VALUE"),
        (("no.yaml",), "no.yaml"),
        (("--checkpoint", "x", "--problem", "gripper", "--domain", "d.pddl"), "either a problem or a domain"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments, told):
    done = distill("run", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    done = distill("evaluate", tmp_path, "gripper")
    assert done.returncode == 2
    assert "is no run" in done.stderr
