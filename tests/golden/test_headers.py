"""Headers of the files that commands write: metadata, and names, types and shapes of arrays."""

import json

from tests.golden.support import DEMO, Golden, World, archive_header, as_text, checkpoint_header, kinds_in

SOURCE = ("--domain", "blocks.pddl", "--train", "instances")


def test_checkpoints(world: World, golden: Golden) -> None:
    world.text("train", "train.yaml", "--out", "trained.safetensors", "--workers", 1)
    found = checkpoint_header(world.base / "trained.safetensors")
    # losses and times of the training differ from machine to machine
    found["metadata"] = {
        key: kinds_in(value) if key == "record" else world.plain(value)
        for key, value in found["metadata"].items()
    }
    golden.check({"headers/checkpoint.json": as_text(found)})


def test_a_data_set(world: World, golden: Golden) -> None:
    world.text("data", *SOURCE, "--out", "data", "--workers", 1)
    found = archive_header(world.base / "data" / "train.npz")
    golden.check({"headers/data.json": as_text(world.plain(found))})


def test_the_activations_of_a_replay(world: World, golden: Golden) -> None:
    world.text("replay", "net.safetensors", *SOURCE, "--out", "activations.npz", "--workers", 1)
    found = archive_header(world.base / "activations.npz")
    golden.check({"headers/activations.json": as_text(world.plain(found))})


def test_a_certificate(world: World, golden: Golden) -> None:
    world.text("verify", DEMO, "--max-objects", 5, "--certificate", "certificate.json", "--workers", 1)
    found = json.loads((world.base / "certificate.json").read_text())
    golden.check({"headers/certificate.json": as_text(world.plain(found))})
