"""Certificates of value functions, rechecked."""

import gzip
import hashlib
import json
import random
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .formulas import Meaning, asks_only_with_goal
from .pddl import Instance, State, nested


class Rejected(Exception):  # noqa: N818
    """The certificate says what is not so."""


def recheck_instance(certificate: dict[str, Any], entry: dict[str, Any], max_states: int) -> int:
    """Look at all states of an instance again; the number of them. What differs raises `Rejected`."""
    instance = Instance(certificate["domain"], entry["pddl"])
    goal_atoms = {tuple(one[1] if one[0] == "not" else one) for one in instance.goal}
    aside = set(certificate["aside"])

    def seen(state: State) -> State:
        return frozenset(atom for atom in state if atom[0] not in aside or atom in goal_atoms)

    starts = [instance.start, *(frozenset(tuple(nested(atom)) for atom in more) for more in entry["starts"])]
    number: dict[State, int] = {}
    states: list[State] = []
    for start in starts:
        if seen(start) not in number:
            number[seen(start)] = len(states)
            states.append(start)
    after: list[list[int]] = []
    for state in states:
        own = []
        for successor in instance.successors(state):
            if seen(successor) not in number:
                number[seen(successor)] = len(states)
                states.append(successor)
            own.append(number[seen(successor)])
        after.append(own)
        if len(states) > max_states:
            raise Rejected(f"it has more than {max_states} states; allow more, or recheck smaller ones")
    v_star = steps_to_goal([instance.is_goal(state) for state in states], after)
    rows, names = certificate["nodes"], list(instance.objects)
    values = [Meaning(rows, names, instance.structure(state)).value() for state in states]
    compare(entry, v_star, values, after)
    return len(states)


def steps_to_goal(goal: list[bool], after: list[list[int]]) -> list[int]:
    """The least number of steps to a goal from each state; -1 if there is no way."""
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
    """Hold what was found against what the certificate says of an instance."""
    same = 1e-6
    wrong = dict.fromkeys(entry["wrong"], False)
    for state, own in enumerate(v_star):
        wrong["value"] |= own >= 0 and abs(values[state] - own) > same
        wrong["goal"] |= (abs(values[state]) <= same) != (own == 0)
        least = min((values[one] for one in after[state]), default=0.0)
        best = [one for one in after[state] if values[one] <= least + same]
        wrong["greedy"] |= own > 0 and any(v_star[one] != own - 1 for one in best)
    for name, found in wrong.items():
        if found != (entry["wrong"][name] > 0):
            raise Rejected(f"the property {name} {'does not hold' if found else 'holds'}")
    if max(v_star) != entry["max_v_star"]:
        raise Rejected(f"the largest V* is {max(v_star)}, not {entry['max_v_star']}")
    if not entry["classes"] <= len(v_star) <= entry["states"]:
        raise Rejected(f"{len(v_star)} states cannot be {entry['classes']} classes of {entry['states']}")
    said = [(own, round(value * 1e6)) for own, value in zip(v_star, values, strict=True)]
    lines = {f"{said[s]} {sorted(said[t] for t in successors)}" for s, successors in enumerate(after)}
    if hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:32] != entry["profile"]:
        raise Rejected("V* and V of states and their successors differ")


def check_whole(certificate: dict[str, Any]) -> None:
    """Whether a certificate agrees with itself: its checksum, its totals, and what was set aside."""
    rest = {key: value for key, value in certificate.items() if key != "checksum"}
    if hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest() != certificate["checksum"]:
        raise Rejected("it was changed after it was written: its checksum differs")
    wrong = sum(sum(entry["wrong"].values()) for entry in certificate["instances"])
    if certificate["holds"] and (wrong or not certificate["complete"]):
        raise Rejected("it says that the value function holds, but not that it holds in all instances")
    for size in certificate["sizes"]:
        mine = [entry for entry in certificate["instances"] if entry["objects"] == size["objects"]]
        if any(size[key] != sum(entry[key] for entry in mine) for key in ("classes", "states")):
            raise Rejected(f"the totals for {size['objects']} objects are not those of its instances")
    for name in certificate["aside"]:
        first = Instance(certificate["domain"], certificate["instances"][0]["pddl"])
        if name in first.looked_at() or not asks_only_with_goal(certificate["nodes"], name):
            raise Rejected(f"atoms of {name} matter, but were set aside")


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
    max_objects : only instances with at most so many objects.
    sample : only so many instances, drawn at random; all if left out.
    seed : of the sample.
    max_states : an instance with more states is not rechecked, which is an error.
    progress : called with the number of instances done and to do.

    Returns
    -------
    How many instances there are and were rechecked, the states seen, and what the certificate says.
    `Rejected` says why it is wrong.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        certificate = json.load(stream)
    check_whole(certificate)
    entries = [e for e in certificate["instances"] if max_objects is None or e["objects"] <= max_objects]
    if sample is not None and sample < len(entries):
        entries = random.Random(seed).sample(entries, sample)
    states = 0
    for done, entry in enumerate(entries):
        progress(done, len(entries))
        try:
            states += recheck_instance(certificate, entry, max_states)
        except Rejected as error:
            raise Rejected(f"{error}: in {entry['pddl']}") from error
    return {
        "value": certificate["value"],
        "holds": certificate["holds"],
        "instances": len(certificate["instances"]),
        "rechecked": len(entries),
        "states": states,
    }
