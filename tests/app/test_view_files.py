"""Views with names: saved, renamed, deleted, read by others, and never paths."""

import json

import pytest

from app.session.view_files import Views
from distill.common import InputError

CHOSEN = {"run": "gripper-a", "formula": "#<at>x & ~y", "split": "test"}


def names(views: Views) -> list[str]:
    return [view.name for view in views.every()[0]]


def test_what_one_saves_another_finds(tmp_path) -> None:
    Views(tmp_path).save("  Worst   states ", "accuracy", CHOSEN)
    (view,), wrong = Views(tmp_path).every()
    assert (view.name, view.page, dict(view.selection)) == ("Worst states", "accuracy", CHOSEN)
    assert wrong == []
    assert view.made > 0


def test_views_are_in_the_order_of_their_names(tmp_path) -> None:
    views = Views(tmp_path)
    for name in ("b", "C", "a", "ä"):
        views.save(name, "runs", {})
    assert names(views) == ["a", "b", "C", "ä"]


def test_a_name_is_given_once(tmp_path) -> None:
    views = Views(tmp_path)
    views.save("a", "runs", {})
    with pytest.raises(InputError, match="There is a view a already"):
        views.save(" a ", "value", {})
    views.save("b", "value", CHOSEN)
    with pytest.raises(InputError, match="There is a view a already"):
        views.rename("b", "a")
    assert [(view.name, view.page) for view in views.every()[0]] == [("a", "runs"), ("b", "value")]


def test_renaming_keeps_what_is_shown(tmp_path) -> None:
    views = Views(tmp_path)
    views.save("old", "value", CHOSEN)
    views.rename("old", "new")
    views.rename("new", "new")
    (view,), _ = views.every()
    assert (view.name, dict(view.selection)) == ("new", CHOSEN)
    with pytest.raises(InputError, match="no view old any more"):
        views.rename("old", "other")


def test_deleting_twice_is_no_error(tmp_path) -> None:
    views = Views(tmp_path)
    views.save("a", "runs", {})
    views.delete("a")
    views.delete("a")
    assert names(views) == []


@pytest.mark.parametrize("name", ["../../x", "/etc/passwd", "..", "a\0b", "x" * 80, "<b>*[a](b)"])
def test_names_are_never_paths(tmp_path, name) -> None:
    views = Views(tmp_path / "runs")
    views.save(name, "runs", {})
    (file,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert file.parent == tmp_path / "runs" / ".views"
    assert names(views) == [" ".join(name.replace("\0", " ").split())]
    views.delete(name)
    assert names(views) == []


@pytest.mark.parametrize("name", ["", "  ", "\n\t", "x" * 81])
def test_names_that_are_none_are_refused(tmp_path, name) -> None:
    with pytest.raises(InputError, match="name"):
        Views(tmp_path).save(name, "runs", {})


def test_a_selection_that_no_address_holds_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="select less"):
        Views(tmp_path).save("a", "runs", {"formula": "x" * 30_000})


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"name": "a"}', '{"name": "", "page": "x", "selection": {}}', "\x00"]
)
def test_files_that_are_no_views_are_told(tmp_path, text) -> None:
    views = Views(tmp_path)
    views.save("good", "runs", {})
    (tmp_path / ".views" / "bad.json").write_text(text)
    found, wrong = views.every()
    assert [view.name for view in found] == ["good"]
    assert wrong == ["bad.json"]


def test_a_folder_that_cannot_be_written_is_told(tmp_path) -> None:
    (tmp_path / ".views").write_text(json.dumps({}))
    with pytest.raises(InputError, match="Cannot write"):
        Views(tmp_path).save("a", "runs", {})
