"""The report of a run: one self-contained HTML page."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from distill import __version__
from distill.common import InputError, Settings
from distill.distillation import target_of
from distill.explanations import ordered_terms
from distill.logic import LATEX, Atom, Constant, Number, Product, Role, explain, write_c2, write_defined
from distill.runs.markup import inline_svg, render
from distill.runs.sections import SECTIONS, with_family
from distill.structures import Predicate, Vocabulary

if TYPE_CHECKING:
    from distill.explanations import StateFeature, ValueFunction

_LONGEST = 2_000  # symbols of a function that is shown
_LONGEST_TERM = 200  # and of a single formula in a table
_LONGEST_C2 = 60  # and of one that is also shown in C2 and in words
_VERDICTS = {"Exact": "✓ ", "NOT": "✗ "}
_CAPTIONS = {"weights": "The weights, by kind of feature", "errors": "V by V*, for each split"}


def report(
    title: str,
    config: Mapping[str, Any],
    metrics: Mapping[str, Any],
    distilled: "ValueFunction",
    vocabulary: Vocabulary,
    figures: Mapping[str, str],
) -> str:
    """A page in HTML with the value function, its metrics, its provenance, and all settings.

    It loads nothing and has no scripts. The same run gives the same bytes.

    Parameters
    ----------
    config : the resolved config of a run.
    metrics : of a run, as in its `metrics.json`.
    vocabulary : of the states.
    figures : names and texts of SVG figures.

    Examples
    --------
    >>> from distill.explanations import ValueFunction
    >>> from distill.logic import parse
    >>> function = ValueFunction(parse("#a"), ())
    >>> page = report("A < B", {}, {"fit": {"exact": True}}, function, Vocabulary([]), {})
    >>> page[:15], "<h1>A &lt; B</h1>" in page, "Exact on all training states." in page
    ('<!doctype html>', True, True)
    """
    known = verdict(metrics.get("fit", {}), config)
    value = distilled.value
    sections = with_family(config, SECTIONS, lambda *keys: "The config")
    return render(
        "report.html",
        title=title,
        version=__version__,
        longest=_LONGEST_TERM,
        size=value.size,
        function={"text": write_defined(value), "latex": write_defined(value, LATEX)}
        if value.size <= _LONGEST
        else None,
        verdict=known,
        sign=next((sign for word, sign in _VERDICTS.items() if known[0].startswith(word)), ""),
        scores=_scores(metrics),
        facts=_facts(metrics),
        terms=_terms(distilled),
        predicates=_predicates(value, vocabulary),
        figures=_figures(figures),
        entries=[(key, _value(own)) for key, own in config.items() if not isinstance(own, Mapping)],
        settings={
            name: _settings(sections.get(name), own)
            for name, own in config.items()
            if isinstance(own, Mapping)
        },
    )


def verdict(fit: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """What is known of a fit: whether it is exact, and which states prevent that (indented).

    Examples
    --------
    >>> verdict({"exact": True, "gap": 0.1}, {})
    ['Exact on all training states; one that is 10% smaller is not ruled out.']
    >>> verdict({"exact": False, "wrong": 3}, {})[1]
    '3 classes of states have errors; more time or other settings may help.'
    """
    settings = config.get("distillation") or {}
    best = "the best short fit by absolute error"
    if settings.get("mode", "readable") != "readable":
        best = "what the regression makes of the features"
    return target_of(config).verdict(fit, best)


def _scores(metrics: Mapping[str, Any]) -> list[list[str]]:
    """For each split, the errors and the results of greedy execution."""
    return [
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


def _facts(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    fidelity = metrics.get("fidelity") or {}
    pool = f"{_number(metrics.get('pool_size'))}, pool {metrics.get('pool', '–')}"
    return [
        ("features", f"{metrics.get('features', '–')} of {pool}"),
        ("formulas about objects", _number(metrics.get("objects"))),
        ("size in symbols", _number(metrics.get("formula_size"))),
        ("weights", "whole numbers" if metrics.get("integer_weights") else "not all whole numbers"),
        ("error to the network", _number(fidelity.get("mae"), ".4f")),
        ("of its greedy choices", _number(fidelity.get("greedy_agreement"), ".2%")),
    ]


def _terms(distilled: "ValueFunction") -> list[dict[str, Any]]:
    """The terms with their formulas in several notations and their provenance."""
    features = {feature.number: feature for feature in distilled.pool}
    found: list[dict[str, Any]] = []
    empty = dict.fromkeys(("formula", "c2", "obstacle", "words", "origin"))
    for place, (weight, number) in enumerate(ordered_terms(distilled.value), 1):
        if isinstance(number, Constant):
            constant = {"place": "–", "weight": repr(number.fields[0]), "kind": "", "missing": ""}
            found.append({**empty, **constant})
            continue
        feature = features.get(number)
        found.append(
            {
                **empty,
                **(_forms(number) if number.size <= _LONGEST_C2 else {}),
                "place": place,
                "weight": repr(weight),
                "formula": number,
                "missing": "–",
                "kind": feature.kind if feature else "–",
                "origin": _origin(feature) if feature else None,
            }
        )
    return found


def _forms(number: Number) -> dict[str, str]:
    factors = number.fields if isinstance(number, Product) else (number,)
    try:
        c2 = {"c2": " · ".join(map(write_c2, factors))}
    except InputError as error:
        c2 = {"obstacle": str(error)}
    return {**c2, "words": explain(number)}


def _origin(feature: "StateFeature") -> dict[str, Any]:
    origin = feature.provenance
    return {"where": origin.words, "pool": origin.pool, "chain": origin.chain, "formula": origin.formula}


def _predicates(value: Number, vocabulary: Vocabulary) -> list[Predicate]:
    """The predicates that occur in the function."""
    used = {node.fields[0].partition(",")[0] for node in value.walk() if isinstance(node, Atom | Role)}
    return [predicate for predicate in vocabulary if predicate.name.partition(",")[0] in used]


def _figures(figures: Mapping[str, str]) -> list[dict[str, str]]:
    found = []
    for place, (name, text) in enumerate(figures.items(), 1):
        caption = _CAPTIONS.get(name, name.replace("-", " ").replace("_", " "))
        found.append({"svg": inline_svg(text, f"figure{place}", caption), "caption": caption})
    return found


def _settings(kind: type[Settings] | None, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    known = kind.model_fields if kind else {}
    found = []
    for name, value in given.items():
        item = known.get(name)
        row = {"name": name, "value": _value(value), "default": "–", "meaning": "", "is_changed": False}
        if item:
            default = _value(item.default)
            row |= {"default": default, "meaning": item.description, "is_changed": row["value"] != default}
        found.append(row)
    return found


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
