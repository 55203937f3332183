"""What tests of commands work on: four Blocks instances, and an untrained network for them."""

from pathlib import Path

import pytest
import torch

from distill.networks import RGNN, Architecture, Checkpoint
from distill.planning import problem_class


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A domain and a folder of small instances."""
    folder = tmp_path / "instances"
    folder.mkdir()
    for instance in problem_class("blocks-clear").make("train")[:4]:
        (folder / f"{instance.name}.pddl").write_text(instance.text)
    domain = tmp_path / "blocks.pddl"
    domain.write_text(problem_class("blocks-clear").domain.text)
    return domain, folder


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """An untrained network for Blocks."""
    torch.manual_seed(0)
    words = problem_class("blocks-clear").domain.vocabulary()
    file = tmp_path / "net.safetensors"
    Checkpoint(RGNN(words, Architecture(layers=2, size=4))).save(file)
    return file
