"""Drawings: what stands where, what is escaped, what is refused, and that the same state looks the same."""

import random
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

pytest.importorskip("streamlit")

from app.drawings import DRAWINGS, drawings_for
from app.drawings.graph import MOST_OBJECTS
from app.drawings.grid import coordinates
from app.drawings.layout import apart, placed
from app.drawings.palette import HELD
from app.drawings.png import to_png
from app.drawings.scene import Scene, Words
from app.drawings.shapes import SOFT, Box, Disc, Label, Line, Picture
from app.drawings.state_model import MOST_NODES, draw_state_model
from app.drawings.svg import DARK, to_svg
from distill.common import InputError
from distill.planning import collect, expand, problem_class, transitions
from distill.structures import Predicate, Vocabulary
from distill.symmetry import StateModel
from tests.support.gripper import carry_all

SVG = "{http://www.w3.org/2000/svg}"


def scene_of(name: str, split: str = "train", number: int = 5, walk: int = 4, held=()) -> Scene:
    """A state after a walk from the beginning of an instance."""
    instance = problem_class(name).make(split)[number]
    state, choose = instance.initial_state, random.Random(number)
    for _ in range(walk):
        state = choose.choice(sorted(instance.successors(state), key=lambda step: step[0]))[1]
    data = collect(instance, [state], [0])
    static = [p.get_name() for p in instance.domain.pymimir.get_static_predicates()]
    return Scene.of(data.structures(), instance.objects, static, held)


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314


def boxes(picture: Picture, *names: str) -> list[Box]:
    """The boxes with these names, in the order of the names."""
    return [one for name in names for one in picture.shapes if isinstance(one, Box) and one.title == name]


def labels(picture: Picture) -> list[str]:
    return [shape.text for shape in picture.shapes if isinstance(shape, Label)]


def lines(picture: Picture) -> dict[str, Line]:
    return {shape.title: shape for shape in picture.shapes if isinstance(shape, Line) and shape.title}


# Which drawing


def test_each_drawing_says_by_names_and_arities_what_it_can_draw() -> None:
    expected = {
        "blocks": ["blocks", "graph"],
        "blocks-on": ["blocks", "graph"],
        "gripper": ["gripper", "graph"],
        "visitall": ["grid", "graph"],
        "miconic": ["graph"],
        "logistics": ["graph"],
    }
    found = {name: drawings_for(problem_class(name).domain.vocabulary()) for name in expected}
    assert found == expected
    other = Vocabulary([Predicate("on", 1), Predicate("ontable", 1), Predicate("clear", 1)])
    assert drawings_for(other) == ["graph"]


@pytest.mark.parametrize("name", ["blocks", "blocks-clear", "gripper", "visitall", "miconic", "logistics"])
def test_walks_can_be_drawn_in_every_way_and_look_the_same_again(name) -> None:
    for number in (0, 3, 9):
        scene = scene_of(name, number=number, walk=number, held=[0])
        drawings = drawings_for(problem_class(name).domain.vocabulary())
        assert drawings
        for key in drawings:
            picture = DRAWINGS[key].draw(scene)
            root = read(to_svg(picture))
            assert root.tag == f"{SVG}svg"
            assert root.get("aria-label") == picture.words
            assert to_svg(DRAWINGS[key].draw(scene)) == to_svg(picture)
            for shape in picture.shapes:
                if isinstance(shape, Box | Disc):
                    assert 0 <= shape.x <= picture.width
                    assert 0 <= shape.y <= picture.height
            # Each object is named, and one stands out.
            assert set(labels(picture)) >= {name for name in scene.names if len(name) < 5}
            assert any(
                getattr(s, "fill", "") == HELD or getattr(s, "line", "") == HELD for s in picture.shapes
            )


@st.composite
def nonsense(draw: st.DrawFn, needs: tuple[Words, ...]) -> Scene:
    """Atoms that no planner would make, of predicates that a drawing knows and some others."""
    n = draw(st.integers(1, 6))
    words = {word.names[0]: word.arity for word in needs} | {"p": 0, "q": 1, "r": 2, "s": 3}

    def atoms() -> dict[str, list[tuple[int, ...]]]:
        row = {name: st.tuples(*[st.integers(0, n - 1)] * arity) for name, arity in words.items()}
        return {name: draw(st.lists(row[name], max_size=5, unique=True)) for name in words}

    held = draw(st.frozensets(st.integers(0, n - 1)))
    return Scene(tuple(f"o{i}" for i in range(n)), atoms(), atoms(), atoms(), frozenset("r"), held)


@pytest.mark.parametrize("key", DRAWINGS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_nonsense_is_drawn_too_and_only_what_is_no_grid_is_refused(key, data) -> None:
    scene = data.draw(nonsense(DRAWINGS[key].needs))
    try:
        picture = DRAWINGS[key].draw(scene)
    except InputError:
        assert key == "grid"
        return
    read(to_svg(picture))
    assert np.isfinite([picture.width, picture.height]).all()


# The object graph


def test_the_graph_shows_every_kind_of_atom() -> None:
    scene = Scene(
        ("a", "b", "c"),
        {
            "on": [(0, 1)],
            "near": [(0, 1), (1, 0)],
            "clear": [(0,)],
            "lit": [()],
            "between": [(0, 1, 2)],
            "self": [(2, 2)],
        },
        {"on": [(1, 2)], "clear": [(1,)], "lit": [()]},
        {"clear": [(0,)], "on": [(0, 1)]},
        static=frozenset(["near"]),
        held=frozenset([2]),
    )
    picture = DRAWINGS["graph"].draw(scene)
    found = lines(picture)
    assert {"(on a b)", "(near a b)", "(goal: on b c)", "(goal: not on a b)"} <= set(found)
    assert "(near b a)" not in found  # one line for both ways
    assert found["(on a b)"].arrow
    assert not found["(on a b)"].dashed
    assert found["(goal: on b c)"].dashed
    assert (found["(near a b)"].arrow, found["(near a b)"].colour) == (False, SOFT)
    texts = labels(picture)
    assert {"clear", "goal: clear", "goal: not clear", "lit, goal: lit ✓", "between", "self"} <= set(texts)
    assert {"1", "2", "3"} <= set(texts)  # the arguments of between
    [box] = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.fill == HELD]
    assert box.title == "c"
    [wanted] = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.title.startswith("b")]
    assert wanted.dashed


def test_arrows_point_from_the_first_to_the_second_object() -> None:
    picture = DRAWINGS["graph"].draw(Scene(("a", "b"), {"on": [(1, 0)]}))
    arrow = lines(picture)["(on b a)"]
    a, b = boxes(picture, "a", "b")
    to_b = [np.hypot(x - b.x, y - b.y) for x, y in (arrow.start, arrow.end)]
    assert to_b[0] < to_b[1]
    assert b.y < a.y  # and downwards


def test_of_an_order_only_the_nearest_pairs_are_drawn() -> None:
    above = [(low, high) for low, high in combinations(range(5), 2)]
    found = lines(DRAWINGS["graph"].draw(Scene(tuple("abcde"), {"above": above})))
    assert set(found) == {"(above a b)", "(above b c)", "(above c d)", "(above d e)"}
    cycle = [(0, 1), (1, 2), (2, 0)]
    assert len(lines(DRAWINGS["graph"].draw(Scene(tuple("abc"), {"next": cycle})))) == 3


def test_a_graph_that_nobody_could_read_is_refused() -> None:
    names = tuple(f"o{number}" for number in range(MOST_OBJECTS + 1))
    with pytest.raises(InputError, match=r"has 61 objects; a graph of more than 60 is unreadable"):
        DRAWINGS["graph"].draw(Scene(names, {}))
    DRAWINGS["graph"].draw(Scene(names[:-1], {}))
    dense = [(a, b) for a in range(40) for b in range(40) if (a - b) % 3 == 1]
    with pytest.raises(InputError, match="533 atoms between objects"):
        DRAWINGS["graph"].draw(Scene(names[:40], {"r": dense}))


def test_boxes_do_not_overlap() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 9, 25):
        sizes = rng.uniform(30, 110, (n, 2))
        links = [(int(a), int(b)) for a, b in rng.integers(0, n, (n, 2)) if a != b]
        middles, width, height = placed(sizes, links)
        for a, b in combinations(range(n), 2):
            gap = np.abs(middles[a] - middles[b]) - (sizes[a] + sizes[b]) / 2
            assert gap.max() > -1, (n, a, b)
        assert (middles - sizes / 2).min() > -1e-6
        assert ((middles + sizes / 2) <= np.array([width, height]) + 1e-6).all()
    assert apart(np.zeros((1, 2)), np.ones((1, 2))).tolist() == [[0, 0]]


# Blocks, grids, rooms


def test_blocks_stand_on_what_they_are_on() -> None:
    scene = Scene(
        ("a", "b", "c", "d"),
        {"on": [(0, 1)], "ontable": [(1,), (2,)], "clear": [(0,), (2,)], "holding": [(3,)]},
        {"on": [(0, 2)], "clear": [(0,)]},
    )
    picture = DRAWINGS["blocks"].draw(scene)
    solid = {one.title: one for one in boxes(picture, *"abcd") if not one.dashed}
    assert solid["a"].x == solid["b"].x
    assert solid["b"].y - solid["a"].y == pytest.approx(40)
    assert solid["c"].y == solid["b"].y
    assert solid["c"].x != solid["b"].x
    assert solid["d"].y < solid["a"].y  # in the hand
    wanted = {one.title: one for one in boxes(picture, *"abcd") if one.dashed}
    assert set(wanted) == {"a", "c"}
    assert wanted["a"].y < wanted["c"].y
    assert labels(picture).count("○") == 1  # a is not on c
    assert labels(picture).count("✓") == 1  # but clear
    assert "Towers: a on b, c. The hand holds d." in picture.words


def test_a_state_without_objects_is_drawn_or_refused() -> None:
    for key, drawing in DRAWINGS.items():
        if key == "grid":
            with pytest.raises(InputError):
                drawing.draw(Scene((), {}))
        else:
            read(to_svg(drawing.draw(Scene((), {"lit": [()]}))))


def test_blocks_in_a_circle_are_drawn_all_the_same() -> None:
    picture = DRAWINGS["blocks"].draw(Scene(("a", "b", "c"), {"on": [(0, 1), (1, 0), (2, 1)], "ontable": []}))
    assert {"a", "b", "c", "not on the table", "empty"} <= set(labels(picture))


@pytest.mark.parametrize("holes", [(), (6,), (1, 8, 13)])
def test_a_grid_is_found_from_its_links(holes) -> None:
    cells = [cell for cell in range(20) if cell not in holes]
    links = {
        frozenset((a, b)) for a, b in combinations(cells, 2) if abs(a % 5 - b % 5) + abs(a // 5 - b // 5) == 1
    }
    shuffled = random.Random(1).sample(cells, len(cells))
    number = dict(zip(cells, shuffled, strict=True))
    links = {frozenset(number[cell] for cell in link) for link in links}
    found = coordinates([f"cell{name}" for name in cells], links, sorted(cells))
    assert len(set(found.values())) == len(cells)
    for a, b in map(tuple, links):
        assert abs(found[a][0] - found[b][0]) + abs(found[a][1] - found[b][1]) == 1
    assert min(x for x, _ in found.values()) == min(y for _, y in found.values()) == 0


def test_coordinates_in_names_are_taken_where_they_fit() -> None:
    links = {frozenset([0, 1]), frozenset([1, 2])}
    assert coordinates(["f3-1f", "f3-2f", "f4-2f"], links, [0, 1, 2]) == {0: (0, 0), 1: (0, 1), 2: (1, 1)}
    # Names that contradict the links do not count.
    found = coordinates(["c0-0", "c5-5", "c9-9"], links, [0, 1, 2])
    assert found == {0: (0, 0), 1: (1, 0), 2: (2, 0)}


def test_what_is_no_grid_is_refused() -> None:
    triangle = [(a, b) for a in range(3) for b in range(3) if a != b]
    with pytest.raises(InputError, match="do not form a grid; choose the object graph"):
        DRAWINGS["grid"].draw(Scene(tuple("abc"), {"connected": triangle, "at-robot": [(0,)]}))


def test_a_grid_shows_robot_walls_visited_and_wanted_cells() -> None:
    names = ("c0-0", "c1-0", "c0-1", "c1-1")
    near = [(0, 1), (1, 0), (0, 2), (2, 0), (2, 3), (3, 2)]  # a wall between c1-0 and c1-1
    atoms = {"connected": near, "at-robot": [(1,)], "visited": [(0,), (1,)]}
    scene = Scene(names, atoms, {"visited": [(3,)]})
    picture = DRAWINGS["grid"].draw(scene)
    cells = {one.title: one for one in boxes(picture, *names)}
    [robot] = [shape for shape in picture.shapes if isinstance(shape, Disc) and shape.title]
    assert robot.x == cells["c1-0"].x
    walls = [shape for shape in picture.shapes if isinstance(shape, Line)]
    assert [(wall.start[1], wall.end[1]) for wall in walls] == [(66.0, 66.0)]
    [goal] = [shape for shape in picture.shapes if isinstance(shape, Box) and shape.dashed and shape.y < 110]
    assert (goal.x, goal.y) == (cells["c1-1"].x, cells["c1-1"].y - 4)
    assert "2 cells are visited. Goal: visit c1-1." in picture.words


def test_balls_are_in_their_rooms_or_carried() -> None:
    names = ("hall", "attic", "b1", "b2", "b3", "left", "right")
    scene = Scene(
        names,
        {
            "room": [(0,), (1,)],
            "ball": [(2,), (3,), (4,)],
            "gripper": [(5,), (6,)],
            "at": [(2, 0), (3, 1)],
            "carry": [(4, 5)],
            "free": [(6,)],
            "at-robby": [(1,)],
        },
        {"at": [(2, 1), (3, 1)]},
        held=frozenset([2]),
    )
    picture = DRAWINGS["gripper"].draw(scene)
    rooms = dict(zip(names[:2], boxes(picture, "hall", "attic"), strict=True))
    [robot] = boxes(picture, "the robot")
    [left] = boxes(picture, "left")
    balls = {shape.title: shape for shape in picture.shapes if isinstance(shape, Disc) and shape.title}

    def inside(small, large: Box) -> bool:
        return abs(small.x - large.x) < large.width / 2 and abs(small.y - large.y) < large.height / 2

    assert [inside(balls[ball], rooms["hall"]) for ball in ("b1", "b2", "b3")] == [True, False, False]
    assert inside(balls["b2"], rooms["attic"])
    assert inside(robot, rooms["attic"])
    assert inside(balls["b3"], robot)
    assert balls["b3"].x == left.x
    assert balls["b1"].fill == HELD
    assert {"→ attic", "✓ attic", "free"} <= set(labels(picture))
    assert "hall with b1, attic with b2. The robot is in attic." in picture.words


# Files


def test_names_are_escaped_everywhere() -> None:
    evil = '</text><script>alert("1")</script>&'
    scene = Scene((evil, "b"), {evil: [(0,)], "r<": [(0, 1)]}, {"r<": [(1, 0)]}, held=frozenset([0]))
    text = to_svg(DRAWINGS["graph"].draw(scene))
    tags = {node.tag.removeprefix(SVG) for node in read(text).iter()}
    assert tags <= {"svg", "title", "rect", "circle", "path", "polygon", "g", "text"}
    assert "<script" not in text
    to_png(DRAWINGS["graph"].draw(Scene(("$x^2$", "\\frac"), {"a$b": [(0, 1)]})))


def test_a_file_has_white_ground_and_a_page_its_own() -> None:
    picture = DRAWINGS["blocks"].draw(scene_of("blocks"))
    paper, page = to_svg(picture), to_svg(picture, DARK, None)
    assert 'fill="#ffffff"' in paper
    assert 'fill="#ffffff"' not in page
    assert read(page).get("color") == DARK


def test_a_png_is_twice_as_sharp() -> None:
    picture = DRAWINGS["gripper"].draw(scene_of("gripper"))
    made = to_png(picture)
    assert made.startswith(b"\x89PNG")
    size = int.from_bytes(made[16:20], "big"), int.from_bytes(made[20:24], "big")
    assert size == (int(picture.width * 2), int(picture.height * 2))


# State models


@pytest.mark.parametrize("n", [1, 3])
def test_a_state_model_shows_each_class_and_each_transition(n: int) -> None:
    data = expand(carry_all(n), 10_000)
    model = StateModel.of(data, transitions(data))
    picture = draw_state_model(model, 1)
    assert picture.words == (
        f"The state model of gripper-{n}: {6 * n} classes and {len(model.transitions)} transitions"
    )
    discs = {}
    for shape in picture.shapes:
        if isinstance(shape, Disc):
            discs.setdefault(shape.title.partition(":")[0], []).append(shape)
    assert set(discs) == {f"class {node}" for node in range(6 * n)}
    assert [one.fill for one in discs["class 1"]] == [HELD]
    assert {len(discs[f"class {node}"]) for node in np.flatnonzero(model.v_star == 0)} == {2}
    expected = {
        f"{name}: class {source} to {target}"
        for (source, target), names in zip(model.transitions.tolist(), model.schemas, strict=True)
        for name in names
        if source != target
    }
    assert set(lines(picture)) == expected
    first = [discs[f"class {node}"][0] for node in range(6 * n)]
    assert all((a.x - b.x) ** 2 + (a.y - b.y) ** 2 > (2 * a.radius) ** 2 for a, b in combinations(first, 2))
    assert all(0 < one.x < picture.width and 0 < one.y < picture.height for one in first)
    assert "to itself by move" in first[0].title


def test_of_a_large_state_model_a_class_and_its_neighbours_are_shown() -> None:
    instance = problem_class("gripper").make("train")[2]
    data = expand(instance, 10_000)
    model = StateModel.of(data, transitions(data))
    assert len(model) > MOST_NODES
    picture = draw_state_model(model, 7)
    around = {7, *model.transitions[model.after(7), 1], *model.transitions[model.before(7), 0]}
    assert sorted({int(one) for one in labels(picture) if one.isdigit()}) == sorted(around)
    assert f"of which {len(around)} around class 7 are drawn" in picture.words
    read(to_svg(picture))
