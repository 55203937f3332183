from dataclasses import replace
from pathlib import Path

import pytest

from distill.common import InputError
from distill.planning import (
    Domain,
    Labelling,
    Split,
    preparation,
    prepare,
    problem_class,
    splits_by_size,
    splits_from_folders,
)
from distill.structures import DataSet


def few(name: str = "blocks-clear", count: int = 4) -> Split:
    split = problem_class(name).split("train")
    return replace(split, instances=split.instances[:count])


def test_the_cache_is_used_and_damage_is_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, file = prepare(few(), cache=tmp_path)
    original = file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(preparation, "_label_all", None)
        assert prepare(few(), cache=tmp_path)[0].same_as(data)
    file.write_bytes(original[:1000])
    assert prepare(few(), cache=tmp_path)[0].same_as(data)
    assert file.read_bytes() == original
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_settings_and_content_make_the_key(tmp_path: Path) -> None:
    splits = [
        few(),
        few(count=3),
        few("blocks-on"),
        replace(few(), labelling=few().labelling.replace(seed=1)),
        replace(few(), name="test"),
    ]
    files = [prepare(split, cache=tmp_path)[1] for split in splits]
    files.append(prepare(few(), cache=tmp_path, reduce="none")[1])
    assert len(set(files)) == len(files)


def test_states_without_reduction_are_not_labelled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = prepare(few(), cache=tmp_path / "alone", reduce="exact")[1]
    prepare(few(), cache=tmp_path, reduce="none")
    monkeypatch.setattr(preparation, "_label_all", None)
    assert prepare(few(), cache=tmp_path, reduce="exact")[1].read_bytes() == expected.read_bytes()


@pytest.mark.slow
def test_several_workers_give_the_same_file(tmp_path: Path) -> None:
    steps: list[tuple[int, int]] = []
    alone = prepare(few(count=6), cache=tmp_path / "one")[1]
    together = prepare(
        few(count=6), cache=tmp_path / "two", workers=2, progress=lambda *step: steps.append(step)
    )[1]
    assert alone.read_bytes() == together.read_bytes()
    assert steps == [(done, 6) for done in range(7)]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparation, "_WORTH_KEEPING", 0.0)
    steps: list[tuple[int, int]] = []

    def interrupting(done: int, total: int) -> None:
        steps.append((done, total))
        if done == 2 and len(steps) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(few(), cache=tmp_path, progress=interrupting)
    assert not list((tmp_path / "data").glob("*.npz"))
    resumed, file = prepare(few(), cache=tmp_path, progress=interrupting)
    assert steps == [(0, 4), (1, 4), (2, 4), (2, 4), (3, 4), (4, 4)]
    assert resumed.same_as(prepare(few(), cache=tmp_path / "fresh")[0])
    assert not file.with_suffix(".parts").exists()


def test_reductions(tmp_path: Path) -> None:
    split = few("blocks-clear", 12)
    every, kept = (prepare(split, cache=tmp_path, reduce=how)[0] for how in ("none", "exact"))
    assert len(every) == every.summary()["states"] == kept.summary()["states"] > len(kept)
    assert kept.same_as(every.distinct())
    assert kept.multiplicity.sum() == len(every)
    with pytest.raises(InputError, match="no reduction 'most'; choose from none, exact"):
        prepare(split, cache=tmp_path, reduce="most")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for instance in problem_class("blocks-clear").make("train")[:8]:
        (tmp_path / f"{instance.name}.pddl").write_text(instance.text)
    (tmp_path / "domain.pddl").write_text(problem_class("blocks-clear").domain.text)
    return tmp_path


def test_files_are_split_by_size_and_no_size_is_in_two_splits(folder: Path) -> None:
    domain = Domain.read(folder / "domain.pddl")
    for bounds, expected in [
        (None, {"train": {2, 3, 4, 5}, "validation": {6, 7}, "test": {8, 9}}),
        ((4, 9), {"train": {2, 3}, "validation": {4, 5, 6, 7, 8}, "test": {9}}),
        ((3, 3), {"train": {2}, "test": set(range(3, 10))}),
    ]:
        splits = splits_by_size(domain, folder, Labelling(), bounds)
        assert {s.name: {len(i.objects) for i in s.instances} for s in splits} == expected
    with pytest.raises(InputError, match="swap"):
        splits_by_size(domain, folder, Labelling(), (9, 4))


def test_folders_are_splits(folder: Path) -> None:
    splits = splits_from_folders(Domain.read(folder / "domain.pddl"), {"test": folder}, Labelling())
    assert [(split.name, len(split.instances)) for split in splits] == [("test", 8)]
    data = prepare(replace(splits[0], instances=splits[0].instances[:3]), cache=folder / "cache")[0]
    assert data.provenance["split"] == "test"
    assert str(folder) not in str((data.provenance, data.instances)), (
        "the same files elsewhere are the same data"
    )
    assert isinstance(data, DataSet)
