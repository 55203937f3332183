"""Value functions in all forms: read again, and evaluated by others."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from distill.common import InputError
from distill.explanations import (
    FORMS,
    LARGEST,
    Form,
    ValueFunction,
    express,
    express_term,
    file_text,
    ordered_terms,
)
from distill.logic import (
    FORMATS,
    Evaluator,
    Number,
    bounds_of,
    parse,
    read_formula,
    syntax as fo,
    write_defined,
)
from distill.logic.notation.c2_parser import parse_c2
from distill.planning import Domain, problem_class
from distill.runs import Export
from distill.structures import Predicate, Structures, Vocabulary
from tests.support.exports import conditions, dlplan_states, in_c2, true
from tests.support.naive import numbers, value_functions as functions
from tests.support.strategies import WORDS, batches

FOUND = {
    "gripper": "-5*#<at & at_G>room + 2*#<at^-1><at_G>room + #<at^-1><at_G>at-robby"
    " - [#free > 0]*#(<at^-1><at_G>room & ~<at_G^-1>ball) + 2",
    "blocks-clear": "2*#<on+>clear_G - #<on>clear_G + #holding*#(clear_G & ~clear)",
    "blocks-on": "-3*#<on & on_G>top + 2*#<on_G & ~on>top*#<on+>(<on_G>top | <on_G^-1>top)"
    " - 0.5*#(clear & <on_G^-1>holding) + 1.5*[#handempty > 0] + 3",
    "visitall": "dist(visited_G & ~visited, connected, at-robot)",
}


def distilled(text: str) -> ValueFunction:
    return ValueFunction(parse(text), ())


def states_of(name: str, training_set: Any) -> tuple[Vocabulary, Structures]:
    data = training_set(name, 8)
    chosen = np.linspace(0, len(data) - 1, 25).astype(int)
    return data.vocabulary, data.structures(chosen)


def comments(text: str, sign: str = ";") -> list[str]:
    return [line.removeprefix(f"{sign} ") for line in text.splitlines() if line.startswith(sign)]


def terms_of(text: str) -> list[tuple[float, list[str]]]:
    """Weights, each with the lines after it, up to the next weight; a constant has none."""
    found: list[tuple[float, list[str]]] = []
    for line in text.splitlines():
        if weight := re.match(r"; (?:weight|constant) (\S+?)(?:,|$)", line):
            assert "not written" not in line, line
            found.append((float(weight[1]), []))
        elif found:
            found[-1][1].append(line)
    return found


def by_python(text: str, batch: Structures) -> list[float]:
    module: dict[str, Any] = {}
    exec(compile(text, "value.py", "exec"), module)  # noqa: S102
    found = []
    for state in range(len(batch)):
        atoms: dict[str, list[tuple[Any, ...]]] = {}
        for name, row in batch.decode(state):
            atoms.setdefault(name, []).append(row)
        found.append(module["formula"](int((batch.state_of_object == state).sum()), atoms))
    return found


def by_dlplan(text: str, batch: Structures) -> list[float]:
    factory, states = dlplan_states(batch)

    def value(line: str, state: Any) -> float:
        if line.startswith("b_"):
            return float(factory.parse_boolean(line).evaluate(state))
        found = factory.parse_numerical(line).evaluate(state)
        return 0 if found == 2**31 - 1 else found

    return [
        sum(w * np.prod([value(x, s) for x in lines if x[0] != ";"]) for w, lines in terms_of(text))
        for s in states
    ]


def by_pddl(text: str, batch: Structures) -> list[float]:
    """The axioms in turn, then the sum that the comments tell."""
    found = []
    for state in range(len(batch)):
        n = int((batch.state_of_object == state).sum())
        atoms: dict[str, set] = {p.name.partition(",")[0]: set() for p in batch.vocabulary}
        for name, row in batch.decode(state):
            atoms[name.partition(",")[0]].add(row)
        for _, (name, *variables), condition in conditions(text):
            atoms[name] = set()
            while True:
                places = np.ndindex(*[n] * len(variables)) if variables else [()]
                at = [(row, dict(zip(variables, row, strict=True))) for row in places]
                new = {row for row, own in at if true(condition, atoms, n, own)}
                if new == atoms[name]:
                    break
                atoms[name] = new
        total = 0.0
        for weight, lines in terms_of(text):
            for line in lines:
                if name := re.match(r"; (?:how many have|1 if) \(([^ )]+)", line):
                    weight *= len(atoms[name[1]])
            total += weight
        found.append(total)
    return found


def test_every_form_of_formulas_has_a_file_of_its_own():
    assert list(FORMS) == list(FORMATS)
    assert len({form.file for form in FORMS.values()}) == len(FORMS)
    assert set(Export().formats) <= set(FORMS)
    assert all(isinstance(form, Form) for form in FORMS.values())


@given(functions)
@example(parse("#(~clear & <~(id & on)><~(id & on)>~clear) + 2*#<~(id & on)>~clear"))
def test_what_is_written_is_read_again(value):
    for form in ("ascii", "emlc", "english", "json"):
        text = file_text(value, form, WORDS)
        assert read_formula(text) is value, text


@given(batches(), functions, st.booleans())
def test_c2_is_read_again_or_told(batch, value, bounded):
    bounds = bounds_of(value, [batch], counting=True) if bounded else None
    text = file_text(value, "c2", WORDS, bounds)
    if re.search("^V = ", text, re.MULTILINE):
        read = read_formula(text)
        assert Evaluator(batch).number(read).tolist() == pytest.approx(
            Evaluator(batch).number(value).tolist()
        )
        assert read is value or not in_c2(value)
        return
    assert not in_c2(value)
    told = " ".join(comments(text))
    lines = [line for line in text.splitlines() if not line.startswith(";")]
    assert bool(lines) != ("Nothing of it can be said here: " in told)
    assert re.search("C2 (has no|compares)|bounded form|times [2-9] features", told)
    for line in lines:
        assert isinstance(parse_c2(line), Number)


@given(batches(), numbers)
def test_python_gives_the_same_numbers(batch, value):
    text = file_text(value, "python", WORDS)
    assert by_python(text, batch) == pytest.approx(Evaluator(batch).number(value).tolist())


@pytest.mark.parametrize("name", FOUND)
def test_found_functions_are_the_same_everywhere(name, training_set):
    words, batch = states_of(name, training_set)
    made = distilled(FOUND[name])
    assert len(set(made.values(batch))) > 3
    expected = pytest.approx(made.values(batch).tolist())
    assert by_python(file_text(made.value, "python", words), batch) == expected
    assert by_dlplan(file_text(made.value, "dlplan", words), batch) == expected
    if name != "visitall":
        assert by_pddl(file_text(made.value, "pddl", words), batch) == expected


def test_nullary_features_too(training_set):
    words, batch = states_of("blocks-on", training_set)
    made = distilled("2*[#handempty > 0] + #<on_G>top*#<on_G & ~on>top")
    for form, evaluated in (("dlplan", by_dlplan), ("pddl", by_pddl)):
        assert evaluated(file_text(made.value, form, words), batch) == made.values(batch).tolist()


def test_achieved_and_missing_goals_need_no_other_vocabulary(training_set):
    data = training_set("blocks-on", 8)
    batch = data.structures(np.arange(0, len(data), len(data) // 8), goal_marking=True)
    made = distilled("2*#<on_G,F>top - #<on_G,T>clear + 1")
    for words in (data.vocabulary, data.vocabulary.marked()):
        for form, evaluated in (("dlplan", by_dlplan), ("pddl", by_pddl), ("python", by_python)):
            assert evaluated(file_text(made.value, form, words), batch) == made.values(batch).tolist()


def test_a_domain_takes_the_derived_predicates():
    for name, value in FOUND.items():
        if name == "visitall":
            continue
        domain = problem_class(name).domain
        text = file_text(distilled(value).value, "pddl", domain.vocabulary())
        changed = domain.text.replace("(:action", f"{text}\n(:action", 1)
        for section in (":requirements", ":predicates"):
            start = f"Add to ({section} ...): "
            [told] = [line.removeprefix(start) for line in comments(text) if line.startswith(start)]
            changed = changed.replace(f"({section}", f"({section} {told}", 1)
        extended = Domain(changed).vocabulary()
        assert all(head in extended for _, (head, *_), _ in conditions(text))


def test_names_of_the_domain_stay_its_own():
    words = Vocabulary([Predicate("term1", 1), Predicate("v-Term", 1), Predicate("feature", 1)])
    text = file_text(distilled("#term1 + 2*#~feature").value, "pddl", words)
    assert {name for _, (name, *_), _ in conditions(text)} == {"v-v-term1", "v-v-term2"}
    assert "(:derived (v-feature ?x)" in express_term(parse("#~feature"), "pddl", words)


def test_what_cannot_be_said_is_told_term_by_term():
    made = distilled("3*#(<on>clear > 1) + 2*#<on+>clear - #clear*dist(clear, on, clear) + 5")
    told = {form: comments(file_text(made.value, form, WORDS)) for form in ("c2", "dlplan", "pddl")}
    assert "weight 3" in told["c2"]
    assert "weight 2, not written: #<on+>clear" in told["c2"]
    assert "C2 has no transitive closures; on+ needs a bound (--up-to)." in told["c2"]
    assert "weight 3, not written: #<on>clear > 1" in told["dlplan"]
    assert "weight -1, times 2 features" in told["dlplan"]
    assert "weight -1, not written: #clear*dist(clear, on, clear)" in told["pddl"]
    assert all(lines[-1] == "constant 5" for lines in told.values())
    latex = comments(file_text(made.value, "latex-c2", WORDS), "%")
    assert latex[-1] == "constant 5"


@pytest.mark.parametrize(
    ("text", "form", "reason"),
    [
        (FOUND["visitall"], "c2", "C2 has no distances"),
        (FOUND["visitall"], "latex-c2", "C2 has no distances"),
        (FOUND["visitall"], "pddl", "PDDL has no dist"),
        ("#<on>clear > 1", "dlplan", "cannot count up to a threshold"),
        ("7", "dlplan", "it has no features"),
    ],
)
def test_nothing_at_all_is_refused_or_told_in_the_file(text, form, reason):
    words = Vocabulary([*WORDS, *problem_class("visitall").domain.vocabulary()])
    with pytest.raises(InputError, match=f"Nothing of it can be said here: .*{reason}"):
        express(parse(text), form, words)
    lines = file_text(distilled(text).value, form, words).splitlines()
    assert reason in lines[0]
    assert all(line.startswith(FORMS[form].comment) for line in lines)


def huge() -> Number:
    formula = parse("<on>clear")
    for _ in range(60):
        formula = fo.And(fo.Modal(fo.Role("on"), formula), fo.Modal(fo.Role("on", 1, 0), formula))
    return fo.Sum(fo.Count(formula), fo.Constant(2))


def test_huge_functions_are_kept_where_parts_are_shared():
    made = ValueFunction(huge(), ())
    assert made.value.size > 2**60
    assert read_formula(file_text(made.value, "json", WORDS)) is made.value
    batch = Structures(WORDS, 1, [0, 0], {"on": [[0, 1], [1, 0]], "clear": [[0], [1]]})
    assert by_python(file_text(made.value, "python", WORDS), batch) == made.values(batch).tolist() == [4]
    for name in ("ascii", "emlc", "english", "c2"):
        assert read_formula(file_text(made.value, name, WORDS)) is made.value
    for name in ("latex", "latex-c2"):
        assert len(file_text(made.value, name, WORDS)) < 20_000
    for name in ("dlplan", "pddl"):
        [told] = comments(file_text(made.value, name, WORDS), FORMS[name].comment)
        assert (
            "symbols, and at most 20,000 are written; take a form that keeps what is shared: ascii," in told
        )


def test_too_many_distinct_parts_are_refused_with_the_number(monkeypatch):
    monkeypatch.setattr("distill.explanations.export.LARGEST_PARTS", 100)
    value = huge()
    parts = len(list(value.walk()))
    for name, form in FORMS.items():
        if form.limit == "parts":
            with pytest.raises(InputError) as caught:
                express(value, name, WORDS)
            assert str(caught.value) == (
                f"It has {parts} distinct parts, and at most 100 are written with definitions; take python, "
                "json."
            )


@pytest.mark.slow
def test_large_functions_are_written_out_up_to_a_limit():
    terms = [parse(f"{n + 1}*#(<on>(clear & <on_G>top) > {n} & <on^-1>clear)") for n in range(1400)]
    value = fo.Sum(*terms)
    assert 0.7 * LARGEST < value.size <= LARGEST
    for form in ("ascii", "emlc", "english", "c2"):
        assert read_formula(file_text(value, form, WORDS)) is value


def test_terms_stand_in_the_order_in_which_they_are_written():
    value = parse(FOUND["gripper"])
    shown = write_defined(value, english=True).partition("V =")[2].splitlines()
    lines = [line for line in shown if not line.startswith(";")]
    assert len(lines) == len(ordered_terms(value))
    for line, (weight, feature) in zip(lines, ordered_terms(value), strict=True):
        number = feature.fields[0] if isinstance(feature, fo.Constant) else abs(weight)
        assert str(number) in line or number == 1
        assert ("-" in line.split("*")[0].split("#")[0]) == (weight < 0)


@pytest.mark.parametrize("form", FORMS)
def test_single_terms(form):
    words = problem_class("gripper").domain.vocabulary()
    for _, feature in ordered_terms(parse(FOUND["gripper"]))[:-1]:
        text = express_term(feature, form, words)
        assert text.strip()
        if FORMATS[form].read and not isinstance(feature, fo.Product):
            assert read_formula(text) is feature
        if isinstance(feature, fo.Product) and form == "dlplan":
            assert [len(lines) for _, lines in terms_of(text)] == [2]


def test_bad_input():
    with pytest.raises(InputError, match="There is no form 'latx'; choose from ascii, emlc, c2, english"):
        file_text(distilled("#clear").value, "latx", WORDS)
    with pytest.raises(InputError, match="There is no form"):
        express_term(parse("#clear"), "html", WORDS)
    with pytest.raises(InputError, match="PDDL has no dist"):
        express_term(parse("dist(clear, on, clear)"), "pddl", WORDS)
    assert "no predicate 'cleer'" in file_text(distilled("#cleer").value, "dlplan", WORDS)
