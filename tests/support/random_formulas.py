"""Random formulas, and their texts with changes that a reader must refuse or understand."""

import json
import random
from collections.abc import Callable
from typing import Any

from distill.common import InputError
from distill.logic import FORMATS, define_shared, syntax as fo

TOKENS = [
    *"~&|<>()[]#*+\\,-=;:@{}'\"$%^?.0129xyV",
    *("clear", "on", "on_G", "between", "handempty", "top", "bot", "id", "all", "dist", "dist("),
    *("^-1", "[0,2]"),
    *("> 1", "> 0", " & ", " | ", "#(", "<on>", "<on+>", '"a b"', "1e9", "2*", "A := ", "V = ", "\n", " "),
    *("∃", "∀", "∃≥2 y ", "∃y ", "∃=1 x", "¬", "∧", "∨", "→", "↔", "𝐀_on", "𝐀_", "ᵀ", "⁺", "𝐈"),
    *("𝟏", "⊤", "⊥", "·"),
    *("clear(x)", "on(x,y)", "x = y", "x ≠ y", "exists y ", "@blocks-clear"),
    *("@blocks-clear/eta[2]", '[["atom","a"]]'),
]
STRANGE = "\0\x07\x1b\u00a0\u200b\u200d\u202e\u2028\ufeff\ud800\U0001f600é名ⅷ²٣ﬁİſΩ𝟙＜＃"
NAMES = [
    *(r"\input{/etc/passwd}", r"\write18{rm -rf .}", "a$b$", "a}b{", "{", "\\", '"', '""', 'a"b'),
    *("'''", '"""'),
    *("'); import os; os.abort() #", "__import__('os')", "a b", "(a", ")", "a;b", ";", "#a"),
    *("<on>", "top", "id"),
    *("V", "A", "T", "B1", "𝐀_on", "∃x", "exists", "forall", "on,T", "%", "~", "^", "_", "&", "é"),
    *("名", "${x}", "{0}", "{}"),
    *("<script>alert(1)</script>", "?x", "-->", "x" * 250, "x" * 251, "a\nb", "\0", "\u202e"),
    *("\u2028", "", " ", " a "),
    *("a\tb", "not", "lambda", "a=b", "x=y", "(a,", "[[", "@a", ">", "+", "^-1", "]", "dist"),
    *("dist(", "1", "1e9", "-"),
]
NUMBERS = [
    *("0", "1", "-1", "1.5", "1e308", "1e309", "-1e299", "1e-320", "9" * 16, "9" * 400, "9" * 5_000),
    *("4" * 9, "1" * 10),
    *("9007199254740993", "18446744073709551616", "0.1", "00001", "1e", "٣", "1_0", "0x10", "inf"),
    *("nan", "true"),
]


def random_relation(chance: random.Random, levels: int, names: list[str]) -> fo.Relation:
    """A relation, of three arguments at times."""
    kind = chance.random()
    if levels <= 0 or kind < 0.5:
        simple: list[fo.Relation] = [fo.Identity(), fo.Everything(), fo.Role("between", 2, 0)]
        roles = [fo.Role(chance.choice(names), back, 1 - back) for back in (0, 1)]
        return chance.choice(roles * 4 + simple)
    one, other = (random_relation(chance, levels - 1, names) for _ in range(2))
    return chance.choice(
        [
            fo.RelationNot(one),
            fo.RelationAnd(one, other),
            fo.RelationOr(one, other),
            fo.Closure(one, kind < 0.7),
        ]
    )


def random_truth(chance: random.Random, levels: int, atoms: list[str], roles: list[str]) -> fo.Truth:
    """A formula about objects."""
    kind = chance.random()
    if levels <= 0 or kind < 0.2:
        return fo.Top() if kind < 0.05 else fo.Atom(chance.choice(atoms))
    one = random_truth(chance, levels - 1, atoms, roles)
    if kind < 0.35:
        return fo.Not(one)
    if kind < 0.65:
        return fo.Modal(random_relation(chance, 2, roles), one, chance.choice([0, 0, 1, 2]))
    other = random_truth(chance, levels - 1, atoms, roles)
    return fo.And(one, other) if kind < 0.85 else fo.Or(one, other)


def random_number(chance: random.Random, levels: int, atoms: list[str], roles: list[str]) -> fo.Number:
    """A number of states."""
    kind = chance.random()
    one = random_truth(chance, levels, atoms, roles)
    if kind < 0.3:
        return fo.Count(one)
    if kind < 0.4:
        return fo.Distance(one, random_relation(chance, 1, roles), random_truth(chance, 1, atoms, roles))
    if kind < 0.6:
        return fo.Indicator(fo.Compare(fo.Count(one), chance.randint(0, 2)))
    if levels <= 0 or kind < 0.7:
        return fo.Scaled(chance.choice([-3, 0.5, 2, 1e-7, 7]), fo.Count(one))
    parts = [random_number(chance, levels - 1, atoms, roles) for _ in range(3)]
    return fo.Sum(*parts) if kind < 0.9 else fo.Product(*parts[:2])


def random_formula(
    chance: random.Random, atoms: list[str] | None = None, roles: list[str] | None = None
) -> fo.Node:
    """A formula about objects or a number."""
    make: Callable[..., fo.Node] = chance.choice([random_truth, random_number])
    return make(chance, 3, atoms or ["clear", "handempty", "a"], roles or ["on", "on_G"])


def written(chance: random.Random, formula: fo.Node) -> str:
    """Its text in one of the notations that can be read."""
    forms = ["ascii", "emlc", "c2", "json", "defined"]
    for form in sorted(forms, key=lambda _: chance.random()):
        try:
            if form != "defined":
                return FORMATS[form].write(formula, None)
            if isinstance(formula, fo.Number):
                return define_shared(formula).written()
        except InputError:
            continue
    raise AssertionError("JSON can be written always")


def soup(chance: random.Random) -> str:
    """Random tokens."""
    return "".join(chance.choices(TOKENS, k=chance.randint(1, 40)))


def mutated(chance: random.Random) -> str:
    """A formula with a few changed characters."""
    text = written(chance, random_formula(chance))
    for _ in range(chance.choice([0, 1, 1, 1, 2, 4])):
        begin = chance.randrange(len(text) + 1)
        end = min(len(text), begin + chance.randint(0, 6))
        new = chance.choice(["", text[begin:end] * 2, chance.choice(TOKENS), chance.choice(STRANGE)])
        text = text[:begin] + new + text[end:]
    return text


def deep(chance: random.Random) -> str:
    """Deep nests of few signs, some closed."""
    before = chance.choice(
        [
            *("~", "<on>", "(", "[", "#", "~(", "<all>~", "¬", "∃x ", "∃y (on(x,y) ∧ ", "-", "dist("),
            *("[[", "𝐀_on "),
        ]
    )
    times = chance.choice([30, 300, 1_500, 9_999, 10_000, 10_001, 50_000])
    after = ")" * (before.count("(") * times)
    inner = chance.choice(["clear", "clear(x)", "top", "", "#clear"])
    return (
        chance.choice(["", "#", "2*#"])
        + before * times
        + inner
        + chance.choice([after, after, after[1:], ""])
    )


def huge_numbers(chance: random.Random) -> str:
    """Numbers of all kinds as weights, thresholds and arguments."""
    first, second, third = (chance.choice(NUMBERS) for _ in range(3))
    shapes = [
        f"{first}*#clear - {second}*#<on>clear + {third}",
        f"<on>clear > {first}",
        f"[{first}*#clear + {second} > {third[:9]}]",
        f"#clear * {first} * {second} * #(clear | handempty) * {third}",
        f"<between[{first},{second}]>clear",
        f"∃≥{first} y (on(x,y) ∧ clear(y))",
        f'[["constant", {first}], ["top"], ["count", {{"@": 1}}], ["scaled", {second}, {{"@": 2}}]]',
        f'[["role", "on", 0, 1], ["top"], ["modal", {{"@": 0}}, {{"@": 1}}, {first}]]',
        "#clear" + f" * {first}*#top" * chance.randint(1, 60),
        f"@blocks-clear/eta[{first}]",
    ]
    return chance.choice(shapes)


def strange_signs(chance: random.Random) -> str:
    """A formula with strange characters at random places."""
    text = written(chance, random_formula(chance))
    for _ in range(chance.randint(1, 5)):
        sign = chance.choice(STRANGE)
        begin = chance.randrange(len(text) + 1)
        # As a name in quotes, or anywhere.
        text = (
            text.replace("clear", f'"{sign}"', 1)
            if chance.random() < 0.5
            else text[:begin] + sign + text[begin:]
        )
    return text


def names(chance: random.Random) -> str:
    """Hostile names of predicates, in JSON or in quotes."""
    atoms, roles = chance.choices(NAMES, k=2), chance.choices(NAMES, k=2)
    formula = random_formula(chance, ["a", "b"], ["r", "s"])
    rows = json.loads(FORMATS["json"].write(formula, None))
    renamed = {"a": atoms[0], "b": atoms[1], "r": roles[0], "s": roles[1]}
    rows = [
        [kind, renamed.get(fields[0], fields[0]), *fields[1:]]
        if kind in ("atom", "role")
        else [kind, *fields]
        for kind, *fields in rows
    ]
    if chance.random() < 0.7:
        return json.dumps(rows)
    return f'#("{atoms[0]}" & <"{roles[0]}">"{atoms[1]}")'


def changed_rows(chance: random.Random) -> str:
    """JSON with changed rows and fields."""
    rows = json.loads(FORMATS["json"].write(random_formula(chance), None))
    values: list[Any] = [
        *(None, True, 0, 1, -1, 10**20, 0.5, "", "clear", "@", [], {}, {"@": 0}, {"@": -1}),
        *({"@": True}, {"@": 10**9}, {"@": 0, "b": 1}, {"@": 0.0}, [[[]]]),
        *("\n", "not", "and", "sum", "top", "id"),
    ]
    for _ in range(chance.randint(1, 3)):
        row = chance.choice(rows)
        match chance.randrange(8):
            case 0 if isinstance(row, list) and row:
                row[chance.randrange(len(row))] = chance.choice(values)
            case 1 if isinstance(row, list):
                row.insert(chance.randint(0, len(row)), chance.choice(values))
            case 2 if isinstance(row, list) and row:
                del row[chance.randrange(len(row))]
            case 3:
                rows.insert(chance.randint(0, len(rows)), chance.choice([*rows, *values]))
            case 4 | 5 if isinstance(row, list):
                places = [place for place, field in enumerate(row) if isinstance(field, dict)]
                for place in places[:1]:
                    row[place] = {"@": chance.randrange(len(rows))}
            case 6 if isinstance(row, list) and row:
                row[0] = {"and": "or", "or": "and", "rand": "ror", "count": "indicator"}.get(
                    str(row[0]), row[0]
                )
            case _:
                rows[chance.randrange(len(rows))] = chance.choice(rows)
    return json.dumps(rows)


TEXTS: dict[str, Callable[[random.Random], str]] = {
    "soup": soup,
    "mutated": mutated,
    "deep": deep,
    "numbers": huge_numbers,
    "strange": strange_signs,
    "names": names,
    "rows": changed_rows,
}
