"""Exports of formulas against our own evaluation: dlplan and Fast Downward are asked themselves."""

import itertools
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distill import logic as fo
from distill.errors import InputError
from distill.logic import Evaluator, parse
from distill.logic.derived import MOST, write_derived
from distill.logic.dlplan import dlplan_name, write_dlplan
from distill.logic.python import write_python
from distill.planning import Domain, Instance, fast_downward, problem_class
from distill.planning.fast_downward import find_driver
from distill.structures import Predicate, Structures, Vocabulary
from tests.logic.naive import comparisons, numbers, relations, truths
from tests.strategies import WORDS, batches

formulas = st.one_of(truths, comparisons, numbers)


def values(batch: Structures, formula: fo.Node) -> list[Any]:
    """For each state: the objects that have it, whether the state has it, or its number."""
    evaluator = Evaluator(batch)
    if isinstance(formula, fo.Number):
        return evaluator.number(formula).tolist()
    holds = evaluator.holds(formula)
    if formula.of_state:
        return holds.tolist()
    bounds = itertools.pairwise(batch.object_offsets)
    return [np.flatnonzero(holds[begin:end]).tolist() for begin, end in bounds]


def marked(batch: Structures) -> Structures:
    """Goals told apart by whether they are achieved."""
    atoms = {name: set(map(tuple, rows.tolist())) for name, rows in batch.relations.items()}
    goal = atoms.pop("on_G")
    split = {"on_G,T": sorted(goal & atoms["on"]), "on_G,F": sorted(goal - atoms["on"])}
    relations = {name: rows for name, rows in batch.relations.items() if name != "on_G"} | split
    return Structures(batch.vocabulary.marked(), len(batch), batch.state_of_object, relations)


def rewritten(formula: fo.Node, change: Any) -> Any:
    """The formula with other names or thresholds."""
    return fo.from_json([change(row) for row in fo.to_json(formula)])


def halved(row: list[Any]) -> list[Any]:
    """One of the two halves instead of a goal, depending on the direction."""
    return ["role", f"on_G,{'TF'[row[2]]}", *row[2:]] if row[:2] == ["role", "on_G"] else row


def simple(row: list[Any]) -> list[Any]:
    """Without thresholds and nullary predicates."""
    if row[0] in ("modal", "compare"):
        return [*row[:-1], 0]
    return ["atom", "clear"] if row == ["atom", "handempty"] else row


# --- dlplan


def dlplan_states(batch: Structures) -> tuple[Any, list[Any]]:
    dlplan = pytest.importorskip("dlplan.core", reason="dlplan is not installed; `make setup` tries to")
    words = dlplan.VocabularyInfo()
    names = {p.name: dlplan_name(p.name.partition(",")[0]) for p in batch.vocabulary}
    for name, arity in {names[p.name]: p.arity for p in batch.vocabulary}.items():
        words.add_predicate(name, arity)
    states = []
    for number in range(len(batch)):
        instance = dlplan.InstanceInfo(number, words)
        for x in range(np.bincount(batch.state_of_object, minlength=len(batch))[number]):
            instance.add_object(f"o{x}")
        atoms = [instance.add_atom(names[name], [f"o{x}" for x in row]) for name, row in batch.decode(number)]
        states.append(dlplan.State(number, instance, atoms))
    return dlplan.SyntacticElementFactory(words), states


def by_dlplan(batch: Structures, formula: fo.Node) -> list[Any]:
    factory, states = dlplan_states(batch)
    text = write_dlplan(formula, batch.vocabulary)
    if text.startswith("c_"):
        concept = factory.parse_concept(text)
        return [sorted(concept.evaluate(state).to_sorted_vector()) for state in states]
    if text.startswith("b_"):
        boolean = factory.parse_boolean(text)
        return [boolean.evaluate(state) for state in states]
    feature = factory.parse_numerical(text)
    return [0 if (value := feature.evaluate(state)) == 2**31 - 1 else value for state in states]


def dlplan_has(formula: fo.Node) -> bool:
    if isinstance(formula, fo.Indicator):
        [formula] = formula.fields
    if formula is parse("[#handempty > 0]"):
        return True
    for node in formula.walk():
        match node:
            case fo.Atom() if node.fields[0] == "handempty":
                return False
            case fo.Modal() | fo.Compare() if node.fields[-1] > 0:
                return False
            case fo.Compare() if not isinstance(node.fields[0], fo.Count):
                return False
            case fo.Indicator() | fo.Constant() | fo.Scaled() | fo.Sum() | fo.Product():
                return False
    return True


@given(batches(min_objects=1), formulas)
def test_dlplan_agrees_or_refuses(batch, formula):
    if dlplan_has(formula):
        assert by_dlplan(batch, formula) == values(batch, formula)
    else:
        with pytest.raises(InputError, match="dlplan"):
            write_dlplan(formula, batch.vocabulary)


dlplan_formulas = st.one_of(
    truths,
    truths.map(fo.Count),
    st.builds(fo.Distance, truths, relations, truths),
    st.recursive(
        truths.map(fo.Count).map(fo.Compare),
        lambda c: st.one_of(c.map(fo.Not), st.builds(fo.And, c, c), st.builds(fo.Or, c, c)),
        max_leaves=3,
    ),
).map(lambda formula: rewritten(formula, simple))


@given(batches(min_objects=1), dlplan_formulas)
def test_dlplan_agrees(batch, formula):
    assert by_dlplan(batch, formula) == values(batch, formula)


@given(batches(min_objects=1), dlplan_formulas)
def test_dlplan_agrees_under_goal_marking(batch, formula):
    formula = rewritten(formula, halved)
    assert by_dlplan(marked(batch), formula) == values(marked(batch), formula)


FORMULAS = {
    "blocks": [
        "<on^-1+>clear",
        "<on*>(ontable & <on_G>top)",
        "<on_G \\ on>top",
        "<on & on_G>~clear",
        "<(on | on_G)+>holding",
        "~<on_G^-1>top & clear",
        "<~(on | id)>clear",
        "#<on_G,T>top",
        "#<on+>~clear",
        "dist(clear, on, ontable)",
        "dist(holding, on_G | on_G^-1, clear)",
        "[#<on_G,F>top > 0]",
        "~[#holding > 0] | [#(clear & ontable) > 0]",
        "[#handempty > 0]",
    ],
    "gripper": [
        "<at>at-robby",
        "<at_G>at-robby & ~<at>at-robby",
        "<carry>~free",
        "#<at_G,F>top",
        "#<carry^-1 | at>top",
        "dist(at-robby, at^-1 | at_G, <at_G,F^-1>top)",
        "~[#<at_G \\ at>top > 0]",
    ],
}


def planning_states(name: str, training_set: Any) -> Structures:
    data = training_set(name)
    chosen = [*np.linspace(0, len(data) - 1, 40).astype(int), *np.flatnonzero(data.v_star == 0)[:5]]
    return data.structures(chosen, goal_marking=True)


@pytest.mark.parametrize("name", FORMULAS)
def test_dlplan_agrees_on_planning_states(name, training_set):
    batch = planning_states(name, training_set)
    for text in FORMULAS[name]:
        expected = values(batch, parse(text))
        assert by_dlplan(batch, parse(text)) == expected, text
        assert len(set(map(str, expected))) > 1, f"{text} is the same in all states, which tests nothing"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<on>clear > 1", "a modal with > 1"),
        ("[#clear > 2]", "a comparison with > 2"),
        ("2*#clear", "no scaled; write each feature"),
        ("#clear + 1", "no constant|no sum"),
        ("#clear * #<on>top", "no product"),
        ("[dist(clear, on, clear) > 0]", "compares no numbers"),
        ("clear & handempty", "no concept for handempty"),
        ("~[#handempty > 0]", "no concept for handempty"),
        ("<between_G,T[0,2]>clear", "two halves of a goal with 3 arguments"),
    ],
)
def test_what_dlplan_cannot_say(text, message):
    words = Vocabulary([*WORDS, Predicate("between_G,T", 3, "goal"), Predicate("between_G,F", 3, "goal")])
    with pytest.raises(InputError, match=message):
        write_dlplan(parse(text), words)


def test_names_in_dlplan():
    assert [dlplan_name(n) for n in ("on", "on_G", "on_nG", "at-robby")] == [
        "on",
        "on_g",
        "on_nG",
        "at-robby",
    ]
    assert write_dlplan(parse("clear_nG,T")) == "c_diff(c_primitive(clear_nG,0),c_primitive(clear,0))"
    for name in ("on_g", "_on", "on.2", "on,2"):
        with pytest.raises(InputError, match=re.escape(name)):
            write_dlplan(fo.Atom(name))
    assert write_dlplan(fo.Closure(fo.Role("on"))) == "r_transitive_closure(r_primitive(on,0,1))"


# --- PDDL


Condition = list[Any]


def conditions(text: str) -> list[Condition]:
    """S-expressions as lists."""
    stack: list[Condition] = [[]]
    for part in re.findall(r"[()]|[^\s()]+", re.sub(r";[^\n]*", "", text)):
        if part == "(":
            stack.append([])
        elif part == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(part)
    return stack[0]


def true(c: Condition, atoms: dict[str, set], n: int, at: dict[str, int]) -> bool:
    match c:
        case ["and", *parts]:
            return all(true(part, atoms, n, at) for part in parts)
        case ["or", *parts]:
            return any(true(part, atoms, n, at) for part in parts)
        case ["not", part]:
            return not true(part, atoms, n, at)
        case ["exists", names, part]:
            found = itertools.product(range(n), repeat=len(names))
            return any(true(part, atoms, n, {**at, **dict(zip(names, xs, strict=True))}) for xs in found)
        case ["=", one, other]:
            return at[one] == at[other]
        case [name, *arguments]:
            return tuple(at[a] for a in arguments) in atoms[name]
    raise AssertionError(c)


def by_axioms(batch: Structures, formula: fo.Truth) -> list[Any]:
    axioms = conditions(write_derived(formula, batch.vocabulary, "shown"))
    found = []
    for state in range(len(batch)):
        n = int((batch.state_of_object == state).sum())
        atoms: dict[str, set] = {p.name.partition(",")[0]: set() for p in batch.vocabulary}
        for name, row in batch.decode(state):
            atoms[name.partition(",")[0]].add(row)
        for keyword, (name, *variables), condition in axioms:
            assert keyword == ":derived"
            atoms[name] = set()
            while True:
                rows = itertools.product(range(n), repeat=len(variables))
                new = {r for r in rows if true(condition, atoms, n, dict(zip(variables, r, strict=True)))}
                if new == atoms[name]:
                    break
                atoms[name] = new
        found.append(() in atoms["shown"] if formula.of_state else sorted(x for (x,) in atoms["shown"]))
    return found


def pddl_has(formula: fo.Node) -> bool:
    if not isinstance(formula, fo.Truth):
        return False
    return all(isinstance(n.fields[0], fo.Count) for n in formula.walk() if isinstance(n, fo.Compare))


@given(batches(max_objects=3, max_states=3), formulas)
def test_derived_predicates_agree_or_are_refused(batch, formula):
    if pddl_has(formula):
        assert by_axioms(batch, formula) == values(batch, formula)
    else:
        with pytest.raises(InputError, match="PDDL has no"):
            write_derived(formula, batch.vocabulary)


@given(batches(max_objects=3, max_states=3), truths)
def test_derived_predicates_agree_under_goal_marking(batch, formula):
    formula = rewritten(formula, halved)
    assert by_axioms(marked(batch), formula) == values(marked(batch), formula)


def test_derived_predicates_count_atoms_and_objects():
    rows = [[0, 1, 2], [0, 2, 2], [0, 2, 1], [1, 2, 0]]
    batch = Structures(WORDS, 1, [0] * 3, {"between": rows, "on": [[0, 1], [0, 2]], "clear": [[1], [2]]})
    for text in ("<between[0,2]>clear > 2", "<between[0,2]>clear > 1", "<on>clear > 1", "<on>clear > 2"):
        assert by_axioms(batch, parse(text)) == values(batch, parse(text))
    assert values(batch, parse("<between[0,2]>clear > 2")) == [[0]]


def test_the_text_of_derived_predicates_grows_with_what_differs():
    formula = parse("<on>clear")
    for _ in range(60):
        formula = fo.And(fo.Modal(fo.Role("on"), formula), fo.Modal(fo.Role("on", 1, 0), formula))
    assert formula.size > 2**60
    assert len(write_derived(formula, WORDS)) < 20_000
    assert len(write_python(formula)) < 20_000
    with pytest.raises(InputError, match="symbols"):
        write_dlplan(formula)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#clear", "PDDL has no count"),
        ("2*#clear + 1", "PDDL has no sum"),
        ("dist(clear, on, clear)", "PDDL has no dist"),
        ("[dist(clear, on, clear) > 0]", "PDDL has no dist"),
        (f"<on>clear > {MOST + 1}", "threshold of 5"),
        (f"[#clear > {MOST + 1}]", "threshold of 5"),
    ],
)
def test_what_pddl_cannot_say(text, message):
    with pytest.raises(InputError, match=message):
        write_derived(parse(text), WORDS)


def test_names_of_derived_predicates():
    for name in ("clear", "Clear", "1x", "a b", ""):
        with pytest.raises(InputError, match="name"):
            write_derived(parse("clear"), WORDS, name)
    with pytest.raises(InputError, match="predicate far-1 already"):
        write_derived(parse("far-1"), Vocabulary([Predicate("far-1", 1)]), "far")
    clash = Vocabulary([Predicate("on_g", 2), Predicate("on", 2), Predicate("on_G", 2, "goal")])
    with pytest.raises(InputError, match="confuse on_G with on_g"):
        write_derived(parse("<on_G>top"), clash)


TYPED = Domain(
    "(define (domain d) (:requirements :typing) (:types room ball) (:constants hall - room)"
    " (:predicates (at ?b - ball ?r - room) (lit)) (:action move :parameters (?b - ball ?r ?s - room)"
    " :precondition (at ?b ?r) :effect (and (at ?b ?s) (not (at ?b ?r)))))"
)
TYPED_INSTANCE = Instance(
    TYPED,
    "(define (problem p) (:domain d) (:objects a b - ball r - room) (:init (at a r) (at b hall))"
    " (:goal (and (at a hall) (at b hall))))",
    "typed",
)
BY_FAST_DOWNWARD = {
    "blocks": [
        "top",
        "bot",
        "<on^-1+>clear",
        "<on*>(ontable & <on_G>top)",
        "<on_G \\ on>top & ~<on_G,T>top",
        "<~(on | id)>clear > 1",
        "<(on | on_G^-1)+>(ontable & ~clear)",
        "handempty & ~<on>top",
        "[#<on_G,F>top > 1] & ~[#holding > 0]",
        "[#<all>clear > 2]",
    ],
    "gripper": ["<at>at-robby", "<at_G,F>~at-robby", "<carry>~free | <at^-1>top > 1", "[#<carry>top > 0]"],
    "typed": ["ball", "room & ~is_hall", "<at>is_hall", "~lit & <at_G,T>top", "[#room > 1]", "<~at>ball"],
}


@pytest.mark.skipif(find_driver() is None, reason="Fast Downward (extra `planners`) is missing")
@pytest.mark.parametrize("name", BY_FAST_DOWNWARD)
def test_fast_downward_understands_derived_predicates(name):
    instance = TYPED_INSTANCE if name == "typed" else problem_class(name).make("train")[1]
    states = [instance.initial_state]
    for _ in range(2):
        states.append(sorted(instance.successors(states[-1]), key=lambda step: step[0])[0][1])
    formulas = {f"f{number}": parse(text) for number, text in enumerate(BY_FAST_DOWNWARD[name])}
    vocabulary = instance.domain.vocabulary().marked()
    texts = [write_derived(formula, vocabulary, own) for own, formula in formulas.items()]
    declared = {one for text in texts for one in re.findall(r"\([^)]*\)", text.splitlines()[0])[1:]}
    domain = instance.domain.text.replace("(:predicates", f"(:predicates {' '.join(sorted(declared))}", 1)
    domain = domain.replace("(:action", "\n".join(texts) + "\n(:action", 1)
    goals = " ".join(f"({p}_G {' '.join(xs)})" for p, xs, _ in instance.goals)
    for state in (states[0], states[-1]):
        batch = encoded(instance, state, vocabulary)
        literals = []
        for own, formula in formulas.items():
            [value] = values(batch, formula)
            atoms = (
                [((), value)]
                if formula.of_state
                else [((o,), x in value) for x, o in enumerate(instance.objects)]
            )
            for xs, holds in atoms:
                atom = f"({' '.join([own, *xs])})"
                literals.append((atom, f"(not {atom})") if holds else (f"(not {atom})", atom))
        problem = instance.to_pddl(state).replace("(:init", f"(:init {goals}", 1)
        problem = problem[: problem.index("(:goal")]

        def solved_at_once(wanted: list[str], problem: str = problem) -> bool:
            text = f"{problem} (:goal (and {' '.join(wanted)})))"
            outcome = fast_downward.run(domain, text, ("--search", "astar(blind())"), 60)
            return outcome.status == "solved" and outcome.plan == ()

        assert solved_at_once([agreed for agreed, _ in literals])
        assert not solved_at_once([literals[len(literals) // 2][1]])


def encoded(instance: Instance, state: Any, vocabulary: Vocabulary) -> Structures:
    """One state with marked goals."""
    number = {name: x for x, name in enumerate(instance.objects)}
    holding = {*instance.facts, *instance.fluent_atoms(state)}
    atoms = [*holding, *((f"is_{name}", (name,)) for name in instance.domain.constants)]
    atoms += [(f"{p}_G,{'T' if (p, xs) in holding else 'F'}", xs) for p, xs, _ in instance.goals]
    relations: dict[str, list[list[int]]] = {}
    for name, xs in atoms:
        relations.setdefault(name, []).append([number[x] for x in xs] or [0])
    return Structures(vocabulary, 1, [0] * len(number), relations)


# --- Python


def by_python(batch: Structures, formula: fo.Node) -> list[Any]:
    source = write_python(formula, "shown")
    assert re.findall(r"^(?:import|from).*", source, re.MULTILINE) == ["import numpy as np"]
    module: dict[str, Any] = {}
    exec(compile(source, "shown.py", "exec"), module)  # noqa: S102
    found = []
    for state in range(len(batch)):
        n = int((batch.state_of_object == state).sum())
        atoms: dict[str, list[tuple[Any, ...]]] = {}
        for name, row in batch.decode(state):
            atoms.setdefault(name, []).append(row)
        value = module["shown"](n, atoms)
        if isinstance(formula, fo.Number):
            assert type(value) in (int, float)
        elif formula.of_state:
            assert type(value) is bool
        else:
            assert value.shape == (n,)
            assert value.dtype == bool
            value = np.flatnonzero(value).tolist()
        found.append(value)
    return found


@given(batches(), st.one_of(truths, comparisons))
def test_python_agrees(batch, formula):
    assert by_python(batch, formula) == values(batch, formula)


@given(batches(), numbers)
def test_python_agrees_on_numbers(batch, formula):
    assert by_python(batch, formula) == pytest.approx(values(batch, formula), rel=1e-12)


@given(batches(), truths)
def test_python_joins_the_halves_of_goals(batch, formula):
    assert by_python(marked(batch), formula) == values(batch, formula)


@pytest.mark.parametrize("name", FORMULAS)
def test_python_agrees_on_planning_states(name, training_set):
    batch = planning_states(name, training_set)
    for text in FORMULAS[name]:
        assert by_python(batch, parse(text)) == values(batch, parse(text)), text


def test_deep_formulas_are_written_without_recursion():
    batch = Structures(WORDS, 1, [0, 0], {"on": [[0, 1], [1, 0]], "clear": [[0]]})
    negations = fo.Atom("clear")
    for _ in range(10_001):
        negations = fo.Not(negations)
    modals = fo.Atom("clear")
    for _ in range(5_000):
        modals = fo.Not(fo.Modal(fo.Role("on"), modals))
    for formula, objects in ((negations, [1]), (modals, [0])):
        module: dict[str, Any] = {}
        exec(write_python(formula), module)  # noqa: S102
        assert (
            np.flatnonzero(module["formula"](2, {"on": [(0, 1), (1, 0)], "clear": [(0,)]})).tolist()
            == objects
        )
        assert np.flatnonzero(Evaluator(batch).holds(formula)).tolist() == objects
        assert write_derived(formula, WORDS)
        assert write_dlplan(formula, WORDS)
    wide = fo.Or(*(fo.Modal(fo.Role("on"), fo.Atom("clear"), n) for n in range(5_000)))
    exec(write_python(wide), module)  # noqa: S102
    assert module["formula"](2, {"on": [(0, 1), (1, 0)], "clear": [(0,)]}).tolist() == [False, True]


def test_names_in_python():
    for name in ("1x", "class", "a b", "_rows", "np"):
        with pytest.raises(InputError, match="name of the function"):
            write_python(parse("clear"), name)
    with pytest.raises(InputError, match="relation"):
        write_python(fo.Role("on"))
    odd = fo.Atom('a"b\\c\'"""\n')
    module: dict[str, Any] = {}
    exec(write_python(odd), module)  # noqa: S102
    assert module["formula"](2, {odd.fields[0]: {(1,)}}).tolist() == [False, True]


# --- all


@pytest.mark.parametrize("export", [by_dlplan, by_axioms, by_python])
@pytest.mark.parametrize(
    ("text", "objects"),
    [
        ("<on+ & ~on>top", [0]),
        ("<on+ \\ on^-1>clear", []),
        ("<on* | on_G>clear", [0, 2]),
        ("<(on+ | on_G)+>clear", [0, 1, 2]),
        ("<~(on*)>top", [1, 2]),
        ("<on & on_G^-1>top", []),
        ("<id & all>clear", [0]),
    ],
)
def test_by_hand(export, text, objects):
    tower = Structures(WORDS, 1, [0] * 3, {"on": [[0, 1], [1, 2]], "clear": [[0]], "on_G": [[2, 0]]})
    assert export(tower, parse(text)) == [objects]


@pytest.mark.parametrize("export", [write_dlplan, write_derived])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<onn>top", "no predicate 'onn'; did you mean on"),
        ("claer", "no predicate 'claer'; did you mean clear"),
        ("on", "on has 2 arguments"),
        ("<between[0,3]>top", "between has 3 arguments"),
        ("<between & on>top", "counts atoms"),
    ],
)
def test_names_are_checked(export, text, message):
    with pytest.raises(InputError, match=message):
        export(parse(text), WORDS)
