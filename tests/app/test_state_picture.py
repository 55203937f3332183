"""Pictures of the states of one instance: every object keeps its place, and nothing stands on another."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("streamlit")


from app.components.state_picture import scene_of
from app.drawings import DRAWINGS
from app.drawings.graph import MOST_OBJECTS, layout_of
from app.drawings.layout import apart
from app.drawings.scene import Scene
from app.drawings.shapes import Box
from app.session.run_session import RunSession
from tests.support.page_content import pictured
from tests.support.state_page import shown


def places(scene: Scene) -> dict[str, tuple[float, float]]:
    picture = DRAWINGS["graph"].draw(scene)
    return {
        shape.title.split("\n")[0]: (shape.x, shape.y) for shape in picture.shapes if isinstance(shape, Box)
    }


def opened_of(run) -> RunSession:
    return RunSession(run.folder, (run.folder / "inputs.json").stat().st_mtime_ns)


@pytest.mark.parametrize("instance", [1, -1])
def test_objects_keep_their_places_in_all_states_of_an_instance(blocks, instance) -> None:
    run = opened_of(blocks)
    data, structures = run.states("train"), run.structures("train")
    instance %= len(data.instances)
    numbers = np.flatnonzero(data.state_instance == instance)
    first = places(scene_of(run, "train", instance, structures[numbers[:1]]))
    assert len(first) == len(data.instances[instance]["objects"])
    different = 0
    for number in numbers[:: max(1, len(numbers) // 20)]:
        scene = scene_of(run, "train", instance, structures[[number]])
        assert places(scene) == first
        different += places(replace(scene, layout=None)) != first
        boxes = [one for one in DRAWINGS["graph"].draw(scene).shapes if isinstance(one, Box)]
        for a, b in combinations(boxes, 2):
            apart_x = abs(a.x - b.x) >= (a.width + b.width) / 2
            assert apart_x or abs(a.y - b.y) >= (a.height + b.height) / 2
    assert different  # by themselves, states would be drawn in different ways


def test_atoms_of_three_arguments_come_and_go_between_objects_that_stay() -> None:
    names = ("a", "b", "c", "d")
    road = {"road": ((0, 1), (1, 2), (2, 3))}
    empty = Scene(names, road, static=frozenset(["road"]))
    layout = layout_of(empty, empty)
    full = replace(empty, atoms={**road, "between": ((0, 1, 2), (1, 2, 3), (0, 2, 3))}, layout=layout)
    kept = {name: at for name, at in places(full).items() if name in names}
    assert kept == {name: at for name, at in places(replace(empty, layout=layout)).items() if name in names}
    picture = DRAWINGS["graph"].draw(full)
    extra = [one for one in picture.shapes if isinstance(one, Box) and one.title.startswith("(between")]
    assert len({(one.x, one.y) for one in extra}) == 3
    assert all(0 < one.x < picture.width and 0 < one.y < picture.height for one in extra)


def test_a_graph_that_nobody_could_read_has_no_layout() -> None:
    many = Scene(tuple(f"o{number}" for number in range(MOST_OBJECTS + 1)), {})
    assert layout_of(many, many) is None


def test_what_is_fixed_is_not_pushed_away() -> None:
    points, sizes = np.zeros((3, 2)), np.full((3, 2), 20.0)
    moved = apart(points, sizes, fixed=1)
    assert moved[0].tolist() == [0, 0]
    assert not np.allclose(moved[1], 0)
    assert not np.allclose(moved[1], moved[2])


def test_the_page_draws_the_state_that_it_tells_of(blocks, monkeypatch) -> None:
    data = blocks.states("train")
    held = next(n for n in range(len(data)) if any("(holding b1)" in one for one in data.atom_names(n)))
    at = shown(blocks.folder.parent, monkeypatch, run=blocks.name, split="train", state=str(held))
    assert "The hand holds b1" in pictured(at)
