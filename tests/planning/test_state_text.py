from pathlib import Path

import pytest

from distill.common import InputError
from distill.planning import (
    Domain,
    Instance,
    Labelling,
    expand,
    label,
    problem_class,
    read_state_text,
    splits_by_size,
    with_states,
)
from distill.structures import DataSet
from tests.support.hostile import state_texts as hostile
from tests.support.state_texts import state_text

TOWER = "(define (problem p) (:domain blocks) (:objects {}) (:init {}) (:goal (clear b)))"
SHARED = Path(__file__).parents[3] / "shared" / "data" / "states" / "small_states.txt"


def two_blocks() -> Instance:
    text = TOWER.format("a b", "(on a b) (ontable b) (clear a) (handempty)")
    return Instance(problem_class("blocks-clear").domain, text, "p.pddl")


def states(data: DataSet) -> dict[frozenset[str], int]:
    return {frozenset(data.atom_names(state)): int(v) for state, v in enumerate(data.v_star)}


@pytest.mark.skipif(not SHARED.exists(), reason="the example of the format is not here")
def test_the_published_example_has_the_states_and_labels_of_expansion() -> None:
    read = read_state_text(SHARED, two_blocks())
    assert states(read) == states(expand(two_blocks(), 100))
    assert len(read) == 5


@pytest.mark.parametrize("name", ["blocks-on", "gripper", "miconic", "visitall"])
def test_a_set_is_the_same_after_writing_and_reading(name: str, tmp_path: Path) -> None:
    instance = problem_class(name).make("train")[0]
    data = label(instance, Labelling(states="walks", walks=2, walk_length=8))
    file = tmp_path / "p_states.txt"
    file.write_text(state_text(data))
    read = read_state_text(file, instance)
    assert read.vocabulary == data.vocabulary
    assert read.v_star.tolist() == data.v_star.tolist()
    everywhere = range(len(data))
    assert [sorted(read.atom_names(i)) for i in everywhere] == [
        sorted(data.atom_names(i)) for i in everywhere
    ]
    assert len(read.distinct()) == len(data.distinct()) < len(data)


SMALL = state_text(expand(two_blocks(), 100))


def change(old: str, new: str, tmp_path: Path) -> str:
    """The message about the small file with a change, and the line of the change."""
    file = tmp_path / "p_states.txt"
    assert old in SMALL
    file.write_text(SMALL.replace(old, new, 1))
    with pytest.raises(InputError) as found:
        read_state_text(file, two_blocks())
    message = str(found.value)
    assert message.startswith(f"{file}, line ")
    return message.removeprefix(f"{file}, ")


def line_of(text: str) -> int:
    return SMALL.splitlines().index(text) + 1


def test_what_is_wrong_and_where(tmp_path: Path) -> None:
    first = line_of("BEGIN_LABELED_STATE")
    label = SMALL.splitlines()[first]
    assert f"line {first + 1}: the label must be a whole number" in change(
        f"STATE\n{label}\n", "STATE\nsoon\n", tmp_path
    )
    assert "the domain" in change(" holding\n", " grasping\n", tmp_path)
    assert "no predicate grasping" in change(" holding\n", " grasping\n", tmp_path)
    assert f"line {line_of('END_OBJECTS')}: the instance p.pddl has no object c" in change(
        "1 b\n", "1 c\n", tmp_path
    ).replace(f"line {line_of('END_PREDICATES')}", f"line {line_of('END_OBJECTS')}")
    assert "states of another instance" in change("1 b\n", "1 b\n2 c\n", tmp_path)
    assert "no object with the number 9" in change("BEGIN_STATE\n", "BEGIN_STATE\n0 9\n", tmp_path)
    assert "no predicate with the number 8" in change("BEGIN_STATE\n", "BEGIN_STATE\n8 0\n", tmp_path)
    assert "takes 1 objects, not 2" in change("BEGIN_STATE\n", "BEGIN_STATE\n0 0 1\n", tmp_path)
    assert "it is truncated" in change("END_STATE_LIST\n", "", tmp_path)
    assert "END_STATE is missing" in change("END_STATE\n", "", tmp_path)
    goal = SMALL.split("BEGIN_GOAL_LIST\n")[1].split("\n")[0]
    assert "has no goal (clear a)" in change(f"GOAL_LIST\n{goal}", f"GOAL_LIST\n{goal[:-1]}0", tmp_path)
    assert "goal" in change("LABELED_STATE\n0\n", "LABELED_STATE\n4\n", tmp_path)


def test_a_truncated_file_is_never_read(tmp_path: Path) -> None:
    lines = SMALL.splitlines()
    file = tmp_path / "p_states.txt"
    for length in range(len(lines)):
        file.write_text("\n".join(lines[:length]))
        with pytest.raises(InputError, match=f"line {max(1, length)}: .*truncated"):
            read_state_text(file, two_blocks())


def test_damage_at_random_places(tmp_path: Path) -> None:
    found = {case.name: hostile.failure(case, tmp_path) for case in hostile.cases(300, seed=0)}
    assert len(found) == 300
    assert not [f"{name}: {reason}" for name, reason in found.items() if reason]


def test_static_facts_of_another_instance(tmp_path: Path) -> None:
    first, second = problem_class("miconic").make("train")[20:22]
    file = tmp_path / "p_states.txt"
    file.write_text(state_text(label(first, Labelling(states="walks", walk_length=2))))
    with pytest.raises(InputError, match="states of another instance"):
        read_state_text(file, second)


def folder_of(tmp_path: Path) -> tuple[Domain, list[Instance]]:
    domain = problem_class("blocks-clear").domain
    (tmp_path / "instances").mkdir()
    (tmp_path / "states").mkdir()
    instances = problem_class("blocks-clear").make("train")[:3]
    for number, instance in enumerate(instances):
        (tmp_path / "instances" / f"p{number}.pddl").write_text(instance.text)
        (tmp_path / "states" / f"p{number}_states.txt").write_text(state_text(expand(instance, 10_000)))
    return domain, instances


def test_a_folder_of_texts_matched_with_instances(tmp_path: Path) -> None:
    from distill.planning import prepare

    domain, instances = folder_of(tmp_path)
    [split] = with_states(
        splits_by_size(domain, tmp_path / "instances", Labelling(), (99, 99)), tmp_path / "states"
    )
    data, _ = prepare(split, reduce="none", cache=tmp_path / "cache")
    assert len(data) == sum(len(expand(one, 10_000)) for one in instances)
    again, _ = prepare(split, reduce="none", cache=tmp_path / "cache")
    assert again.same_as(data)
    # Other labels in the file are other data, whatever is in the cache.
    file = tmp_path / "states" / "p2_states.txt"
    file.write_text(file.read_text().replace("STATE\n2\n", "STATE\n3\n"))
    changed, _ = prepare(split, reduce="none", cache=tmp_path / "cache")
    assert not changed.same_as(data)
    file.unlink()
    with pytest.raises(InputError, match=r"neither train.npz nor p2_states.txt"):
        with_states([split], tmp_path / "states")
