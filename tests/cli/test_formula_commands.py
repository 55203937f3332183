"""`distill formula`, as a user runs it."""

import json

import numpy as np
import pytest

from distill.logic import FORMATS, parse, read_formula, unroll
from tests.support.commands import answer, distill


@pytest.fixture
def state(files):
    """A domain and one instance of it."""
    domain, folder = files
    return "--domain", domain, "--instance", sorted(folder.glob("*.pddl"))[0]


def test_which_objects_a_formula_holds_of(state, tmp_path):
    picture = tmp_path / "state.svg"
    told = answer("formula", "eval", "~<on^-1>top & ~holding", *state, "--figure", picture)
    clear = answer("formula", "eval", "clear", *state)
    assert told["about"] == "objects"
    assert told["holds_of"] == clear["holds_of"] != []
    assert picture.stat().st_size > 1000


def test_numbers_and_truths_of_a_state(state):
    everything = answer("formula", "eval", "#top", *state)
    clear = answer("formula", "eval", "clear", *state)
    some = answer("formula", "eval", "∃x clear(x)", *state)
    assert everything["value"] > len(clear["holds_of"]) > 0
    assert some["holds"] is True


def test_a_value_function_against_v_star(files):
    domain, folder = files
    split = "--domain", domain, "--instances", folder, "--split", "test"
    exact = answer("formula", "eval", "@blocks-clear-closure", *split)
    assert exact["mae_to_v_star"] == 0
    assert exact["equal_to_v_star"] == exact["states"] > 0
    wrong = answer("formula", "eval", "#holding + 1", *split)
    assert wrong["mae_to_v_star"] > 0


def test_all_forms_say_the_same_or_why_not(state):
    told = answer("formula", "translate", "<on_G \\ on>clear", *state[:2])
    assert set(told) == set(FORMATS)
    assert all("text" in entry for entry in told.values())
    for name, form in FORMATS.items():
        if form.read is not None:
            assert form.read(told[name]["text"]) is parse("<on_G \\ on>clear")
    refused = answer("formula", "translate", "<on+>clear > 2")
    assert "no transitive closures" in refused["c2"]["refused"]
    assert "threshold" in refused["dlplan"]["refused"]
    assert "--domain" in refused["pddl"]["refused"]


def test_bounded_forms(state):
    chain = "<on>(clear | <on>(clear | <on>clear))"
    told = answer("formula", "translate", "<on+>clear", "--up-to", "3", *state[:2])
    for name, form in FORMATS.items():
        if name == "json":
            assert "no comments" in told[name]["refused"]
            continue
        assert "on+ leads to clear within 3 steps, wherever it leads there." in told[name]["text"]
        if form.read is not None:
            assert read_formula(told[name]["text"]) is parse(chain)
    function = "2*#<on+>clear - dist(clear, on, holding)"
    for options in ([], ["--define"]):
        for form in ("ascii", "emlc", "c2"):
            told = distill("formula", "translate", function, "--to", form, "--up-to", "4", *options)
            assert told.stdout.count(":=") >= 4 + 4
            assert read_formula(told.stdout) is unroll(parse(function), 4).formula
    product = distill("formula", "translate", "[#holding > 0] * #clear", "--to", "c2")
    assert product.stdout == "#x (clear(x) ∧ ∃y holding(y))\n"


def test_one_form_is_printed_as_it_is(tmp_path):
    done = distill("formula", "translate", "<on>clear > 1", "--to", "python")
    assert done.returncode == 0
    names: dict = {}
    exec(done.stdout, names)  # noqa: S102
    holds = names["formula"](3, {"on": [(0, 1), (0, 2)], "clear": [(1,), (2,)]})
    assert np.flatnonzero(holds).tolist() == [0]
    stored = tmp_path / "formula.json"
    stored.write_text(distill("formula", "translate", "<on>clear", "--to", "json").stdout)
    assert distill("formula", "translate", stored, "--to", "ascii").stdout == "<on>clear\n"


def test_shared_parts_are_named_once_and_read_again(tmp_path):
    value = "2*#<on+>clear_G - #holding + 3*#(<on+>clear_G & clear)"
    shown = distill("formula", "translate", value, "--define").stdout
    assert shown == "A := <on+>clear_G\n\nV = 3*#(clear & A) + 2*#A - #holding\n"
    spoken = distill("formula", "translate", value, "--define", "--to", "english").stdout
    assert "; an object that is linked by one or more steps of on to" in spoken
    for text in (shown, spoken):
        (tmp_path / "value.txt").write_text(text)
        again = answer("formula", "translate", tmp_path / "value.txt", "--define")
        assert again == {"ascii": {"text": shown.rstrip()}}
    assert "aligned" in distill("formula", "translate", value, "--define", "--to", "latex").stdout
    assert "A := 𝐀_on⁺" in distill("formula", "translate", value, "--define", "--to", "emlc").stdout


def test_simplify_by_laws_and_by_search():
    laws = answer("formula", "simplify", "~~clear & (clear | holding)")
    assert laws[-1]["formula"] == "clear"
    # On Blocks a block is clear, held, or below another one.
    found = answer("formula", "simplify", "~(holding | <on^-1>top)", "blocks-clear")
    assert found[-1]["formula"] == "clear"
    assert "equivalent on" in found[-1]["valid"]


def test_explain(state):
    told = answer("formula", "explain", "2*#<on>clear - [#holding > 0]", *state)
    assert told["meaning"].startswith("2 times the number of objects that are linked by on to")
    assert (told["size"], told["depth"], told["fragment"]) == (9, 1, "C2")
    assert {row["part"] for row in told["parts"]} >= {"clear", "<on>clear", "#<on>clear"}
    shown = distill("formula", "explain", "[#holding > 0]")
    assert "some object is holding" in shown.stdout


def test_the_library_is_listed():
    names = {made["name"] for made in answer("formula", "library")}
    assert {"gripper", "miconic", "blocks-clear", "blocks-on", "visitall"} <= names
    shown = distill("formula", "library", "visitall")
    assert "the robot's shortest path" in " ".join(shown.stdout.split())
    assert (
        distill("formula", "translate", "@blocks-clear/eta[2]", "--to", "ascii").stdout
        == "<on^-1><on^-1>clear\n"
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("eval", "cleer", "blocks-clear"), "There is no predicate 'cleer'; did you mean clear?"),
        (("eval", "on", "blocks-clear"), "on has 2 arguments"),
        (("eval", "(clear", "blocks-clear"), "Column 7: expected ')'"),
        (("eval", "clear"), "Give a problem class, or --domain FILE"),
        (("eval", "clear", "blocks-clear", "--figure", "x.doc"), "must end in one of"),
        (("eval", "#clear*2", "blocks-clear", "--split", "exam"), "There is no split 'exam'"),
        (("translate", "clear", "--to", "prose"), "There is no form 'prose'; choose from ascii"),
        (("translate", "@chess"), "There is no hand-made function 'chess'"),
        (
            ("translate", "#clear", "--define", "--to", "dlplan"),
            "--define writes ascii, emlc, c2, english",
        ),
        (("translate", "<on+>clear", "--up-to", "0"), "must be a whole number from 1 to 1000, not '0'"),
        (("translate", "<on+>clear", "--up-to", "1000000"), "must be a whole number from 1 to 1000"),
        (("translate", "<on+>clear > 1", "--to", "c2", "--up-to", "9"), "it counts the ends of paths"),
        (("translate", "<on+>clear", "--to", "json", "--up-to", "9"), "json has no comments"),
        (("translate", "clear", "--define"), "count it with #"),
        (("translate", "A := clear"), "The value function is missing"),
        (("explain", "clear", "--figure", "x.png"), "A figure needs a state"),
        (("translate", '[["not"'), "not valid JSON"),
        (("translate", "~" * 20_000 + "(", "--to", "c2"), "expected a formula"),
    ],
)
def test_bad_input_is_told_in_one_sentence(arguments, told):
    done = distill("formula", *arguments)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [80, 8_000])
def test_long_formulas_are_no_file_names(words):
    text = " & ".join(f"p{number:04}" for number in range(words))
    assert distill("formula", "translate", text, "--to", "ascii").stdout == text + "\n"


def test_json_is_plain(state):
    done = distill("formula", "eval", "#clear", *state, "--json")
    assert json.loads(done.stdout)["formula"] == "#clear"
