"""A suite of domains: counts, the cache, errors, published figures."""

import shutil
from pathlib import Path

import pytest

from distill.common import InputError, InterruptionError
from distill.evaluation import (
    DomainCounts,
    SuiteDomain,
    SuiteSettings,
    analyse_suite,
    brief_count,
    conflict_suite,
    domain_folders,
    published_conflicts,
)
from distill.planning import expand, problem_class
from distill.structures import join
from distill.symmetry import VARIANTS, Expressivity

NUMBERS = {"blocks-clear": (0, 1, 2), "gripper": (0,)}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """Two domains; the instances of the second have a folder of their own."""
    folder = tmp_path / "suite"
    for name, numbers in NUMBERS.items():
        problem, home = problem_class(name), folder / "all" / name
        inside = home / "instances" if name == "gripper" else home
        inside.mkdir(parents=True)
        (home / "domain.pddl").write_text(problem.domain.text)
        made = problem.make("train")
        for number in numbers:
            (inside / f"p{number}.pddl").write_text(made[number].text)
    return folder


def analysed(
    suite: Path, tmp_path: Path, settings: SuiteSettings | None = None, **options
) -> list[SuiteDomain]:
    return list(analyse_suite(suite, settings or SuiteSettings(), cache=tmp_path / "cache", **options))


def test_the_counts_are_those_of_each_domain_alone(suite: Path, tmp_path: Path) -> None:
    found = analysed(suite, tmp_path, SuiteSettings(networks=2, layers=1))
    assert [one.name for one in found] == ["all/blocks-clear", "all/gripper"]
    for one, (name, numbers) in zip(found, NUMBERS.items(), strict=True):
        made = problem_class(name).make("train")
        expected = Expressivity.of(join([expand(made[number], 10_000) for number in numbers])).summary()
        told = one.counts.model_dump()
        compared = told.pop("random_networks")
        assert told == expected
        assert (compared["networks"], compared["layers"], compared["agree"]) == (2, 1, True)
        assert not one.fault


def test_a_finished_domain_is_not_analysed_again(suite: Path, tmp_path: Path, monkeypatch) -> None:
    first = analysed(suite, tmp_path, pattern="*/gripper")
    calls = []
    real = Expressivity.of
    monkeypatch.setattr(Expressivity, "of", lambda *given: calls.append(1) or real(*given))
    reports: list[tuple[str, int, int]] = []
    again = analysed(suite, tmp_path, progress=lambda *done: reports.append(done))
    assert len(calls) == 1
    assert again[1] == first[0]
    assert any(text == "all/blocks-clear (1 of 2): classes" for text, _, _ in reports)
    assert [text for text, _, _ in reports if text.startswith("all/gripper")] == [
        "all/gripper (2 of 2): reading"
    ]
    # Other settings, another content and a damaged result are analysed.
    analysed(suite, tmp_path, SuiteSettings(max_states=50_000), pattern="*/gripper")
    assert len(calls) == 2
    for stored in (tmp_path / "cache" / "data" / "conflicts").iterdir():
        stored.write_text("{}")
    assert analysed(suite, tmp_path) == again
    assert len(calls) == 4


def test_a_broken_domain_is_named_and_the_others_are_analysed(suite: Path, tmp_path: Path) -> None:
    broken = suite / "a-broken-one"
    broken.mkdir()
    (broken / "domain.pddl").write_text("(define (domain d)")
    empty = suite / "empty"
    empty.mkdir()
    shutil.copy(suite / "all" / "gripper" / "domain.pddl", empty)
    lost = suite / "lost"
    shutil.copytree(suite / "all" / "blocks-clear", lost)
    (lost / "p9.pddl").write_text("(define (problem p) (:domain other) (:init) (:goal (and)))")
    found = {one.name: one for one in analysed(suite, tmp_path, SuiteSettings(max_states=2_000))}
    assert "a-broken-one/domain.pddl, line 1" in found["a-broken-one"].fault
    assert "holds no PDDL instances" in found["empty"].fault
    assert "p9.pddl" in found["lost"].fault
    for name in ("all/blocks-clear", "all/gripper"):
        assert found[name].counts is not None
    [one] = analysed(suite, tmp_path, SuiteSettings(max_states=10), pattern="all/g*")
    assert one.counts is None
    assert "p0.pddl has more than 10 states" in one.fault


def test_an_interruption_ends_the_suite(suite: Path, tmp_path: Path, monkeypatch) -> None:
    def interrupted(*_given: object) -> Expressivity:
        raise InterruptionError("Interrupted.")

    monkeypatch.setattr(conflict_suite.Expressivity, "of", interrupted)
    with pytest.raises(InterruptionError):
        analysed(suite, tmp_path)


def test_folders_are_found_by_their_domain_file(suite: Path, tmp_path: Path) -> None:
    assert [folder.name for folder in domain_folders(suite)] == ["blocks-clear", "gripper"]
    assert [folder.name for folder in domain_folders(suite, "*/g*")] == ["gripper"]
    assert domain_folders(suite / "all" / "gripper") == [suite / "all" / "gripper"]
    with pytest.raises(InputError, match=r"There is no folder .*nowhere"):
        domain_folders(tmp_path / "nowhere")
    with pytest.raises(InputError, match="matches gripper; one is all/blocks-clear"):
        domain_folders(suite, "gripper")
    with pytest.raises(InputError, match=r"There is no domain.pddl below"):
        domain_folders(suite / "all" / "gripper" / "instances")


# Published figures


def test_the_published_figures_agree_with_what_the_paper_says_of_them() -> None:
    """Section 8: domains without conflicts, and what goal marking and 2-FWL change."""
    domains = published_conflicts().domains
    assert len(domains) == 18
    assert all(tuple(sorted(one.conflicts)) == tuple(sorted(VARIANTS)) for one in domains)
    assert sum(not any(one.conflicts["1-WL"]) for one in domains) == 11
    assert sum(not one.conflicts["1-WL+G"][0] for one in domains) == 12
    assert sum(not one.conflicts["1-WL+G"][1] for one in domains) == 14
    assert not any(any(one.conflicts[name]) for one in domains for name in VARIANTS if "2-FWL" in name)
    for one in domains:
        for name, (e, v) in one.conflicts.items():
            assert e >= v, (one.name, name)
        assert one.conflicts["1-WL set"] >= one.conflicts["1-WL"]
    # Table 2, whose factors the paper prints.
    factors = {one.name: one.training_states / one.training_classes for one in domains if one.training_states}
    assert len(factors) == 10
    assert (round(factors["Blocks3ops"], 2), round(factors["Visitall"], 2)) == (29.72, 1.18)


@pytest.mark.parametrize(
    ("folders", "name"),
    [
        (["blocks_3"], "Blocks3ops"),
        (["blocks4ops-clear", "table1"], "Blocks4ops-clear"),
        (["data", "GRIPPER"], "Gripper"),
        (["blocks"], None),
        (["gripper-large"], None),
    ],
)
def test_a_folder_stands_for_the_domain_of_its_name(folders: list[str], name: str | None) -> None:
    found = published_conflicts().match(folders)
    assert (found and found.name) == name


def test_differences_are_named_with_both_figures() -> None:
    ferry = published_conflicts().match(["ferry"])
    assert ferry is not None
    conflicts = {name: list(pair) for name, pair in {**ferry.conflicts, **ferry.corrected}.items()}
    counts = DomainCounts(
        instances=180,
        solvable_instances=180,
        states=8430,
        states_of_solvable_instances=8430,
        unsolvable_states=0,
        classes_summed_over_instances=3964,
        classes_across_solvable_instances=265,
        training_states=8430,
        training_classes=265,
        max_v_star=12,
        conflicts_E_V=conflicts,
    )
    assert ferry.differences(counts) == []
    assert ferry.corrections() == [
        "Ferry, 1-WL set: the paper prints 84/84, its corrected code gives 132/132"
    ]
    other = counts.model_copy(update={"states": 9600, "conflicts_E_V": {**conflicts, "1-WL": [36, 35]}})
    assert ferry.differences(other) == ["states: 10 K, published 8 K", "1-WL: 36/35, published 36/36"]


def test_numbers_are_shortened_as_in_table_1() -> None:
    assert [brief_count(n) for n in (0, 999, 1000, 1499, 1500, 999_499, 1_499_999, 115_400_000)] == [
        "0",
        "999",
        "1 K",
        "1 K",
        "2 K",
        "999 K",
        "1 M",
        "115 M",
    ]
