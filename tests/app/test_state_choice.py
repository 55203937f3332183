"""Choosing a state on the page States: by number, instance, V*, error and atoms."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("streamlit")

from app.pages.states.state_choice import candidates
from distill.common import InputError
from distill.planning import Domain, Instance, expand
from distill.structures import UNSOLVABLE
from tests.support.pddl import ODD, TASK
from tests.support.state_page import asked, shown


def test_states_are_found_by_instance_v_star_error_and_atoms(blocks) -> None:
    data = blocks.states("train")
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"v_star": data.v_star, "error": rng.permutation(len(data)).astype(float)})
    everything = np.arange(len(data))
    assert candidates(rows, data).tolist() == everything.tolist()
    both = candidates(rows, data, instance=2, v_star=1)
    assert both.tolist() == np.flatnonzero((data.state_instance == 2) & (data.v_star == 1)).tolist()
    assert len(both)
    worst = candidates(rows, data, order="error")
    assert (np.diff(rows["error"].to_numpy()[worst]) < 0).all()
    far = candidates(rows, data, order="v_star")
    pairs = [(-data.v_star[one], one) for one in far]
    assert pairs == sorted(pairs)
    held = candidates(rows, data, search="(holding b1)")
    assert held.tolist() == [one for one in everything if "(holding b1)" in data.atom_names(one)]
    assert 0 < len(held) < len(data)
    with pytest.raises(InputError, match="did you mean holding"):
        candidates(rows, data, search="(holdin b1)")


def test_states_without_a_way_come_last_by_error() -> None:
    data = expand(Instance(Domain(ODD), TASK, "odd"), 100)
    error = np.where(data.v_star == UNSOLVABLE, np.nan, 0.5)
    found = candidates(pd.DataFrame({"v_star": data.v_star, "error": error}), data, order="error")
    lost = int((data.v_star == UNSOLVABLE).sum())
    assert lost
    assert (data.v_star[found[-lost:]] == UNSOLVABLE).all()


def test_a_new_choice_is_in_the_address(blocks, monkeypatch) -> None:
    at = shown(blocks.folder.parent, monkeypatch, run=blocks.name)
    assert asked(at, "state") == "0"
    at.selectbox(key="widget/split").select("test").run()
    assert asked(at, "split") == "test"
    at.number_input(key="state/number").set_value(7).run()
    assert asked(at, "state") == "7"
    at.button(key="state/Next").click().run()
    assert asked(at, "state") == "8"
    at.session_state["state/more"] = True
    at.run()
    at.selectbox(key="widget/v_star").select("2").run()
    data = blocks.states("test")
    second = np.flatnonzero(data.v_star == 2)
    assert asked(at, "state") == str(second[0])
    at.button(key="state/Next").click().run()
    assert asked(at, "state") == str(second[1])
    at.button(key="state/random").click().run()
    assert int(asked(at, "state")) in second
    at.text_input(key="state/search").set_value("(holding ?)").run()
    assert asked(at, "search") == "(holding ?)"
    assert any(atom.startswith("(holding") for atom in data.atom_names(int(asked(at, "state"))))
    # A state by its number wins over what it does not meet.
    at.number_input(key="state/number").set_value(int(np.flatnonzero(data.v_star == 0)[0])).run()
    assert asked(at, "v_star") == ""


def test_the_worst_state_comes_first_by_error(blocks, monkeypatch) -> None:
    at = shown(blocks.folder.parent, monkeypatch, run=blocks.name, split="train", order="error")
    table = blocks.predictions().query("split == 'train'")
    error = (table["value"] - table["v_star"]).abs().where(table["v_star"] >= 0)
    assert error[table["state"] == int(asked(at, "state"))].item() == error.max()
