"""`distill formula`: evaluate, translate, simplify and explain formulas."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from distill.cli import options
from distill.cli.output import Json, print_json, print_table, print_text
from distill.common import InputError, check_format, read_text

if TYPE_CHECKING:
    from distill.logic import Evaluator, Node
    from distill.structures import DataSet, Vocabulary

Formula = Annotated[
    str,
    typer.Argument(
        help="A formula about objects or states: in ASCII (`<on^-1+>clear_G`), as in the thesis, or in C2; a "
        "file with a formula; or @NAME for a hand-made value function (see `distill formula library`)."
    ),
]
Figure = Annotated[Path | None, options.figure_option("a state with the objects of which the formula holds")]
_READABLE = 8  # objects in a figure
_SHOWN = 12  # objects of a state that are listed by name

app = typer.Typer(
    help="Evaluate, translate, simplify and explain formulas.\n\n"
    "Objects: `top`, a predicate, `~ & |`, `<relation>formula > t` (`> 0` is the default). Relations: a "
    "predicate, `id`, `all`, `~ & | \\`, with the suffixes `^-1`, `+` and `*`. Goals end in `_G`. States: "
    "`#formula`, `[number > t]`, `dist(formula, relation, formula)`, products, and sums with weights.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)


@app.command("eval")
def evaluate(
    formula: Formula,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instance: options.InstanceFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = "train",
    figure: Figure = None,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Evaluate a formula: the objects of which it holds, or its value; value functions are compared with V*.

    With --instance it is evaluated in the initial state of the instance, otherwise in all labelled states.

    Examples: `distill formula eval "<on+>clear_G" blocks-clear`, `distill formula eval @gripper gripper`.
    """
    from distill.logic import Evaluator

    check_format(figure)
    if instance is not None:
        data = _initial_state(problem, domain, instance)
    else:
        splits = options.chosen_splits(
            problem, domain, instances, split, max_states=max_states, states=states
        )
        [data] = options.labelled_states(splits, "none", workers).values()
    read = _read(formula, int(data.n_objects.max()))
    evaluator = Evaluator(data.structures())
    about, values = _evaluated(evaluator, read)
    answer: dict[str, Any] = {"formula": str(read), "about": about, "states": len(data)}
    if instance is not None:
        answer |= _of_one_state(data, about, values)
    else:
        answer |= _of_many_states(data, about, values)
    if figure is not None:
        answer["figure"] = _draw(figure, read, data)
    if as_json:
        print_json(answer)
        return
    rows = [[key.replace("_", " "), _text(value)] for key, value in answer.items() if key != "formula"]
    print_table(str(read), ["what", "value"], rows)


@app.command("translate")
def translate(
    formula: Formula,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    to: Annotated[
        str | None, typer.Option(help="Only this form, without a table; by default all forms.")
    ] = None,
    define: Annotated[
        bool,
        typer.Option(
            "--define",
            help="Write a value function with a definition for each shared part, in the form ascii, emlc, "
            "c2, latex or latex-c2; in the form english with the meaning of each part.",
        ),
    ] = False,
    up_to: options.UpTo = None,
    as_json: Json = False,
) -> None:
    """Write a formula in other forms: C2, LaTeX, English, dlplan, PDDL, Python, JSON.

    If a form cannot express the formula, the reason is given.

    Examples: `distill formula translate "<on^-1>clear" --to c2`,
    `distill formula translate "dist(clear, on, holding)" --to c2 --up-to 5 --define`,
    `distill formula translate @blocks-on --define`.
    """
    from distill.cli.formula_forms import FORMS, in_form, with_definitions

    read = _read(formula)
    if to is not None and to not in FORMS:
        raise InputError(f"There is no form {to!r}; choose from {', '.join(FORMS)}.")
    words = _vocabulary(problem, domain)
    if define:
        written = with_definitions(read, to or "ascii", up_to)
        if as_json:
            print_json({to or "ascii": {"text": written}})
        else:
            typer.echo(written)
        return
    if to is not None and not as_json:
        typer.echo(in_form(read, to, words, up_to))
        return
    texts: dict[str, dict[str, str]] = {}
    for name in [to] if to else FORMS:
        try:
            texts[name] = {"text": in_form(read, name, words, up_to)}
        except InputError as error:
            texts[name] = {"refused": str(error)}
    if as_json:
        print_json(texts)
        return
    rows = [[name, entry.get("text") or f"– {entry['refused']}"] for name, entry in texts.items()]
    print_table(str(read), ["form", "formula"], rows)


@app.command("simplify")
def simplify_(
    formula: Formula,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = "train",
    largest: Annotated[
        int, options.count_option("The largest size of formulas in the search.", most=100)
    ] = 8,
    closures: Annotated[bool, typer.Option(help="Use closures in the search.")] = True,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Simplify a formula: by laws that hold in all states, and with data also by search.

    With a problem class or PDDL files, the smallest formula is searched that is equivalent on their states.
    It may differ on other states; the answer gives the number of classes that were compared.

    Examples: `distill formula simplify "~~clear & top"`,
    `distill formula simplify "<on>(clear | <on>top)" blocks-clear`.
    """
    from distill.logic import simplify

    read = _read(formula)
    plain = simplify(read)
    rows = [["given", read.size, str(read), ""], ["by laws", plain.size, str(plain), "always"]]
    if problem or domain:
        from distill.logic import QuotientEvaluator, resynthesise
        from distill.structures import Options
        from distill.symmetry import build_quotient_of

        splits = options.chosen_splits(
            problem, domain, instances, split, max_states=max_states, states=states
        )
        # The quotient with joint messages is finer than a reduction, so the states are not reduced.
        sets = options.labelled_states(splits, "none", workers)
        evaluator = QuotientEvaluator(build_quotient_of(sets, options=Options(joint=True)).quotient)
        answer = resynthesise(plain, evaluator, largest=largest, closures=closures)
        rows.append(["by search", answer.formula.size, str(answer.formula), answer.sentence])
    if as_json:
        print_json([dict(zip(("step", "size", "formula", "valid"), row, strict=True)) for row in rows])
        return
    print_table("Simplified", ["", "size", "formula", "equivalent"], rows)


@app.command("explain")
def explain_(
    formula: Formula,
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instance: options.InstanceFile = None,
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Explain a formula in English; in a state, show the objects of which its parts hold.

    With a problem class, the state is the initial state of its first training instance.

    Example: `distill formula explain "<on+>clear_G" blocks-clear --figure state.png`.
    """
    from distill.logic import Count, Distance, Evaluator, Truth, explain

    check_format(figure)
    data = _initial_state(problem, domain, instance) if problem or domain or instance else None
    if figure is not None and data is None:
        raise InputError("A figure needs a state: give a problem class, or --domain and --instance.")
    read = _read(formula, int(data.n_objects.max()) if data is not None else None)
    answer: dict[str, Any] = {
        "formula": str(read),
        "meaning": explain(read),
        "size": read.size,
        "depth": read.depth,
        "fragment": read.fragment.name,
    }
    if data is not None:
        evaluator = Evaluator(data.structures())
        answer["parts"] = []
        for part in read.walk():
            if part is read or isinstance(part, Truth | Count | Distance):
                answer["parts"].append(
                    {"part": str(part), **_of_one_state(data, *_evaluated(evaluator, part))}
                )
        if figure is not None:
            answer["figure"] = _draw(figure, read, data)
    if as_json:
        print_json(answer)
        return
    print_text(answer["meaning"])
    facts = f"size {read.size}, modal depth {read.depth}, fragment {read.fragment.name}"
    print_text(facts)
    if data is not None:
        rows = [
            [row["part"], _text(next(v for k, v in row.items() if k != "part"))] for row in answer["parts"]
        ]
        print_table(f"In the initial state of {data.instances[0]['name']}", ["part", "holds of, or is"], rows)


@app.command("library")
def library_(
    name: Annotated[str | None, typer.Argument(help="Show the formulas of this value function.")] = None,
    as_json: Json = False,
) -> None:
    """List the hand-made value functions with their sources, or the formulas of one of them.

    Every command that takes a formula also takes their names, such as `@gripper` or `@blocks-clear/eta[2]`.
    """
    from distill.logic import hand_made, library

    chosen = [hand_made(name.removeprefix("@"))] if name else list(library().values())
    if as_json:
        print_json([asdict(one) for one in chosen])
        return
    if name is None:
        rows = [[f"@{one.name}", one.problem or "–", one.source] for one in chosen]
        print_table("Hand-made value functions", ["name", "problem class", "source"], rows)
        return
    [function] = chosen
    forms = ("means", "emlc", "c2")
    rows = [[key, *(entry.get(form, "–") for form in forms)] for key, entry in function.definitions.items()]
    print_table(f"{function.title} ({function.source})", ["name", *forms], rows, function.notes)
    terms = [[term.get("weight", 1), term["feature"], term.get("k", "–")] for term in function.terms]
    if terms:
        print_table("Value function", ["weight", "feature", "k"], [list(map(str, term)) for term in terms])


def _read(text: str, n: int | None = None) -> "Node":
    from distill.logic import read_formula

    if _is_file(text):
        text = read_text(Path(text))
    formula: Node = read_formula(text) if n is None else read_formula(text, n)
    return formula


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        # Most formulas are not valid names of files.
        return False


def _vocabulary(problem: str | None, domain: Path | None) -> "Vocabulary | None":
    if problem is None and domain is None:
        return None
    from distill.planning import Domain, problem_class

    return (Domain.read(domain) if domain else problem_class(str(problem)).domain).vocabulary()


def _initial_state(problem: str | None, domain: Path | None, instance: Path | None) -> "DataSet":
    """The initial state of an instance, or of the first training instance of a problem class."""
    from distill.planning import Domain, Instance, collect, problem_class

    if problem is not None and domain is None and instance is None:
        chosen = problem_class(problem).make("train")[0]
    elif problem is None and domain is not None and instance is not None:
        chosen = Instance.read(Domain.read(domain), instance)
    else:
        raise InputError("Give either a problem class, or --domain FILE and --instance FILE.")
    return collect(chosen, [chosen.initial_state], [0])


def _evaluated(evaluator: "Evaluator", formula: "Node") -> tuple[str, Any]:
    """The subject of a formula (objects, states or a number), and its values."""
    from distill.logic import Number, Truth

    if isinstance(formula, Number):
        return "number", evaluator.number(formula)
    if isinstance(formula, Truth):
        return "states" if formula.of_state else "objects", evaluator.holds(formula)
    raise InputError(f"{formula} is a relation; put a formula after it, as in <{formula}>top.")


def _of_one_state(data: "DataSet", about: str, values: Any) -> dict[str, Any]:
    if about == "objects":
        names = data.instances[0]["objects"]
        return {"holds_of": [name for name, own in zip(names, values, strict=True) if own]}
    return {"value": values[0].item()} if about == "number" else {"holds": bool(values[0])}


def _of_many_states(data: "DataSet", about: str, values: Any) -> dict[str, Any]:
    import numpy as np

    if about == "objects":
        state = data.structures().state_of_object
        some = np.bincount(state[values], minlength=len(data)) > 0
        return {"objects": len(values), "holds_of": int(values.sum()), "in_states": int(some.sum())}
    if about == "states":
        return {"holds_in": int(values.sum())}
    solvable = data.v_star >= 0
    error = np.abs(values - data.v_star)[solvable]
    return {
        "least": values.min().item(),
        "mean": round(float(values.mean()), 4),
        "most": values.max().item(),
        "mae_to_v_star": float(error.mean()),
        "max_error": float(error.max()),
        "equal_to_v_star": int((error == 0).sum()),
    }


def _draw(path: Path, formula: "Node", data: "DataSet") -> str:
    """Draw a state in which the formula holds of some objects and not of others, if there is one."""
    import numpy as np

    from distill.logic import Evaluator, Truth, draw_state, explain

    parts = [part for part in formula.walk() if isinstance(part, Truth) and not part.of_state]
    if not parts:
        raise InputError("There is nothing to draw: no part of the formula is about objects.")
    shown = parts[-1]
    structures = data.structures()
    held = Evaluator(structures).holds(shown)
    per_state = np.bincount(structures.state_of_object[held], minlength=len(data))
    sizes = np.diff(structures.object_offsets)
    informative = np.flatnonzero((per_state > 0) & (per_state < sizes))
    # Prefer a state whose size is readable.
    state = int(min(informative, key=lambda s: (abs(sizes[s] - _READABLE), s), default=0))
    own = slice(*structures.object_offsets[[state, state + 1]])
    instance = data.instances[int(data.state_instance[state])]
    title = f"{shown}\n{explain(shown)}" if shown.size <= 40 else str(shown)[:200]
    draw_state(path, structures[[state]], list(instance["objects"]), held[own], title)
    return str(path)


def _text(value: Any) -> Any:
    if isinstance(value, list):
        more = f", and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
        return (", ".join(value[:_SHOWN]) or "nothing") + more
    return value if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
