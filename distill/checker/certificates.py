"""Recheck the certificate of a value function."""

import gzip
import hashlib
import json
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .formulas import Interpretation, occurs_only_with_goal
from .pddl import PlainInstance, State, parse_atom


class CertificateError(Exception):
    """A statement of the certificate is false."""


def recheck_instance(certificate: dict[str, Any], entry: dict[str, Any], max_states: int) -> int:
    """Recheck all states of an instance and return their number; a difference raises `CertificateError`."""
    instance = PlainInstance(certificate["domain"], entry["pddl"])
    goal_atoms = {tuple(one[1] if one[0] == "not" else one) for one in instance.goal}
    irrelevant = set(certificate["aside"])

    def index(state: State) -> int:
        relevant = frozenset(atom for atom in state if atom[0] not in irrelevant or atom in goal_atoms)
        if relevant not in indices:
            indices[relevant] = len(states)
            states.append(state)
        return indices[relevant]

    indices: dict[State, int] = {}
    states: list[State] = []
    for start in [instance.start, *(frozenset(map(parse_atom, atoms)) for atoms in entry["starts"])]:
        index(start)
    after: list[list[int]] = []
    for state in states:
        after.append([index(successor) for successor in instance.successors(state)])
        if len(states) > max_states:
            raise CertificateError(f"it has more than {max_states} states; allow more, or use smaller ones")
    v_star = steps_to_goal([instance.is_goal(state) for state in states], after)
    rows, names = certificate["nodes"], list(instance.objects)
    values = [Interpretation(rows, names, instance.structure(state)).value() for state in states]
    compare(entry, v_star, values, after)
    return len(states)


def steps_to_goal(goal: list[bool], after: list[list[int]]) -> list[int]:
    """The least number of steps to a goal from each state; -1 if no goal is reachable."""
    before: list[list[int]] = [[] for _ in after]
    for state, successors in enumerate(after):
        for successor in successors:
            before[successor].append(state)
    steps = [0 if is_goal else -1 for is_goal in goal]
    todo = deque(state for state, is_goal in enumerate(goal) if is_goal)
    while todo:
        state = todo.popleft()
        for earlier in before[state]:
            if steps[earlier] < 0:
                steps[earlier] = steps[state] + 1
                todo.append(earlier)
    return steps


def compare(entry: dict[str, Any], v_star: list[int], values: list[float], after: list[list[int]]) -> None:
    """Compare V* and V of all states with the certificate of an instance."""
    tolerance = 1e-6
    wrong = dict.fromkeys(entry["wrong"], False)
    for state, own in enumerate(v_star):
        wrong["value"] |= own >= 0 and abs(values[state] - own) > tolerance
        wrong["goal"] |= (abs(values[state]) <= tolerance) != (own == 0)
        least = min((values[one] for one in after[state]), default=0.0)
        best = [one for one in after[state] if values[one] <= least + tolerance]
        wrong["greedy"] |= own > 0 and any(v_star[one] != own - 1 for one in best)
    for name, fails in wrong.items():
        if fails != (entry["wrong"][name] > 0):
            raise CertificateError(f"the property {name} {'does not hold' if fails else 'holds'}")
    if max(v_star) != entry["max_v_star"]:
        raise CertificateError(f"the largest V* is {max(v_star)}, not {entry['max_v_star']}")
    if not entry["classes"] <= len(v_star) <= entry["states"]:
        counts = f"{entry['classes']} classes of {entry['states']}"
        raise CertificateError(f"{len(v_star)} states cannot be {counts}")
    labels = [(own, round(value * 1e6)) for own, value in zip(v_star, values, strict=True)]
    lines = {f"{labels[s]} {sorted(labels[t] for t in successors)}" for s, successors in enumerate(after)}
    if hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:32] != entry["profile"]:
        raise CertificateError("V* and V of states and their successors differ")


def check_consistency(certificate: dict[str, Any]) -> None:
    """Check that a certificate is consistent: its checksum, its totals and its irrelevant predicates."""
    rest = {key: value for key, value in certificate.items() if key != "checksum"}
    if hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest() != certificate["checksum"]:
        raise CertificateError("it was changed after it was written: its checksum differs")
    wrong = sum(sum(entry["wrong"].values()) for entry in certificate["instances"])
    if certificate["holds"] and (wrong or not certificate["complete"]):
        raise CertificateError("it claims that the value function holds, but some instances are wrong")
    for size in certificate["sizes"]:
        mine = [entry for entry in certificate["instances"] if entry["objects"] == size["objects"]]
        if any(size[key] != sum(entry[key] for entry in mine) for key in ("classes", "states")):
            raise CertificateError(f"the totals for {size['objects']} objects are not those of its instances")
    for name in certificate["aside"]:
        first = PlainInstance(certificate["domain"], certificate["instances"][0]["pddl"])
        if name in first.condition_predicates() or not occurs_only_with_goal(certificate["nodes"], name):
            raise CertificateError(f"atoms of {name} matter, but were set aside")


def recheck(
    path: Path,
    *,
    max_objects: int | None = None,
    sample: int | None = None,
    seed: int = 0,
    max_states: int = 200_000,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Recheck a certificate file.

    Parameters
    ----------
    max_objects : only instances with at most this many objects.
    sample : number of instances, drawn at random; all by default.
    seed : random seed of the sample.
    max_states : an instance with more states raises an error.
    progress : called with the number of finished instances and of all instances.

    Returns
    -------
    The number of instances, of rechecked instances and of their states, and the statement of the certificate.
    `CertificateError` is raised if a statement is false.
    """
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as stream:
        certificate = json.load(stream)
    check_consistency(certificate)
    entries = [e for e in certificate["instances"] if max_objects is None or e["objects"] <= max_objects]
    if sample is not None and sample < len(entries):
        entries = random.Random(seed).sample(entries, sample)
    states = 0
    for done, entry in enumerate(entries):
        progress(done, len(entries))
        try:
            states += recheck_instance(certificate, entry, max_states)
        except CertificateError as error:
            raise CertificateError(f"{error}: in {entry['pddl']}") from error
    return {
        "value": certificate["value"],
        "holds": certificate["holds"],
        "instances": len(certificate["instances"]),
        "rechecked": len(entries),
        "states": states,
    }
