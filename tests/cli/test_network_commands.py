"""The commands that work on networks, as a user runs them."""

import json
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

from distill.explanations import ordered_terms
from distill.runs import Run
from tests.support.commands import DISTILL, PATIENCE, answer, distill

CONFIG = """
domain: {domain}
train: {folder}
validation: {folder}
test: {folder}
network: {{layers: 2, size: 4}}
training: {{epochs: 3, batches: 4, batch_size: 8}}
"""


@pytest.mark.slow
def test_train_evaluate_and_look(tmp_path, files):
    domain, folder = files
    config, out, curve = tmp_path / "small.yaml", tmp_path / "small.safetensors", tmp_path / "curve.svg"
    config.write_text(CONFIG.format(domain=domain, folder=folder))
    done = distill("train", config, "--out", out, "--figure", curve)
    assert done.returncode == 0, done.stderr
    assert "seed 0, epoch 3/3: loss" in done.stderr
    assert "within ½" in done.stdout
    assert curve.stat().st_size > 1000
    told = answer("checkpoint", "info", out)
    assert told["format"] == "distill"
    assert len(told["record"]["history"]) == 3
    scores = answer("evaluate", out, "--domain", domain, "--test", folder)
    assert scores["states"] == told["record"]["metrics"]["test"]["states"]
    assert scores["mae"] == pytest.approx(told["record"]["metrics"]["test"]["mae"], abs=1e-5)
    again = distill("train", config, "--out", out)
    assert again.returncode == 0
    assert "epoch" not in again.stderr
    config.write_text(CONFIG.format(domain=domain, folder=folder).replace("size: 4", "size: 5"))
    refused = distill("train", config, "--out", out)
    assert refused.returncode == 2
    assert "holds another network" in refused.stderr


@pytest.mark.slow
def test_an_interrupted_training_of_several_seeds_ends_at_once(tmp_path, files):
    domain, folder = files
    text = CONFIG.format(domain=domain, folder=folder)
    (tmp_path / "long.yaml").write_text(
        text.replace("epochs: 3", "epochs: 100000, patience: 100000, seeds: 2")
    )
    command = [*DISTILL, "train", "long.yaml", "--workers", "2"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        while "epoch" not in running.stderr.readline():
            assert running.poll() is None
        running.send_signal(signal.SIGINT)
        told = running.communicate(timeout=PATIENCE)[1]
    assert running.returncode == 2
    assert "Interrupted" in told
    assert "Traceback" not in told


def test_evaluate_counts_what_the_issue_asks_for(network, files, tmp_path):
    domain, folder = files
    figure = tmp_path / "boxes.png"
    scores = answer("evaluate", network, "--domain", domain, "--test", folder, "--figure", figure)
    keys = "states mae max_error greedy_steps greedy_optimal_steps ratio_min ratio_max instances solved"
    assert set(keys.split()) <= set(scores)
    assert figure.stat().st_size > 1000
    [split] = scores["splits"].values()
    assert sum(row["states"] for row in split["by_v_star"]) == scores["states"]
    weighted = sum(row["states"] * row["mae"] for row in split["by_v_star"]) / scores["states"]
    assert weighted == pytest.approx(scores["mae"])
    goals = sum(row["states"] for row in split["by_v_star"] if row["v_star"] == 0)
    assert scores["greedy_steps"] == scores["states"] - goals
    assert scores["instances"] == len(split["plan_lengths"]) == 4
    shown = distill("evaluate", network, "--domain", domain, "--test", folder, "--max-steps", 0)
    assert "MAE by V*" in shown.stdout


def test_replay_shows_the_layers_and_writes_all_activations(network, files, tmp_path):
    domain, folder = files
    source = ["replay", network, "--domain", domain, "--train", folder, "--test", folder]
    told = answer(*source, "--out", tmp_path / "all.npz")
    assert told["files"] == {"activations": str(tmp_path / "all.npz")}
    archive = np.load(tmp_path / "all.npz", allow_pickle=False)
    for site in told["sites"]:
        assert list(archive[site["name"]].shape) == site["shape"]
        everyone = archive["object" if site["about"] == "objects" else "v_star"]
        assert len(archive[f"row/{site['name']}"]) == len(everyone)
    assert [len(archive[f"layer {depth}"]) for depth in range(3)] == told["rows"]
    assert archive["layer 2"].shape[1] == told["size"]
    value = archive["value"][archive["row/value"]]
    error = np.average(np.abs(value - archive["v_star"]), weights=archive["multiplicity"])
    assert error == pytest.approx(told["mae"])
    assert archive["splits"].tolist() == ["train", "test"]
    assert "layer 2" in distill(*source).stdout
    assert answer(*source)["files"] == {}
    assert answer(*source, "--out", tmp_path)["files"] == {"activations": str(tmp_path / "activations.npz")}


def probes(network, files, *more):
    domain, folder = files
    return ["probe", network, "--domain", domain, "--instances", folder, "--split", "train", *more]


def test_probe_shows_both_networks(network, files, tmp_path):
    told = answer(*probes(network, files))
    assert {"feature", "place", "constant_mae"} <= set(told["probes"][0])
    assert {f"{net}_{key}" for net in ("trained", "untrained") for key in ("train_mae", "mae", "share")} <= (
        set(told["probes"][0])
    )
    assert {row["place"] for row in told["probes"]} == {"layer 1", "layer 2", "readout", "pool vector"}
    assert [row["feature"] for row in told["known"]] == list(
        dict.fromkeys(row["feature"] for row in told["probes"])
    )
    (tmp_path / "features.csv").write_text("a,b\n1,2\n")
    done = distill(*probes(network, files, "--features", tmp_path / "features.csv"))
    assert done.returncode == 2
    assert "has 1 lines for" in done.stderr


def test_formulas_are_probed_by_name_and_as_typed(network, files, tmp_path):
    names = ["@blocks-clear/B[1]", "<on+>clear_G", "[#holding > 0]", "∃x holding(x)", "2*#clear + #holding"]
    figure = tmp_path / "probes.svg"
    asked = probes(network, files, *(f"--feature={name}" for name in names), "--figure", figure)
    told = answer(*asked)
    by_name = {
        name: [
            {key: row[key] for key in row if key != "feature"}
            for row in told["probes"]
            if row["feature"] == name
        ]
        for name in names
    }
    assert [len(rows) for rows in by_name.values()] == [4] * 5
    assert by_name["[#holding > 0]"] == by_name["∃x holding(x)"]
    assert figure.exists()
    shown = distill(*asked).stdout
    assert "where a feature is known first" in shown
    assert "pool vector" in shown


@pytest.mark.slow
def test_the_terms_of_a_run_are_probed(network):
    [run] = (Path(__file__).parents[2] / "app" / "demo").iterdir()
    source = ["--states", run / "states", "--split", "validation", "--features-of", run]
    told = answer("probe", run / "network.safetensors", *source)
    terms = [str(number) for _, number in ordered_terms(Run.load(run).value_function.value)]
    assert [row["feature"] for row in told["known"]] == terms[:-1]  # the constant is the last
    done = distill("probe", network, "blocks-clear", "--features-of", run, "--split", "validation")
    assert done.returncode == 2
    assert "There is no predicate 'at'" in done.stderr


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        ("on", "on has 2 arguments, so it holds of no single object"),
        ("<clear>top", "clear has 1 arguments, so there is no relation clear"),
        ("cleer", "There is no predicate 'cleer'; did you mean clear?"),
        ("on+", "expected a formula"),
        ("#((", "expected a formula"),
        ("", "expected a formula"),
        ("@blocks-clear/B", "blocks-clear has no formula B"),
        ("@nobody", "There is no hand-made function 'nobody'"),
    ],
)
def test_a_formula_that_is_no_feature_gets_one_sentence(network, files, formula, sentence):
    done = distill(*probes(network, files, f"--feature={formula}"))
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: The feature {formula!r}: ")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_features_in_a_file_are_numbers(network, files, tmp_path):
    file = tmp_path / "features.csv"
    file.write_text("a\n1\n")
    short = distill(*probes(network, files, "--features", file))
    [states] = re.findall(r"has 1 lines for (\d+) states", " ".join(short.stderr.split()))
    file.write_text("a,b\n" + "1,\n" * int(states))
    done = distill(*probes(network, files, "--features", file))
    assert done.returncode == 2
    assert "has an entry without a number" in done.stderr
    file.write_text("a,b\n" + "".join(f"{number},0\n" for number in range(int(states))))
    told = answer(*probes(network, files, "--features", file, "--feature", "#clear"))
    assert [row["feature"] for row in told["known"]] == ["a", "b", "#clear"]


def test_a_network_plans(network, files):
    domain, folder = files
    told = answer(
        "plan", "--domain", domain, "--instances", folder, "--checkpoint", network, "--planner", "astar"
    )
    names = [row["solver"] for row in told["planners"]]
    assert names == ["astar", "net"]
    single = next(iter(sorted(folder.iterdir())))
    done = distill("plan", "--domain", domain, "--instance", single, "--checkpoint", network)
    assert "with net:" in done.stdout


def bad_files(folder: Path) -> dict[str, Path]:
    (folder / "cut.safetensors").write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00{}")
    (folder / "words.pth").write_text("not a network")
    return {name: folder / name for name in ("cut.safetensors", "words.pth", "none.ckpt")}


@pytest.mark.parametrize("name", ["cut.safetensors", "words.pth", "none.ckpt"])
@pytest.mark.parametrize("command", [["evaluate"], ["replay"], ["probe"], ["checkpoint", "info"]])
def test_bad_files_get_one_sentence(tmp_path, name, command):
    file = bad_files(tmp_path)[name]
    problem = [] if command[-1] == "info" else ["gripper"]
    done = distill(*command, file, *problem)
    assert done.returncode == 2
    assert done.stderr.startswith("Error: ")
    assert "Traceback" not in done.stderr
    assert name in done.stderr


def test_a_wrong_domain_is_explained(network):
    done = distill("evaluate", network, "gripper", "--split", "validation", "--max-steps", 0)
    assert done.returncode == 2
    assert "clear is missing in the domain" in done.stderr
    assert "at is not known to the network" in done.stderr


def test_info_reads_the_file_of_another_project(tmp_path):
    tensors = {}
    for name, width, outputs in (
        ("model.relation_network.relation_modules.0", 4, 4),
        ("model.relation_network.update", 8, 4),
        ("readout.pre", 4, 4),
        ("readout.post", 4, 1),
    ):
        for part, out in (("0", width), ("2", outputs)):
            tensors |= {
                f"{name}.{part}.weight": torch.ones(out, width),
                f"{name}.{part}.bias": torch.ones(out),
            }
    options = {"predicates": [("clear", 1)], "iterations": 3}
    torch.save({"state_dict": tensors, "hyper_parameters": options}, tmp_path / "net.ckpt")
    told = answer("checkpoint", "info", tmp_path / "net.ckpt")
    assert told["format"] == "gnn-policy-kr22"
    assert told["architecture"]["absolute"] is True
    assert json.dumps(told["vocabulary"]) == '[["clear", 1, "state"]]'
