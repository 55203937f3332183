"""`distill export`, as a user runs it."""

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from distill.cli.export import export
from distill.common import InputError
from distill.explanations import FORMS, ValueFunction, ordered_terms
from distill.logic import FORMATS, Constant, parse, read_formula
from distill.planning import problem_class
from distill.runs import Run
from tests.support.commands import answer, distill
from tests.support.two_variables import states_of

app = typer.Typer()
app.command()(export)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run without a network, which is quick."""
    folder: Path = tmp_path_factory.mktemp("towers")
    (folder / "instances").mkdir()
    for instance in problem_class("blocks-clear").make("train")[:4]:
        (folder / "instances" / f"{instance.name}.pddl").write_text(instance.text)
    (folder / "blocks.pddl").write_text(problem_class("blocks-clear").domain.text)
    source = "--domain", folder / "blocks.pddl", "--train", folder / "instances", "--max-steps", "0"
    told = answer("run", *source, "--pool", "enumerate", "--out", folder / "runs")
    return Run.load(Path(told["run"]))


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def printed(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.exception
    return done.stdout


def refused(*arguments: object) -> str:
    done = run(*arguments)
    assert isinstance(done.exception, InputError)
    assert done.stdout == ""
    return str(done.exception)


def test_one_form_is_printed(made):
    value = made.value_function.value
    for form in ("ascii", "emlc", "english", "json"):
        assert read_formula(printed(made.folder, "--format", form)) is value
    assert read_formula(printed(made.folder)) is value
    assert json.loads(printed(made.folder, "--format", "json"))
    assert "n_count(" in printed(made.folder, "--format", "dlplan")
    assert "(:derived (term1 ?x)" in printed(made.folder, "--format", "pddl")
    assert "def formula(" in printed(made.folder, "--format", "python")
    assert r"\text{clear}_{G}" in printed(made.folder, "--format", "latex")


def test_what_a_run_keeps_is_what_is_exported(made):
    for name, form in FORMS.items():
        file = made.folder / form.file
        assert not file.exists() or file.read_text() == printed(made.folder, "--format", name)
    assert (made.folder / "report.html").read_text() == printed(made.folder, "--format", "html")


def test_the_command_is_there(made):
    done = distill("export", made.folder, "--format", "c2")
    assert done.returncode == 0, done.stderr
    assert "\nV = 2·#x " in done.stdout
    done = distill("export", made.folder, "--format", "latx")
    assert done.returncode == 2
    assert "There is no form 'latx'; choose from ascii" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_the_report_shows_the_figures_of_the_run(made):
    page = printed(made.folder, "--format", "html")
    assert page.startswith("<!doctype html>")
    assert page.count("<svg") == len([*made.folder.glob("*.svg"), *made.folder.glob("figures/*.svg")]) > 0
    assert made.folder.name in page
    assert page == printed(made.folder, "--format", "html")


def test_all_forms_at_once_and_never_over_what_is_there(made, tmp_path):
    folder = tmp_path / "new" / "forms"
    assert printed(made.folder, "--format", "all", "--out", folder) == ""
    assert {file.name for file in folder.iterdir()} == {"report.html", *(f.file for f in FORMS.values())}
    assert read_formula((folder / "value.txt").read_text()) is made.value_function.value
    for form, kept in FORMS.items():
        assert (folder / kept.file).read_text() == printed(made.folder, "--format", form)
    (folder / "value.txt").unlink()
    (folder / "value.en.txt").write_text("mine")
    assert "exists; give another --out, or --force" in refused(
        made.folder, "--format", "all", "--out", folder
    )
    assert not (folder / "value.txt").exists()
    printed(made.folder, "--format", "all", "--out", folder, "--force")
    assert read_formula((folder / "value.en.txt").read_text()) is made.value_function.value


def test_files_are_kept_unless_forced(made, tmp_path):
    file = tmp_path / "value.tex"
    assert printed(made.folder, "--format", "latex", "--out", file) == ""
    text = file.read_text()
    assert text == printed(made.folder, "--format", "latex")
    file.write_text("mine")
    assert f"{file} exists" in refused(made.folder, "--format", "latex", "--out", file)
    assert file.read_text() == "mine"
    printed(made.folder, "--format", "latex", "--out", file, "--force")
    assert file.read_text() == text
    assert "Cannot write" in refused(made.folder, "--out", tmp_path, "--force")


def test_single_terms(made):
    features = [f for _, f in ordered_terms(made.value_function.value) if not isinstance(f, Constant)]
    for place, feature in enumerate(features, 1):
        assert parse(printed(made.folder, "--term", place)) is feature
    assert "the number of objects that" in printed(made.folder, "--term", 1, "--format", "english")
    last = len(features) + 1
    assert f"has {len(features)} terms; there is no term {last}" in refused(made.folder, "--term", last)
    assert "--term needs a form for a single formula" in refused(made.folder, "--term", 1, "--format", "html")
    assert run(made.folder, "--term", 0).exit_code == 2


def test_what_cannot_be_said_is_refused(made, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(made.folder, other)
    ValueFunction(parse("#<on+>clear > 1 + 2*#clear"), ()).save(other / "model.json")
    told = refused(other, "--term", 2, "--format", "c2", "--out", tmp_path / "term")
    assert "it counts the ends of paths, and several paths may have the same end" in told
    assert not (tmp_path / "term").exists()
    assert "#x clear(x)" in printed(other, "--format", "c2").splitlines()
    ValueFunction(parse("dist(clear, on, holding)"), ()).save(other / "model.json")
    assert refused(other, "--format", "pddl").startswith("Nothing of it can be said here: PDDL has no dist")
    printed(other, "--format", "all", "--out", tmp_path / "forms")
    assert (tmp_path / "forms" / "value.pddl").read_text().startswith("; Nothing of it can be said here")
    assert "n_concept_distance(" in (tmp_path / "forms" / "value.dlplan.txt").read_text()
    (other / "weights.svg").write_text("no figure")
    assert "is no SVG" in refused(other, "--format", "html")


def closure_of(made: Run) -> int:
    """The number of the first term with a closure."""
    features = [f for _, f in ordered_terms(made.value_function.value) if not isinstance(f, Constant)]
    return 1 + next(place for place, feature in enumerate(features) if "+" in str(feature))


def test_the_c2_file_of_a_run_equals_its_function_on_all_its_states(made):
    text = (made.folder / "value.c2.txt").read_text()
    assert text.startswith("; Bounded form, equal to the unbounded one in every state in which\n; - on+ ")
    read = read_formula(text)
    for split in made.splits:
        batch = made.states(split).structures()
        values = [state.value(read) for state in states_of(batch)]
        assert values == made.value_function.values(batch).tolist()


def test_bounded_forms(made):
    for form in ("ascii", "emlc", "c2", "latex", "latex-c2", "english", "dlplan", "python"):
        text = printed(made.folder, "--format", form, "--up-to", 3)
        sign = FORMS[form].comment
        assert text.startswith(f"{sign} Bounded form, equal to the unbounded one in every state in which\n")
        assert f"{sign} These are, among others, all states of at most 3 objects.\n" in text
        if FORMATS[form].read:
            kinds = {node.kind for node in read_formula(text).walk()}
            assert not kinds & {"closure", "dist"}
    assert "; - on+ leads to clear_G within 7 steps" in printed(made.folder, "--up-to", 7)
    assert printed(made.folder, "--format", "c2") != printed(made.folder, "--format", "c2", "--up-to", 7)
    term = printed(made.folder, "--term", closure_of(made), "--format", "c2", "--up-to", 3)
    assert "A3(x) := ∃y (on(x, y) ∧ (clear_G(y) ∨ A2(y)))" in term


def test_bad_bounds(made, tmp_path):
    for most in (0, -1, 1_000_000, "x", 1.5):
        assert run(made.folder, "--format", "c2", "--up-to", most).exit_code == 2
    done = distill("export", made.folder, "--format", "c2", "--up-to", 0)
    assert done.returncode == 2
    assert done.stderr == "Error: --up-to must be a whole number from 1 to 1000, not '0'.\n"
    assert "json has no comments that could tell a bound" in refused(
        made.folder, "--format", "json", "--up-to", 3
    )
    assert "html is a report" in refused(made.folder, "--format", "html", "--up-to", 3)
    printed(made.folder, "--format", "all", "--out", tmp_path / "all", "--up-to", 3)
    assert read_formula((tmp_path / "all" / "value.json").read_text()) is made.value_function.value


def test_bad_input(made, tmp_path):
    told = refused(made.folder, "--format", "latx")
    assert "There is no form 'latx'; choose from ascii, emlc, c2, " in told
    assert told.endswith("html, all.")
    assert "give --out FOLDER" in refused(made.folder, "--format", "all")
    assert "is no run" in refused(tmp_path)
    assert "is no run" in refused(tmp_path / "missing")


def test_a_run_is_named_as_everywhere_else(made):
    folder = made.folder
    by_folder = distill("export", folder, "--format", "emlc")
    by_name = distill("export", folder.name[-8:], "--format", "emlc", "--store", folder.parent)
    assert by_name.returncode == 0, by_name.stderr
    assert by_name.stdout == by_folder.stdout
