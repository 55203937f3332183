"""Damaged and odd PDDL: refused by one sentence, or its states and V* are those of an independent reading."""

import random
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from distill.common import InputError
from distill.planning import problem_class, problem_classes
from distill.planning.language import RESERVED, check_domain, check_problem
from tests.support.hostile import Case
from tests.support.labelled import DOMAIN, PROBLEM, Worker
from tests.support.pddl import HALL, LIGHTS, ODD, TASK
from tests.support.random_pddl import random_task
from tests.support.translated import DEAD_END, RefusedError, TooLargeError, labels

MOST_STATES = 2_000
_TOKEN = re.compile(r"[()]|[^\s()]+")
_REFUSAL = re.compile(rf"({DOMAIN}|{PROBLEM})(, line \d+)?: [^\n]+\.")
# The parser does not say where, since no single line is wrong.
_WITHOUT_LINE = ("stratifiable", "two alternatives of a condition are the same")
_WORKER = Worker()
WORDS = [
    *sorted(RESERVED),
    *(
        "define",
        "domain",
        "problem",
        ":action",
        ":derived",
        ":init",
        ":goal",
        ":constraints",
        ":precondition",
    ),
    *(
        "(and)",
        "(or)",
        "()",
        "(either a b)",
        "(not",
        "(forall (?z)",
        "(exists (?z)",
        "(when",
        "?x",
        "?new",
        "1",
    ),
    *(
        "total-cost",
        ":strips",
        ":fluents",
        ":typing",
        ";",
        "\x00",
        "\x07",
        "\x0c",
        "\r",
        "\u212a",
        "é",
        "|",
        "'",
    ),
    *(
        "axiom_0",
        "number",
        "a.b",
        "?",
        ":",
        "- object",
        "- (either object object)",
        "(not (not",
        "(increase (n) 1)",
    ),
]
FORMS = [
    *("(not {0})", "(and {0})", "(and {0} {0})", "(or {0} {0})", "(or {0})", "({0})", "(not (not {0}))"),
    *("(forall (?z) {0})", "(exists (?z) {0})", "(imply {0} {0})", "(when {0} {0})", "(when (and) {0})"),
    "(forall (?z) (when (= ?z ?z) {0}))",
]
AFTER = [
    "(:action last :parameters () :precondition (and) :effect (and))",
    "(define (problem again) (:domain d) (:init) (:goal (and)))",
    ")",
    "last",
    "; a comment",
    "\r; a comment",
]


@cache
def originals() -> dict[str, tuple[str, str]]:
    """Domains with an instance, by name."""
    found = {"lights": (LIGHTS, HALL), "odd": (ODD, TASK)}
    for name in problem_classes():
        known = problem_class(name)
        instance = known.make("train")[0]
        found[name] = (known.domain.text, instance.text)
    seeds = (str(number) for number in range(1_000))
    accepted = [seed for seed in seeds if is_accepted(*random_task(seed))][:40]
    return {**found, **{f"random {seed}": random_task(seed) for seed in accepted}}


def is_accepted(domain: str, problem: str) -> bool:
    """Whether the check accepts a domain with an instance."""
    try:
        check_problem(check_domain(domain, DOMAIN), problem, PROBLEM)
    except InputError:
        return False
    return True


def _spans(text: str) -> list[tuple[int, int]]:
    """The places of all expressions in brackets."""
    stack, found = [], []
    for token in _TOKEN.finditer(text):
        if token[0] == "(":
            stack.append(token.start())
        elif token[0] == ")" and stack:
            found.append((stack.pop(), token.end()))
    return found


def _word(rng: random.Random, text: str) -> str:
    """One word is another one, from the text or from a list."""
    place = rng.choice(list(_TOKEN.finditer(text)))
    other = rng.choice(WORDS) if rng.random() < 0.5 else rng.choice(_TOKEN.findall(text))
    return text[: place.start()] + other + text[place.end() :]


def _renamed(rng: random.Random, text: str) -> str:
    """A name is another one everywhere, for example a reserved one."""
    names = sorted(set(re.findall(r"[a-z][a-z0-9-]*", text)))
    other = rng.choice([*sorted(RESERVED), *names, "axiom_0", "is_main", "total-cost"])
    return re.sub(rf"(?<![\w?:-]){re.escape(rng.choice(names))}(?![\w-])", other, text)


def _removed(rng: random.Random, text: str) -> str:
    begin, end = rng.choice(_spans(text)[:-1])
    return text[:begin] + text[end:]


def _twice(rng: random.Random, text: str) -> str:
    begin, end = rng.choice(_spans(text)[:-1])
    return f"{text[:end]} {text[begin:end]}{text[end:]}"


def _swapped(rng: random.Random, text: str) -> str:
    """An expression where another one was."""
    spans = _spans(text)[:-1]
    (begin, end), (first, last) = rng.choice(spans), rng.choice(spans)
    return text[:begin] + text[first:last] + text[end:]


def _wrapped(rng: random.Random, text: str) -> str:
    """An expression inside a connective."""
    begin, end = rng.choice(_spans(text)[:-1])
    inner = text[begin:end]
    form = rng.choice(FORMS)
    return text[:begin] + form.format(inner) + text[end:]


def _longer(rng: random.Random, text: str) -> str:
    return text + rng.choice(("", "\n")) + rng.choice(AFTER)


def _case(rng: random.Random, text: str) -> str:
    return "".join(c.upper() if rng.random() < 0.5 else c for c in text)


def _nested(rng: random.Random, text: str) -> str:
    begin, end = rng.choice(_spans(text)[:-1])
    depth = rng.choice((3, 50, 200, 20_000))
    return text[:begin] + "(and " * depth + text[begin:end] + ")" * depth + text[end:]


def _character(rng: random.Random, text: str) -> str:
    place = rng.randrange(len(text))
    other = rng.choice(("", "(", ")", " ", "-", "?", ";", "\n", "x", "\x0b", "\u2028", "\x1b", "\u0130"))
    return text[:place] + other + text[place + rng.choice((0, 1)) :]


CHANGES: list[Callable[[random.Random, str], str]] = [
    *(_word, _word, _renamed, _removed, _twice, _swapped, _wrapped, _wrapped),
    *(_longer, _case, _nested, _character),
]


def cases(number: int, seed: int) -> Iterator[Case]:
    """Domains and instances with one or two changes at random places."""
    rng = random.Random(seed)
    names = sorted(originals())
    for count in range(number):
        name = rng.choice(names)
        texts = list(originals()[name])
        changes = rng.choices(CHANGES, k=rng.choice((1, 1, 2)))
        for change in changes:
            which = int(rng.random() < 0.35)
            texts[which] = change(rng, texts[which])
        yield Case(f"{count} {name} {' '.join(one.__name__[1:] for one in changes)}", tuple(texts))


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with what the package makes of the text."""
    domain, problem = case.data
    result, found = _WORKER.ask(domain, problem, MOST_STATES)
    if result == "refused":
        if not (match := _REFUSAL.fullmatch(found)):
            return f"the refusal is not a sentence about a file: {found!r}"
        if not match[2] and not any(part in found for part in _WITHOUT_LINE):
            return f"the refusal names no line: {found!r}"
        return None
    if result in ("crash", "error"):
        return f"{result}: {found}"
    try:
        truth = labels(domain, problem, MOST_STATES)
    except TooLargeError:
        return None if result == "none" else f"{sum(found.values())} states are labelled of more"
    except RefusedError as error:
        return f"the translator refuses what was accepted: {error}"
    # The parser does not expand an instance whose goal has a static atom that does not hold.
    if result == "none":
        return None if set(truth) == {DEAD_END} else f"nothing is labelled of {dict(truth)}"
    return None if found == truth else f"the labels are {dict(found)} and not {dict(truth)}"
