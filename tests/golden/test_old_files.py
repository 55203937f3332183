"""Files that an earlier version wrote still open."""

import pytest

from tests.golden.support import FILES, Golden, World, as_text, open_data_set, open_quotient

OLD = FILES / "old"
RUN = OLD / "run" / "gripper-gripper-cdbf1f09"


def test_a_data_set(golden: Golden) -> None:
    golden.check({"old/data.json": as_text(open_data_set(OLD / "data.npz"))})


def test_a_quotient(golden: Golden) -> None:
    golden.check({"old/quotient.json": as_text(open_quotient(OLD / "quotient.npz"))})


@pytest.mark.parametrize("name", ["trained", "untrained"])
def test_a_checkpoint(name: str, world: World, golden: Golden) -> None:
    file = FILES / "blocks" / "net.safetensors" if name == "untrained" else OLD / "trained.safetensors"
    source = ("--domain", "blocks.pddl", "--test", "instances", "--max-steps", 0, "--workers", 1)
    found = {
        "info": world.answer("checkpoint", "info", file),
        "evaluate": world.answer("evaluate", file, *source),
    }
    golden.check({f"old/checkpoint-{name}.json": as_text(found)})


def test_a_run(world: World, golden: Golden) -> None:
    found = {
        "show": world.answer("runs", "show", RUN),
        "list": world.answer("runs", "list", "--store", RUN.parent),
        "verify-run": world.answer("verify-run", RUN, "--no-execution"),
    }
    golden.check({"old/run.json": as_text(found)})


def test_a_certificate(world: World, golden: Golden) -> None:
    golden.check({"old/certificate.json": as_text(world.answer("recheck", OLD / "certificate.json"))})
