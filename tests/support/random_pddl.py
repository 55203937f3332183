"""Small random domains with an instance, which use everything that is supported."""

import random

HEADER = """ (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions
  :equality :existential-preconditions :universal-preconditions
  :conditional-effects :derived-predicates :action-costs)"""
Terms = dict[str, str]


class RandomTask:
    """A domain and an instance from a seed."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.types = {"t": "object", "s": "t", "u": "object"} if rng.random() < 0.5 else {}
        self.constants = {f"c{i}": self.kind() for i in range(rng.choice((0, 0, 1, 2)))}
        self.objects = {f"o{i}": self.kind() for i in range(rng.choice((1, 2, 2, 3)))}
        arities = [0, *(rng.choice((0, 1, 1, 1, 2, 2)) for _ in range(rng.randint(1, 3)))]
        self.base = {f"p{i}": [self.kind() for _ in range(arity)] for i, arity in enumerate(arities)}
        derived = range(rng.choice((0, 0, 1, 2)))
        self.derived = {f"d{i}": [self.kind() for _ in range(rng.choice((0, 1, 1, 2)))] for i in derived}
        self.costs = rng.random() < 0.3

    def kind(self) -> str:
        return self.rng.choice(["object", *self.types])

    def fits(self, kind: str, wanted: str) -> bool:
        while kind not in (wanted, "object"):
            kind = self.types[kind]
        return kind == wanted

    def atom(self, names: dict[str, list[str]], terms: Terms) -> str:
        """An atom over terms; objects and constants have the types of the arguments."""
        for _ in range(20):
            name = self.rng.choice(sorted(names))
            fitting = [[term for term, own in terms.items() if self.fits(own, kind)] for kind in names[name]]
            if all(fitting):
                return f"({' '.join([name, *map(self.rng.choice, fitting)])})"
        return "(p0)"

    def variables(self, prefix: str, numbers: tuple[int, ...]) -> Terms:
        return {f"?{prefix}{i}": self.kind() for i in range(self.rng.choice(numbers))}

    def listed(self, terms: Terms) -> str:
        return " ".join(f"{term} - {kind}" if self.types else term for term, kind in terms.items())

    def condition(
        self,
        names: dict[str, list[str]],
        terms: Terms,
        depth: int,
        *,
        same: str = "",
        quantifiers: bool = True,
    ) -> str:
        """A random condition; the predicate `same` only occurs where no negation is above it."""
        rng = self.rng
        draw = rng.random()
        positive = {**names, **({same: self.derived[same]} if same else {})}
        if depth == 0 or draw < 0.25:
            return self.atom(positive, terms)
        if draw < 0.35 and terms:
            equal = f"(= {rng.choice(sorted(terms))} {rng.choice(sorted(terms))})"
            return equal if rng.random() < 0.5 else f"(not {equal})"
        inner = {"depth": depth - 1, "quantifiers": quantifiers}
        if draw < 0.5:
            return f"(not {self.condition(names, terms, **inner)})"
        if draw < 0.6:
            first = self.condition(names, terms, **inner)
            return f"(imply {first} {self.condition(names, terms, same=same, **inner)})"
        if draw < 0.8 or not quantifiers:
            connective = rng.choice(("and", "or"))
            number = rng.randint(2 if connective == "or" else 1, 3)
            parts = [self.condition(names, terms, same=same, **inner) for _ in range(number)]
            return f"({connective} {' '.join(parts)})"
        more = self.variables(f"q{depth}", (1, 1, 2))
        quantifier = rng.choice(("forall", "exists"))
        # A universal quantifier is a negated existential one, below which recursion is not stratified.
        same = same if quantifier == "exists" else ""
        body = self.condition(names, {**terms, **more}, same=same, **inner)
        more = used(more, body)
        return f"({quantifier} ({self.listed(more)}) {body})" if more else body

    def literal(self, terms: Terms) -> str:
        atom = self.atom(self.base, terms)
        return f"(not {atom})" if self.rng.random() < 0.45 else atom

    def effect(self, terms: Terms) -> str:
        rng = self.rng
        parts = [self.literal(terms) for _ in range(rng.randint(1, 3))]
        everything = {**self.base, **self.derived}
        for _ in range(rng.choice((0, 0, 1, 2))):
            outer = self.variables("e", (1, 1, 2)) if rng.random() < 0.5 else {}
            inside = {**terms, **outer}
            part = f"(and {self.literal(inside)} {self.literal(inside)})"
            if rng.random() < 0.7:
                part = f"(when {self.condition(everything, inside, 2, quantifiers=False)} {part})"
            outer = used(outer, part)
            parts.append(f"(forall ({self.listed(outer)}) {part})" if outer else part)
        if self.costs and rng.random() < 0.8:
            parts.append("(increase (total-cost) 2)")
        rng.shuffle(parts)
        return f"(and {' '.join(parts)})"

    def domain(self) -> str:
        lines = ["(define (domain random)", HEADER]
        if self.types:
            lines.append(f" (:types {self.listed(self.types)})")
        if self.constants:
            lines.append(f" (:constants {self.listed(self.constants)})")
        lines.append(" (:predicates")
        for name, kinds in {**self.base, **self.derived}.items():
            lines.append(f"  ({name} {self.listed({f'?x{i}': kind for i, kind in enumerate(kinds)})})")
        lines.append(" )")
        if self.costs:
            lines.append(" (:functions (total-cost) - number)")
        below = dict(self.base)
        for name, kinds in self.derived.items():
            for _ in range(self.rng.choice((1, 1, 2))):
                head = {f"?x{i}": kind for i, kind in enumerate(kinds)}
                body = self.condition(below, {**self.constants, **head}, 3, same=name)
                lines.append(f" (:derived ({name} {self.listed(head)}) {body})")
            below[name] = kinds
        for number in range(self.rng.randint(1, 3)):
            parameters = self.variables("x", (0, 1, 1, 2, 2, 3))
            terms = {**self.constants, **parameters}
            lines.append(f" (:action a{number} :parameters ({self.listed(parameters)})")
            if self.rng.random() < 0.9 or not parameters:
                lines.append(f"  :precondition {self.condition(below, terms, 3)}")
            lines.append(f"  :effect {self.effect(terms)})")
        return "\n".join([*lines, ")"])

    def problem(self) -> str:
        objects = {**self.constants, **self.objects}
        init = sorted({self.atom(self.base, objects) for _ in range(self.rng.randint(0, 6))})
        init += ["(= (total-cost) 0)"] * self.costs
        wanted = [self.atom({**self.base, **self.derived}, objects) for _ in range(self.rng.randint(1, 2))]
        goal = [f"(not {one})" if self.rng.random() < 0.3 else one for one in wanted]
        return f"""(define (problem p) (:domain random)
 (:objects {self.listed(self.objects)})
 (:init {" ".join(init)})
 (:goal (and {" ".join(goal)}))
{" (:metric minimize (total-cost))" * self.costs})"""


def used(variables: Terms, text: str) -> Terms:
    """The variables that occur in a text."""
    words = set(text.replace("(", " ").replace(")", " ").split())
    return {name: kind for name, kind in variables.items() if name in words}


def random_task(seed: str) -> tuple[str, str]:
    """The PDDL of a random domain and of an instance."""
    task = RandomTask(random.Random(seed))
    return task.domain(), task.problem()
