"""The commands that work on networks, as a user runs them."""

import json
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

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


@pytest.mark.slow
def test_probe_shows_both_networks(network, tmp_path):
    rows = answer("probe", network, "blocks-clear", "--split", "validation")
    assert {"feature", "place", "trained_share", "untrained_share"} <= set(rows[0])
    assert {row["place"] for row in rows} == {"layer 1", "layer 2", "readout"}
    (tmp_path / "features.csv").write_text("a,b\n1,2\n")
    done = distill("probe", network, "blocks-clear", "--features", tmp_path / "features.csv")
    assert done.returncode == 2
    assert "has 1 lines for" in done.stderr


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
