"""Damaged and forged certificates: refused, or what they say is true, or it is listed as not checked."""

import contextlib
import copy
import functools
import gzip
import hashlib
import io
import json
import random
import subprocess
import sys
import unittest.mock
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from distill.checker import recheck
from distill.checker.__main__ import main as checker_main
from distill.cli.verify import recheck as recheck_command
from distill.common import InputError
from distill.logic import Number, from_json, parse
from distill.planning import Domain, Instance, InstanceFamilies, InstanceFamily, problem_class
from distill.verification import Verification, Verifier, certificate_of
from distill.verification.exhaustive import SizeCoverage
from distill.verification.properties import PropertyChecker
from tests.support.hostile import Case, refused
from tests.support.pddl import HALL, LIGHTS, RIGHT, maze

OLD = Path(__file__).parents[2] / "golden" / "files" / "old" / "certificate.json"
MARKED = "2*#<on+>clear_G - #<on>clear_G + #holding * #clear_G,F"
Place = tuple[Any, ...]


@functools.cache
def originals() -> dict[str, dict[str, Any]]:
    """True certificates: right and wrong functions, goal marking, atoms set aside, instances of one's own."""

    def verified(name: str, value: str, most: int, **options: bool) -> Verification:
        return Verifier(parse(value), workers=1, **options).problem(problem_class(name), most)

    lights = Instance(Domain(LIGHTS), HALL, "hall")
    mazes = [maze("ab ac", "(at b)"), maze("ab bc cd", "(at d)", objects="a b c d")]
    done = {
        "right": verified("blocks-clear", RIGHT["blocks-clear"], 3),
        "wrong": verified("blocks-clear", "2*#<on>clear_G - #<on>clear_G", 3),
        "marked": verified("blocks-clear", MARKED, 2, goal_marking=True),
        "aside": verified("visitall", RIGHT["visitall"], 3),
        "aside, wrong": verified("visitall", "#(visited_G & ~visited)", 3),
        "given": Verifier(parse("#(at & ~at_G) + #(at & ~at_G & ~<way>at_G)")).instances(mazes, go_on=True),
        "lights": Verifier(parse("#(lit_G & ~lit) + [#power > 0]")).instances([lights]),
        "no symmetry": verified("blocks-on", RIGHT["blocks-on"], 2, symmetry=False),
    }
    found = {name: certificate_of(one, {"run": "r", "model": "0" * 64}) for name, one in done.items()}
    # As in a file: tuples are lists.
    return json.loads(json.dumps(found)) | {"old": json.loads(OLD.read_text())}


def signed(certificate: Any) -> Any:
    """A certificate with the checksum that fits."""
    if not isinstance(certificate, dict):
        return certificate
    rest = {key: value for key, value in certificate.items() if key != "checksum"}
    return {**rest, "checksum": hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()}


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """The places of all values in a certificate, at all levels."""
    yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*place, key))


def at(value: Any, place: Place) -> Any:
    return functools.reduce(lambda whole, key: whole[key], place, value)


def replaced(certificate: Any, place: Place, value: Any) -> Any:
    if not place:
        return value
    found = copy.deepcopy(certificate)
    at(found, place[:-1])[place[-1]] = value
    return found


def others(value: Any, near_only: bool = False) -> list[Any]:
    """Other values in place of one: near ones, and those of other types."""
    odd: list[Any] = [None, "", {}, [], -1, [[[]]], True, float("nan")]
    match value:
        case bool():
            near: list[Any] = [not value, int(value)]
        case int() | float():
            near = [value + 1, value - 1, -value, 0, value + 0.5, str(value), 10**30, float("inf")]
        case str():
            near = [value + "x", value[:-1], value[::-1], value.upper(), f"({value})", value + "\0", "é"]
        case list():
            near = [value[:-1], value[1:], [*value, *value[:1]], [*value, *value[-1:]], value[::-1]]
        case dict():
            near = [{**value, "x": 1}, *({k: v for k, v in value.items() if k != key} for key in value)]
            near.append(dict(zip(value, [*list(value.values())[1:], *list(value.values())[:1]], strict=True)))
        case _:
            near = [1, "none"]
    return [one for one in (near if near_only else near + odd) if repr(one) != repr(value)]


def forgeries(name: str, step: int) -> Iterator[Case]:
    """Every so-maniest value of a certificate replaced by several others, with a checksum that fits."""
    whole = originals()[name]
    for place in list(places(whole))[::step]:
        if place != ("checksum",):
            # Nodes have many values of few kinds.
            inside_node = place[0:1] == ("nodes",) and len(place) > 2 and name != "right"
            for number, other in enumerate(others(at(whole, place), near_only=inside_node)):
                forged = replaced(whole, place, other)
                yield Case(f"{name} {place} {number}", (signed(forged), place))
    yield Case(f"{name} without its checksum", ({**whole, "checksum": "0" * 64}, ("checksum",)))


def lies() -> Iterator[Case]:
    """Several values changed, so that they agree with each other but not with the truth."""
    for name, whole in originals().items():
        for lie, tell in LIES.items():
            forged = copy.deepcopy(whole)
            tell(forged)
            if forged != whole:
                yield Case(f"{name}: {lie}", (signed(forged), None))


def _make_right(whole: dict[str, Any]) -> None:
    whole |= {"holds": True, "complete": True, "counterexample": None}
    for one in [*whole["sizes"], *whole["instances"]]:
        one["wrong"] = dict.fromkeys(one["wrong"], 0)
    whole["covered"] = whole["covered"].replace(", only those with at most 3 objects", "")


def _make_wrong(whole: dict[str, Any]) -> None:
    whole["holds"] = False
    for one in (whole["sizes"][-1], whole["instances"][-1]):
        one["wrong"] = {"value": 1, "greedy": 0, "goal": 0}


def _more(key: str) -> Callable[[dict[str, Any]], None]:
    def lie(whole: dict[str, Any]) -> None:
        whole["sizes"][-1][key] += 1
        if key in whole["instances"][-1]:
            whole["instances"][-1][key] += 1

    return lie


def _empty(whole: dict[str, Any]) -> None:
    whole |= {"instances": [], "sizes": [], "holds": True, "complete": True, "counterexample": None}


def _twice(whole: dict[str, Any]) -> None:
    """The last instance counts twice, once under other names."""
    last, size = whole["instances"][-1], whole["sizes"][-1]
    renamed = last["pddl"].replace("b1", "other")
    whole["instances"].append({**last, "pddl": renamed})
    for key in ("classes", "states", "dead_ends"):
        size[key] += last[key]
    size |= {"scenes": size["scenes"] + 1, "instances": size["instances"] * 2, "steps": size["steps"] * 2}


def _other_function(whole: dict[str, Any]) -> None:
    whole |= {"value": "7", "nodes": [["constant", 7]]}


def _not_aside(whole: dict[str, Any]) -> None:
    whole["aside"] = []
    whole["covered"] = whole["covered"].partition(" Atoms of")[0]


def _aside(whole: dict[str, Any]) -> None:
    whole["aside"] = ["clear"]
    whole["covered"] += (
        " Atoms of clear that the goal does not name were set aside: no action looks at them, and the value "
        "function asks for them only together with the goal."
    )


def _symmetry(whole: dict[str, Any]) -> None:
    sentence = " Isomorphic states (same facts and goal) were evaluated once."
    whole["symmetry"] = not whole["symmetry"]
    whole["covered"] = (
        whole["covered"].replace("isomorphism.", f"isomorphism.{sentence}", 1)
        if whole["symmetry"]
        else whole["covered"].replace(sentence, "")
    )


def _reachable(whole: dict[str, Any]) -> None:
    """Another initial state, which the others reach anyway."""
    whole["instances"][-1]["starts"].append(["(clear b1)", "(ontable b1)", "(handempty)"])


def _other_state(whole: dict[str, Any]) -> None:
    if whole["counterexample"]:
        example = whole["counterexample"]
        example["pddl"] = example["pddl"].replace(example["state"].pop(), "", 1)


def _other_type(whole: dict[str, Any]) -> None:
    whole["domain"] = (
        whole["domain"].replace("?x", "?x - (either cell cell)").replace("(?b", "(?b - (either a b)")
    )


def _second_action(whole: dict[str, Any]) -> None:
    action = whole["domain"][whole["domain"].index("(:action") :]
    whole["domain"] = whole["domain"].rstrip()[:-1] + action


def _after_the_end(whole: dict[str, Any]) -> None:
    whole["domain"] += " (:action last :parameters () :effect (and))"


def _derived(whole: dict[str, Any]) -> None:
    whole["domain"] = whole["domain"].rstrip()[:-1] + "(:derived (wet) (and)))"


def _goal(new: str) -> Callable[[dict[str, Any]], None]:
    def lie(whole: dict[str, Any]) -> None:
        for entry in whole["instances"]:
            entry["pddl"] = entry["pddl"].replace("(:goal (and", f"(:goal ({new}")

    return lie


LIES: dict[str, Callable[[dict[str, Any]], None]] = {
    "right after all": _make_right,
    "wrong after all": _make_wrong,
    "no instances": _empty,
    "an instance twice": _twice,
    "another text": lambda whole: whole.update(value="0"),
    "another function": _other_function,
    "not set aside": _not_aside,
    "set aside": _aside,
    "symmetry": _symmetry,
    "another start": _reachable,
    "another counterexample": _other_state,
    "either": _other_type,
    "actions twice": _second_action,
    "text after the end": _after_the_end,
    "derived predicate": _derived,
    **{f"one more of {key}": _more(key) for key in ("objects", "classes", "states", "steps", "dead_ends")},
    **{f"one more of {key}": _more(key) for key in ("max_v_star", "scenes")},
    **{f"goal with {words}": _goal(words) for words in ("or", "forall (?x)", "exists (?x)", "imply", "not")},
}


def cases(number: int, seed: int) -> Iterator[Case]:
    """Certificates damaged at random places: bytes of the file, or values, with a checksum that fits."""
    rng = random.Random(seed)
    names = sorted(originals())
    for count in range(number):
        name = rng.choice(names)
        whole = originals()[name]
        if count % 2:
            zipped = rng.random() < 0.3
            text = json.dumps(whole, indent=1).encode()
            yield Case(
                f"{count} {name} bytes",
                (_damaged(rng, gzip.compress(text, mtime=0) if zipped else text), zipped),
            )
            continue
        forged = whole
        for _ in range(rng.choice((1, 1, 2, 3))):
            place = rng.choice(list(places(forged))[1:])
            other = rng.choice(others(at(forged, place)))
            forged = replaced(forged, place, other)
        yield Case(f"{count} {name} values", (signed(forged), None))


def _damaged(rng: random.Random, content: bytes) -> bytes:
    for _ in range(rng.choice((1, 1, 2, 5))):
        place = rng.randrange(len(content) or 1)
        piece = (
            rng.randbytes(rng.choice((1, 1, 3)))
            if rng.random() < 0.5
            else rng.choice((b"1", b" ", b'"', b"}"))
        )
        width = rng.choice((0, 1, 1, 2, 40, len(content)))
        content = content[:place] + piece + content[place + width :]
    return content


def failure(case: Case, folder: Path) -> str | None:
    """What is wrong with the answer to a certificate: both commands refuse it, or what they say is true."""
    content, more = case.data
    file = folder / "certificate.json"
    if isinstance(content, bytes):
        file = file.with_suffix(".json.gz") if more else file
        file.write_bytes(content)
    else:
        file.write_text(json.dumps(content))
    try:
        done, alone = _answer(lambda: _command(file)), _answer(lambda: _alone(file))
    except Exception as error:
        return f"it raised {error!r}"
    if done.returncode != alone.returncode:
        return f"one command ends with {done.returncode}, the other with {alone.returncode}"
    if done.returncode:
        told = [(one.stdout + one.stderr).strip() for one in (done, alone)]
        several = [text for text in told if len(text.splitlines()) != 1]
        return refused(done) or refused(alone) or (f"not one sentence: {several[0]}" if several else None)
    if isinstance(content, bytes):
        content, more = json.loads(gzip.decompress(content) if more else content), None
    return _believed(content, more, recheck(file))


def _answer(run: Callable[[], int]) -> subprocess.CompletedProcess[str]:
    """What a command prints, and its exit code."""
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        code = run()
    return subprocess.CompletedProcess([], code, out.getvalue(), told.getvalue())


def _command(file: Path) -> int:
    """`distill recheck`, without the rest of the command line, which takes longer than the checker."""
    try:
        recheck_command(file)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except typer.Exit as done:
        return done.exit_code
    return 0


def _alone(file: Path) -> int:
    """The checker by itself."""
    with unittest.mock.patch.object(sys, "argv", ["checker", str(file)]):
        return checker_main()


def _believed(certificate: dict[str, Any], place: Place | None, summary: dict[str, Any]) -> str | None:
    """What is not true in a certificate that was accepted."""
    if place is not None:
        named = ".".join(key for key in place if isinstance(key, str))
        if any(f"{named}.".startswith(f"{entry}.") for entry in summary["unchecked"]):
            return None
    truth = _truth(certificate)
    # The number of initial states and irrelevant atoms of the counterexample are listed as not checked.
    for one in (truth, certificate := copy.deepcopy(certificate)):
        for size in one["sizes"]:
            size.pop("instances", None)
        for entry in [*one["instances"], *([one["counterexample"]] if one["counterexample"] else [])]:
            for key in ("pddl", "starts", "digest", "state"):
                entry.pop(key, None)
    for key in sorted(truth.keys() - {"version", "source", "nodes", "domain", "checksum"}):
        if certificate[key] != truth[key]:
            return f"{key} is {truth[key]}, but {certificate[key]} was accepted"
    if (summary["value"], summary["holds"]) != (truth["value"], truth["holds"]):
        return f"it shows {summary['value']} and {summary['holds']}"
    return None


def _truth(certificate: dict[str, Any]) -> dict[str, Any]:
    """What a certificate about these instances and this value function must say."""
    value = from_json(certificate["nodes"])
    assert isinstance(value, Number)
    domain = Domain(certificate["domain"])
    instances = [Instance(domain, entry["pddl"], "p") for entry in certificate["instances"]]
    absent = {name for one in instances for name, _, holds in one.goals if not holds}
    families = InstanceFamilies(domain, absent)
    checker = PropertyChecker(
        families, value, certificate["goal_marking"], certificate["aside"], certificate["symmetry"]
    )
    given = [_family(*pair, families) for pair in zip(instances, certificate["instances"], strict=True)]
    by_size: dict[int, list[InstanceFamily]] = {}
    for family in given:
        by_size.setdefault(len(family.objects), []).append(family)
    sizes, found = [], []
    for n, some in sorted(by_size.items()):
        records, wrong = checker.check(some)
        sizes.append(SizeCoverage(n, records, 0))
        found += [wrong] if wrong else []
    smallest = min(found, key=lambda one: one.rank, default=None)
    done = Verification(certificate["scope"], checker, sizes, smallest, certificate["complete"])
    return json.loads(json.dumps(certificate_of(done, {})))


def _family(instance: Instance, entry: dict[str, Any], families: InstanceFamilies) -> InstanceFamily:
    family = families.of_instance(instance)
    rows = [_rows(atoms, family, families) for atoms in entry["starts"]]
    return InstanceFamily(family.objects, family.kinds, family.fixed, (*family.starts, *rows))


def _rows(
    atoms: list[str], family: InstanceFamily, families: InstanceFamilies
) -> tuple[tuple[int, ...], ...]:
    words = [atom.strip("() ").split() for atom in atoms]
    return tuple(
        sorted((families.number[name], *map(family.objects.index, objects)) for name, *objects in words)
    )
