"""Plans on the page States: plan_view step by step, and compared with the shortest."""

import pytest

pytest.importorskip("streamlit")

from app.pages.states.tables import plan_verdict
from app.session.run_index import DEMO
from distill.structures import UNSOLVABLE
from tests.support.page_content import frame, said
from tests.support.state_page import asked, metrics, shown


def test_the_greedy_plan_is_played_step_by_step(demo, monkeypatch) -> None:
    at = shown(DEMO, monkeypatch, run=demo.name, split="train", state="30000")
    at.button(key="state/play").click().run()
    assert asked(at, "plan") == "greedy"
    assert "reaches the goal in 5 steps; V* is 5, so no plan is shorter" in said(at)
    values = [metrics(at)["V*"]]
    for step in range(1, 6):
        at.button(key="state/Forward").click().run()
        assert asked(at, "step") == str(step)
        values.append(metrics(at)["V*"])
    assert values == ["5", "4", "3", "2", "1", "0"]
    assert at.button(key="state/Forward").disabled
    at.button(key="state/Back").click().run()
    assert (asked(at, "step"), metrics(at)["V*"]) == ("4", "1")
    table = frame(at, "step", "action")
    assert table["V*"].tolist() == [5, 4, 3, 2, 1, 0]
    at.button(key="state/Stop").click().run()
    assert (asked(at, "plan"), asked(at, "step")) == ("", "")
    assert metrics(at)["V*"] == "5"


def test_another_state_ends_the_plan(demo, monkeypatch) -> None:
    at = shown(DEMO, monkeypatch, run=demo.name, split="train", state="30000", plan="greedy", step="2")
    at.button(key="state/Next").click().run()
    assert (asked(at, "state"), asked(at, "plan"), asked(at, "step")) == ("30001", "", "")


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ((True, 3, "", 3), "in 3 steps; V* is 3, so no plan is shorter."),
        ((True, 1, "", 1), "in 1 step; V* is 1"),
        ((True, 5, "", 3), "V* is 3, so 2 more than necessary."),
        ((True, 0, "", 0), "The goal holds in this state"),
        ((True, 4, "", None), "in 4 steps."),
        ((False, 2, "no unvisited successor after 2 steps", 3), "after 2 steps; V* is 3."),
        ((False, 0, "no unvisited successor after 0 steps", UNSOLVABLE), "no policy can"),
    ],
)
def test_plans_are_compared_with_the_shortest(outcome, told) -> None:
    assert told in plan_verdict(*outcome)
