"""The report: whole, safe, the same every time, and readable by all."""

import html
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from distill.common import InputError, drawing
from distill.distillation import Distillation
from distill.explanations import Chain, Provenance, StateFeature, ValueFunction
from distill.logic import Number, parse, syntax as fo
from distill.logic.notation.defined_parser import parse_defined
from distill.planning import Labelling, problem_class
from distill.runs import Export, element, report, verdict
from distill.runs.markup import inline_svg
from distill.structures import Predicate, Vocabulary

VALUE = parse(
    "2*#<on+>clear_G - #<on>clear_G + 0.5*#holding*#(clear_G & ~clear) - dist(clear, on, holding) + 3"
)
WORDS = problem_class("blocks-clear").domain.vocabulary()
SCORE = {"states": 12345, "mae": 0.125, "max_error": 2.0, "within_half": 0.75}
STEPS = {"greedy_steps": 8, "greedy_optimal_steps": 7, "instances": 5, "solved": 4}
METRICS = {
    "splits": {
        "train": {**SCORE, **STEPS, "plan_length": 33, "optimal_length": 30},
        "test": {**SCORE, "greedy_steps": 0, "instances": 0, "solved": 0, "optimal_length": 0},
    },
    "fidelity": {"mae": 0.0625, "greedy_agreement": None},
    "features": 4,
    "integer_weights": False,
    "formula_size": VALUE.size,
    "pool": "ridt, permuted",
    "pool_size": 2264,
    "objects": 66,
    "fit": {"exact": True, "gap": 0.0, "wrong": 0, "blocking": [], "conflict": []},
}
CONFIG = {
    "problem": "blocks-clear",
    "checkpoint": "nets/blocks.safetensors",
    "labelling": {"walks": 3},
    "distillation": Distillation(seed=7, features=("boolean",)).to_mapping(),
    "export": Export().to_mapping(),
}
VOID = {"meta"}


class Page(HTMLParser):
    """What a browser would see: elements with their attributes and texts; nothing may stay open."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(" ".join(data for tag, data in self.texts if tag != "style").split())


def made(value: Number = VALUE, pool: tuple[StateFeature, ...] = (), **changed: Any) -> str:
    given = {"title": "A run", "config": CONFIG, "metrics": METRICS, "vocabulary": WORDS, "figures": {}}
    return report(**{**given, **changed, "distilled": ValueFunction(value, pool)})


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two that share ids, as figures of one program do."""
    folder: Path = tmp_path_factory.mktemp("figures")
    for name, last in (("weights", 1), ("learning-curve", 2)):
        with drawing(folder / f"{name}.svg") as [axes]:
            axes.plot([0, 1], [0, last], label="a line", marker="o")
            axes.legend()
            axes.set_title(name)
    return {name: (folder / f"{name}.svg").read_text() for name in ("weights", "learning-curve")}


def test_the_page_is_whole_and_asks_for_nothing(figures):
    text = made(figures=figures)
    page = Page(text)
    assert text.startswith("<!doctype html>\n")
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {
        tag for tag, _ in page.elements
    }
    for tag, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        for name in ("src", "href", "xlink:href", "srcset", "data"):
            assert (attributes.get(name) or "#").startswith("#")
    assert all(own.startswith("url(#") for own in re.findall(r"url\([^)]*\)", text))
    assert "@import" not in text
    assert "http://" not in text
    assert "https://" not in text
    [policy] = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")


def test_everybody_can_read_it(figures):
    page = Page(made(figures=figures))
    assert page.all("html") == [{"lang": "en"}]
    assert next(text for tag, text in page.texts if tag == "title") == "A run"
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(cell.get("scope") in ("row", "col") for cell in page.all("th"))
    assert len(page.all("caption")) == len(page.all("table")) > 5
    assert [(own["role"], own["aria-label"]) for own in page.all("svg")] == [
        ("img", "The weights, by kind of feature"),
        ("img", "learning curve"),
    ]
    # Colours follow the reader's choice, and nothing is told by colour alone.
    assert "prefers-color-scheme: dark" in made()
    assert "@media print" in made()
    assert "✓ Exact on all training states." in page.text


def test_figures_keep_their_ids_apart(figures):
    page = Page(made(figures={**figures, "again": figures["weights"]}))
    ids = Counter(own["id"] for _, own in page.elements if "id" in own)
    assert max(ids.values()) == 1
    assert len(ids) > 50
    used = [own["href"][1:] for _, own in page.elements if own.get("href")]
    used += re.findall(r"url\(#([^)]*)\)", made(figures=figures))
    assert len(used) > 20
    assert set(used) <= set(ids)


EVIL = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="run()"
  viewBox="0 0 1 1"><script>run()</script><style>@import url(http://a.example/x.css);</style>
  <foreignObject><body xmlns="http://www.w3.org/1999/xhtml" onload="run()"><p>hi</p></body></foreignObject>
  <image href="http://a.example/x.png"/><a href="javascript:run()"><path id="in-a" d="M0 0"/></a>
  <use xlink:href="http://a.example/x.svg#a"/><animate attributeName="href" values="javascript:run()"/>
  <path id="p" style="fill: URL('http://a.example/y'); clip-path: url(#c)" d="M 0 0"/>
  <path fill="u\\72l(http://a.example/z)" clip-path="url('#c')" onclick="run()" d="M 1 1"/>
  <text>&lt;script&gt;run()&lt;/script&gt;</text><clipPath id="c"/></svg>"""


def test_figures_bring_shapes_and_nothing_else():
    page = Page(made(figures={"evil": EVIL}))
    assert "run()" not in "".join(str(own) for _, own in page.elements)
    assert ("text", "<script>run()</script>") in page.texts
    kept = [(tag, own) for tag, own in page.elements if tag in ("path", "use", "clippath")]
    assert kept == [
        ("use", {}),
        ("path", {"id": "figure1-p", "d": "M 0 0"}),
        ("path", {"clip-path": "url(#figure1-c)", "d": "M 1 1"}),
        ("clippath", {"id": "figure1-c"}),
    ]
    assert "example" not in made(figures={"evil": EVIL})


@pytest.mark.parametrize("broken", ["", "<svg", "<p>hi</p>", "no figure"])
def test_what_is_no_figure_is_refused(broken):
    with pytest.raises(InputError, match="'weights & co' is no SVG"):
        inline_svg(broken, "one", "weights & co")


def test_no_name_becomes_markup():
    evil = "<script>alert(1)</script>"
    config = {
        "problem": evil,
        evil: "x",
        "distillation": {evil: '"><img src=x onerror=alert(1)>'},
        "s": {evil: [evil]},
    }
    state = {"v_star": 3, "atoms": f"{evil}(o1)"}
    metrics = {**METRICS, "pool": evil, "fit": {"exact": False, "blocking": [state]}}
    metrics["splits"] = {evil: METRICS["splits"]["train"]}
    atom = fo.Atom(evil)
    chain = Chain(fo.Role(evil), atom, (1, 2), (1, 2))
    pool = (StateFeature(fo.Count(atom), evil, Provenance(1, 2, (3,), atom, chain, evil)),)
    words = Vocabulary([Predicate(evil, 1)])
    figures = {evil: '<svg xmlns="http://www.w3.org/2000/svg"/>'}
    text = made(
        fo.Count(atom), pool, title=evil, config=config, metrics=metrics, vocabulary=words, figures=figures
    )
    page = Page(text)
    assert not page.all("script")
    assert not page.all("img")
    assert "<script" not in text
    assert page.text.count(evil) > 12
    assert '"><img src=x onerror=alert(1)>' in page.text


def test_the_same_run_gives_the_same_bytes(figures, tmp_path):
    pool = (StateFeature(parse("#<on>clear_G"), "numerical", Provenance(2, 1, (0, 3))),)
    one = made(pool=pool, figures=figures)
    ValueFunction(VALUE, pool).save(tmp_path / "model.json")
    loaded = ValueFunction.load(tmp_path / "model.json")
    assert report("A run", CONFIG, METRICS, loaded, WORDS, figures) == one


def test_scores_of_each_split():
    text = Page(made()).text
    assert "train 12 345 0.1250 2.00 75.00% 87.50% 4/5 1.100" in text
    assert "test 12 345 0.1250 2.00 75.00% – – –" in text
    assert "4 of 2 264, pool ridt, permuted" in text
    assert "not all whole numbers" in text
    assert "error to the network 0.0625 of its greedy choices –" in text


def test_terms_tell_what_they_mean_and_where_they_were_born():
    chain = Chain(parse("<on>top").fields[0], parse("holding"), (1, 5), (1, 2, 2, 3, 3))
    pool = (
        StateFeature(
            parse("#<on+>clear_G"), "numerical", Provenance(3, 4, (0, 2), parse("~<on>clear | clear_G"))
        ),
        StateFeature(parse("#<on>clear_G"), "numerical", Provenance(1, 0)),
        StateFeature(parse("#holding*#(clear_G & ~clear)"), "product", Provenance(0)),
        StateFeature(parse("dist(clear, on, holding)"), "distance", Provenance(3, chain=chain)),
    )
    text = Page(made(pool=pool)).text
    first = "1 2 #<on+>clear_G – C2 has no transitive closures; on+ needs a bound (--up-to). the number of"
    assert first in text
    assert "numerical layer 3, tree 4, leaves 0, 2; pool ridt in the tree: clear_G | ~<on>clear" in text
    assert (
        "-1 #<on>clear_G #x ∃y (on(x, y) ∧ clear_G(y)) the number of objects that are linked by on to" in text
    )
    assert "numerical layer 1, tree 0, a split; pool ridt" in text
    assert "#x holding(x) · #x (clear_G(x) ∧ ¬clear(x))" in text
    assert "product the domain itself; pool ridt" in text
    assert "distance layer 3; pool ridt steps 1 to 5 along on from holding" in text
    assert "– 3 the constant" in text


def test_settings_that_differ_from_their_default_are_marked():
    text = Page(made()).text
    assert f"seed 7 ≠ 0 {Distillation.description('seed').removesuffix(' [0]')}" in text
    assert "features boolean ≠ boolean, numerical, combined" in text
    assert f"mode readable readable {Distillation.description('mode').split(' [')[0][:40]}" in text
    assert f"walks 3 ≠ {Labelling().walks} Beyond that" in text
    assert "checkpoint nets/blocks.safetensors" in text
    assert text.count("≠") == 3 + 3  # and once in the caption of each section
    assert "new_setting 5 –" in Page(made(config={"distillation": {"new_setting": 5}})).text


def test_the_function_stands_there_as_it_can_be_read_again():
    text = made()
    [shown] = re.findall(r'<pre class="function"><code>(.*?)</code>', text, re.DOTALL)
    assert parse_defined(html.unescape(shown)) is VALUE


def test_huge_functions_are_not_shown():
    formula = parse("<on>clear")
    for _ in range(60):
        formula = fo.And(fo.Modal(fo.Role("on"), formula), fo.Modal(fo.Role("on", 1, 0), formula))
    number = fo.Count(formula)
    text = made(number, (StateFeature(number, "numerical", Provenance(1, 0, (1,), formula)),))
    assert len(text) < 100_000
    assert "symbols, too many to show; see value.json" in text
    assert "a formula of " in text


@pytest.mark.parametrize(
    ("fit", "lines"),
    [
        ({"exact": True, "gap": 0.0}, ["Exact on all training states."]),
        ({"exact": True, "gap": 0.25}, [r"Exact .*; one that is 25% smaller is not ruled out\."]),
        ({"exact": False}, ["NOT exact"]),
        ({"exact": False, "wrong": 2, "blocking": [], "conflict": []}, ["NOT exact", "2 classes of states"]),
        (
            {"exact": False, "blocking": [{"v_star": 1, "atoms": "a()"}]},
            ["NOT", "No exact", r"  V\* = 1: a\(\)"],
        ),
        (
            {"exact": False, "conflict": [{"v_star": 1, "atoms": "a()"}]},
            ["NOT", "No network or formula", r"  V\* = 1"],
        ),
        ({}, ["Nothing is known"]),
    ],
)
def test_verdicts(fit, lines):
    told = verdict(fit, {"distillation": {"target": "optimal"}})
    assert len(told) == len(lines)
    assert all(re.match(line, own) for line, own in zip(lines, told, strict=True))
    assert all(line.strip() in Page(made(metrics={**METRICS, "fit": fit})).text for line in told)
    [model] = verdict(fit, {"distillation": {"target": "model"}})
    assert "network's own values" in model


def test_what_is_not_known_is_left_open():
    text = Page(made(fo.Constant(3), metrics={}, config={}, vocabulary=Vocabulary([]))).text
    assert "V = 3" in text
    assert "Settings" not in text


def test_elements_escape_all_but_elements():
    assert element("a", "<b>", element("b", '"'), class_="x", aria_label='"><i>') == (
        '<a class="x" aria-label="&quot;&gt;&lt;i&gt;">&lt;b&gt;<b>&quot;</b></a>'
    )
