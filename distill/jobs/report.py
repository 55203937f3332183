"""The report of a run: one page that needs nothing else, and shows all there is to know."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from distill import __version__
from distill.errors import InputError
from distill.jobs.forms import ordered_terms
from distill.jobs.markup import Markup, element, inline_svg, joined, page, table
from distill.jobs.run_config import SECTIONS
from distill.logic import LATEX, Atom, Constant, Node, Number, Product, Role, explain, write_c2, write_defined
from distill.structures import Vocabulary

if TYPE_CHECKING:
    from distill.jobs.distilled import Distilled
    from distill.trees import StateFeature

_LONGEST = 2_000  # symbols of a function that is shown
_LONGEST_TERM = 200  # and of a single formula in a table
_LONGEST_TALK = 60  # and of one that is also told in other forms
_VERDICTS = {"Exact": "✓ ", "NOT": "✗ "}
_CAPTIONS = {"weights": "The weights, by kind of feature", "errors": "V by V*, for each split"}
_SIGNS = {
    "#φ": "how many objects have φ",
    "[n > t]": "1 if n is more than t, otherwise 0",
    "<r>φ > t": "r leads to more than t objects with φ; without > t, to any",
    "r^-1, r+, r*": "r backwards, one or more steps, any number of steps",
    "~ & |": "not, and, or",
    "p_G": "what the goal asks for: p_G,T where it is so already, p_G,F where it is not",
    "dist(φ, r, ψ)": "the fewest steps along r from an object with φ to one with ψ",
}
_MEANINGS = {
    "state": "a fact of the state",
    "nullary": "a fact without arguments",
    "goal": "asked for by the goal",
    "type": "a type",
    "constant": "the object of this name",
}


def report(
    title: str,
    config: Mapping[str, Any],
    metrics: Mapping[str, Any],
    distilled: "Distilled",
    vocabulary: Vocabulary,
    figures: Mapping[str, str],
) -> str:
    """A page in HTML with the value function, how good it is, where it comes from, and all settings.

    It loads nothing and runs nothing, and the same run gives the same bytes.

    Parameters
    ----------
    config : the resolved config of a run: sections of settings, and where states and network come from.
    metrics : of a run, as in its `metrics.json`.
    vocabulary : of the states that the function speaks about.
    figures : names and texts of SVG figures.

    Examples
    --------
    >>> from distill.jobs import Distilled
    >>> from distill.logic import parse
    >>> page = report("A < B", {}, {"fit": {"exact": True}}, Distilled(parse("#a"), ()), Vocabulary([]), {})
    >>> page[:15], "<h1>A &lt; B</h1>" in page, "Exact on all training states." in page
    ('<!doctype html>', True, True)
    """
    sections = {
        "Value function": _function(distilled.value, verdict(metrics.get("fit", {}), config)),
        "How good it is": _scores(metrics),
        "Terms": _terms(distilled),
        "How to read it": _reading(distilled.value, vocabulary),
        "Figures": _figures(figures),
        "Settings": _settings(config),
        "Check it, cite it": _rechecking(),
    }
    shown = [element("section", element("h2", name), body) for name, body in sections.items() if body]
    return page(title, element("h1", title), *shown)


def verdict(fit: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """What is known of a fit: whether it is exact, and what stands in the way; states are indented.

    Examples
    --------
    >>> verdict({"exact": True, "gap": 0.1}, {})
    ['Exact on all training states; one that is 10% smaller is not ruled out.']
    >>> verdict({"exact": False, "wrong": 3}, {})[1]
    '3 sorts of states are not met; more time or other settings may help.'
    """
    settings = config.get("distillation") or {}
    best = "the best short fit by absolute error"
    if settings.get("mode", "readable") != "readable":
        best = "what the regression makes of the features"
    if settings.get("target") == "model":
        return [f"The network's own values are explained; this is {best}."]
    if not fit:
        return ["Nothing is known of the fit."]
    if fit["exact"]:
        gap = fit.get("gap", 0.0)
        rest = f"; one that is {gap:.0%} smaller is not ruled out" if gap else ""
        return [f"Exact on all training states{rest}."]
    found = [f"NOT exact on all training states; {best} is shown."]
    if fit.get("conflict"):
        found.append("Two states look the same to every network and formula, and have different V*:")
        found += [f"  V* = {state['v_star']}: {state['atoms']}" for state in fit["conflict"]]
    elif fit.get("blocking"):
        found.append("No exact fit exists in the pool; among the states that prevent it:")
        found += [f"  V* = {state['v_star']}: {state['atoms']}" for state in fit["blocking"]]
    elif "wrong" in fit:
        found.append(f"{fit['wrong']} sorts of states are not met; more time or other settings may help.")
    return found


def _function(value: Number, told: Sequence[str]) -> Markup:
    sign = next((sign for word, sign in _VERDICTS.items() if told[0].startswith(word)), "")
    lines = [element("p", element("strong", sign, told[0]))]
    lines += [element("p", line, class_="state" if line.startswith(" ") else "more") for line in told[1:]]
    found = [
        element("div", *lines, class_=f"verdict {'exact' if sign == _VERDICTS['Exact'] else ''}".strip())
    ]
    if value.size > _LONGEST:
        found.insert(0, element("p", f"It has {value.size:,} symbols, too many to show; see value.json."))
        return joined(*found)
    found.insert(0, element("pre", element("code", write_defined(value)), class_="function"))
    latex = element("pre", element("code", write_defined(value, LATEX)))
    return joined(*found, element("details", element("summary", "In LaTeX"), latex))


def _scores(metrics: Mapping[str, Any]) -> Markup:
    columns = ["split", "states", "MAE", "largest error", "within ½", "greedy steps", "solved", "plan length"]
    rows = [
        [
            name,
            _number(row.get("states")),
            _number(row.get("mae"), ".4f"),
            _number(row.get("max_error"), ".2f"),
            _number(row.get("within_half"), ".2%"),
            _share(row.get("greedy_optimal_steps"), row.get("greedy_steps"), ".2%"),
            f"{row['solved']}/{row['instances']}" if row.get("instances") else "–",
            _share(row.get("plan_length"), row.get("optimal_length"), ".3f"),
        ]
        for name, row in metrics.get("splits", {}).items()
    ]
    faithful = metrics.get("fidelity") or {}
    facts = {
        "features": f"{metrics.get('features', '–')} of {_number(metrics.get('pool_size'))}, "
        f"pool {metrics.get('pool', '–')}",
        "formulas about objects": _number(metrics.get("objects")),
        "size in symbols": _number(metrics.get("formula_size")),
        "weights": "whole numbers" if metrics.get("integer_weights") else "not all whole numbers",
        "error to the network": _number(faithful.get("mae"), ".4f"),
        "of its greedy choices": _number(faithful.get("greedy_agreement"), ".2%"),
    }
    note = (
        "MAE: mean |V − V*|. Within ½: share of states with an error below that. Greedy steps: share of "
        "states in which the successor of least V is one step closer to the goal. Plan length: that of "
        "greedy plans, relative to optimal ones."
    )
    return joined(
        table("Against V*, the optimal cost", columns, rows, numeric=range(1, 8)),
        element("p", note, class_="note"),
        table("The function", ["what", "value"], [[key, value] for key, value in facts.items()]),
    )


def _terms(distilled: "Distilled") -> Markup:
    born = {feature.number: feature for feature in distilled.pool}
    rows: list[list[object]] = []
    for place, (weight, number) in enumerate(ordered_terms(distilled.value), 1):
        if isinstance(number, Constant):
            rows.append(["–", repr(number.fields[0]), "the constant", "", "", "", ""])
            continue
        feature = born.get(number)
        kind, origin = (feature.kind, _origin(feature)) if feature else ("–", "–")
        rows.append([place, repr(weight), *_formulas(number), kind, origin])
    columns = ["term", "weight", "formula", "in C2", "in words", "kind", "born in"]
    return joined(
        table("Terms, heavy ones first", columns, rows, numeric=(0, 1)),
        element(
            "p", element("code", "distill export RUN --term N"), " writes one in any form.", class_="note"
        ),
    )


def _formulas(number: Number) -> list[object]:
    if number.size > _LONGEST_TALK:
        return [_short(number), "–", "–"]
    factors = number.fields if isinstance(number, Product) else (number,)
    try:
        c2: object = element("code", " · ".join(map(write_c2, factors)))
    except InputError as error:
        c2 = element("span", f"– {error}", class_="note")
    return [element("code", str(number)), c2, explain(number)]


def _origin(feature: "StateFeature") -> Markup:
    origin = feature.origin
    given = {"ridt": "the domain itself", "polish": "formulas that are used", "enumerate": "no network"}
    where = {-1: "the final layer", 0: given.get(origin.pool, "the domain itself")}
    told = [where.get(origin.layer, f"layer {origin.layer}")]
    if origin.tree >= 0:
        leaves = f"leaves {', '.join(map(str, origin.leaves))}" if origin.leaves else "a split"
        told += [f"tree {origin.tree}", leaves]
    lines: list[object] = [f"{', '.join(told)}; pool {origin.pool}"]
    if origin.chain is not None:
        chain = origin.chain
        first, last = chain.steps
        along, near = _short(chain.relation), _short(chain.concept)
        lines.append(joined(f"steps {first} to {last} along ", along, " from ", near))
    if origin.formula is not None:
        lines.append(joined("in the tree: ", _short(origin.formula)))
    return joined(lines[0], *(element("div", line, class_="note") for line in lines[1:]))


def _short(formula: Node) -> Markup:
    if formula.size > _LONGEST_TERM:
        return joined(f"a formula of {formula.size:,} symbols")
    return element("code", formula)


def _reading(value: Number, vocabulary: Vocabulary) -> Markup:
    signs = [[element("code", sign), meaning] for sign, meaning in _SIGNS.items()]
    spoken = {node.fields[0].partition(",")[0] for node in value.walk() if isinstance(node, Atom | Role)}
    predicates = [
        [element("code", predicate.name), predicate.arity, _MEANINGS[predicate.role]]
        for predicate in vocabulary
        if predicate.name.partition(",")[0] in spoken
    ]
    return joined(
        table("Signs of formulas", ["sign", "meaning"], signs),
        table("Predicates that are used", ["name", "arguments", "what it is"], predicates, numeric=(1,)),
    )


def _figures(figures: Mapping[str, str]) -> Markup | None:
    found = []
    for place, (name, text) in enumerate(figures.items(), 1):
        caption = _CAPTIONS.get(name, name.replace("-", " ").replace("_", " "))
        drawn = inline_svg(text, f"figure{place}", caption)
        found.append(element("figure", drawn, element("figcaption", caption)))
    return joined(*found) if found else None


def _settings(config: Mapping[str, Any]) -> Markup | None:
    plain = {key: value for key, value in config.items() if not isinstance(value, Mapping)}
    found: list[Markup] = []
    if plain:
        found.append(
            table("From", ["entry", "value"], [[key, _value(value)] for key, value in plain.items()])
        )
    for name, section in config.items():
        if not isinstance(section, Mapping):
            continue
        known = {item.name: item for item in fields(SECTIONS[name])} if name in SECTIONS else {}
        rows = []
        for key, value in section.items():
            item = known.get(key)
            default = _value(item.default) if item else "–"
            shown: object = _value(value)
            if item and shown != default:
                shown = joined(element("strong", shown), " ≠")
            rows.append([key, shown, default, item.metadata["description"] if item else ""])
        found.append(element("h3", name.capitalize()))
        caption = f"Settings of {name}; ≠ marks those that differ from the default"
        found.append(table(caption, ["setting", "value", "default", "meaning"], rows))
    return joined(*found) if found else None


def _rechecking() -> Markup:
    commands = {
        "distill evaluate RUN": "measures it again",
        "distill run RUN/config.yaml": "makes the same run again, from the same states and network",
        "distill formula eval FILE PROBLEM": "measures the function as it stands here, saved in a file",
        "distill export RUN --format FORM": "writes the function in another form",
    }
    rows = [[element("code", command), what] for command, what in commands.items()]
    cited = (
        f"Made with planning-distill {__version__}. The same states, network, settings and seed give the "
        "same function. To cite it, take the CITATION.cff of planning-distill and the works that it names."
    )
    return joined(
        table("RUN is the folder of this run", ["command", "what it does"], rows), element("p", cited)
    )


def _number(value: Any, form: str = ",") -> str:
    if value is None:
        return "–"
    return f"{value:{form}}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _share(part: Any, whole: Any, form: str) -> str:
    return _number(part / whole, form) if part is not None and whole else "–"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
