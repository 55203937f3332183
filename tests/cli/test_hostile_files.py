"""Paths that name no usable file are refused, and figures are written whole or not at all."""

import os

import pytest

from distill.common import InputError, drawing
from tests.support.commands import distill
from tests.support.hostile import files as hostile
from tests.support.samples import some_and_all

MARK = b"\xef\xbb\xbf"


@some_and_all(5)
def test_every_command_refuses_what_is_no_file(step, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DISTILL_CACHE", str(tmp_path / "cache"))
    found = []
    cases = list(hostile.cases(150, seed=0))[::step]
    for number, case in enumerate(cases):
        place = tmp_path / str(number)
        place.mkdir()
        if reason := hostile.failure(case, place):
            found.append(f"{case.name}: {reason}")
    assert len(cases) == 150 // step
    assert not found, "\n".join(found)


def test_a_byte_order_mark_and_hidden_files_do_no_harm(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("DISTILL_CACHE", str(tmp_path / "cache"))
    for name, text in (("d.pddl", hostile.DOMAIN), ("i.pddl", hostile.INSTANCE), ("f", "#p")):
        (tmp_path / name).write_bytes(MARK + text.encode())
    done = distill("plan", "--domain", tmp_path / "d.pddl", "--instance", tmp_path / "i.pddl")
    assert done.returncode == 0, done.stderr
    assert "#p" in distill("formula", "translate", tmp_path / "f").stdout
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "i.pddl").write_text(hostile.INSTANCE)
    (folder / ".hidden.pddl").write_text("no PDDL")
    done = distill("plan", "--domain", tmp_path / "d.pddl", "--instances", folder)
    assert done.returncode == 0, done.stderr


def test_a_figure_is_written_whole_or_not_at_all(tmp_path) -> None:
    file = tmp_path / "figure.svg"
    file.write_text("old")
    with pytest.raises(ZeroDivisionError), drawing(file) as [axes]:
        axes.plot([0, 1 / 0])
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["figure.svg"]  # noqa: PTH208
    (tmp_path / "folder.svg").mkdir()
    with (
        pytest.raises(InputError, match="something else than a file is there"),
        drawing(tmp_path / "folder.svg"),
    ):
        pass
