"""What the entries of a certificate say about each other: totals, results, and the scope in words."""

import hashlib
import json
from typing import Any

from .errors import CannotCheckError, CertificateError
from .formulas import occurs_only_with_goal
from .instances import condition_predicates, fluent_predicates
from .pddl import Domain

KIND = "certificate of a value function"
PROPERTIES = {
    "value": "V = V*",
    "greedy": "every successor of least V is one step closer to a goal",
    "goal": "V = 0 in goals and nowhere else",
}


def check_claims(certificate: dict[str, Any]) -> None:
    """Check what can be checked without any state."""
    rest = {key: value for key, value in certificate.items() if key != "checksum"}
    if hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest() != certificate["checksum"]:
        raise CertificateError("it was changed after it was written: its checksum differs")
    if certificate["kind"] != KIND:
        raise CannotCheckError(f"it is no certificate: its kind must be {KIND!r}")
    if certificate["properties"] != PROPERTIES:
        raise CertificateError("the properties are not those that were checked")
    _check_result(certificate)
    _check_sizes(certificate)
    if certificate["covered"] != coverage(certificate):
        raise CertificateError("covered does not say what its other entries say")


def _check_result(certificate: dict[str, Any]) -> None:
    """Check that `holds` and `complete` agree with the instances and the counterexample."""
    wrong = [entry["objects"] for entry in certificate["instances"] if any(entry["wrong"].values())]
    example, last = certificate["counterexample"], certificate["sizes"][-1]["objects"]
    if certificate["holds"] and (wrong or example or not certificate["complete"]):
        raise CertificateError("it claims that the value function holds, but some instances are wrong")
    if not certificate["holds"] and (not wrong or example is None):
        raise CertificateError("it claims that the value function is wrong, but shows no wrong state")
    if example is not None and example["objects"] != min(wrong):
        raise CertificateError("the counterexample is not among the smallest wrong instances")
    if example is not None and not certificate["complete"] and example["objects"] != last:
        raise CertificateError("instances larger than the counterexample were checked, yet not all")
    most = certificate["scope"].get("max_objects", last)
    if last > most or (last == most and not certificate["complete"] and "class" in certificate["scope"]):
        raise CertificateError("the sizes are not those of the scope")


def _check_sizes(certificate: dict[str, Any]) -> None:
    """Check that the totals are those of the instances."""
    numbers = [size["objects"] for size in certificate["sizes"]]
    if numbers != sorted({entry["objects"] for entry in certificate["instances"]}):
        raise CertificateError("the sizes are not those of its instances")
    listed = [entry["objects"] for entry in certificate["instances"]]
    if listed != sorted(listed):
        raise CertificateError("the instances are not in the order of their sizes")
    for size in certificate["sizes"]:
        mine = [entry for entry in certificate["instances"] if entry["objects"] == size["objects"]]
        totals = {key: sum(entry[key] for entry in mine) for key in ("classes", "states", "dead_ends")}
        totals |= {
            "scenes": len(mine),
            "max_v_star": max(entry["max_v_star"] for entry in mine),
            "wrong": {key: sum(entry["wrong"][key] for entry in mine) for key in PROPERTIES},
        }
        if any(size[key] != total for key, total in totals.items()):
            raise CertificateError(f"the totals for {size['objects']} objects are not those of its instances")
        if size["instances"] < sum(1 + len(entry["starts"]) for entry in mine):
            raise CertificateError(f"there are more initial states with {size['objects']} objects")


def coverage(certificate: dict[str, Any]) -> str:
    """Which states were checked, in a few sentences: what `covered` must say."""
    scope, complete = certificate["scope"], certificate["complete"]
    last = certificate["sizes"][-1]["objects"]
    if "class" in scope:
        which = (
            f"every instance that the generator {scope['generator']} can make with at most "
            f"{scope['max_objects'] if complete else last} objects and the parameters of {scope['class']}, "
            "up to isomorphism"
        )
    else:
        which = f"{len(scope['instances'])} given instances"
        if not complete:
            which += f", only those with at most {last} objects"
    sentences = [f"All states that can be reached in {which}."]
    if certificate["symmetry"]:
        sentences.append("Isomorphic states (same facts and goal) were evaluated once.")
    if certificate["aside"]:
        sentences.append(
            f"Atoms of {', '.join(certificate['aside'])} that the goal does not name were set aside: no "
            "action looks at them, and the value function asks for them only together with the goal."
        )
    return " ".join(sentences)


def check_aside(certificate: dict[str, Any], domain: Domain) -> None:
    """Check that neither V* nor V depends on the atoms that were set aside."""
    if len(set(certificate["aside"])) < len(certificate["aside"]):
        raise CertificateError("aside names a predicate twice")
    for name in certificate["aside"]:
        if name not in fluent_predicates(domain):
            raise CertificateError("aside names a predicate that no action changes")
        if name in condition_predicates(domain) or not occurs_only_with_goal(certificate["nodes"], name):
            raise CertificateError(f"atoms of {name} matter, but were set aside")


def not_checked(certificate: dict[str, Any], rechecked: int, merged: bool) -> dict[str, str]:
    """The entries that the checker cannot derive, each with what remains to be believed.

    Parameters
    ----------
    rechecked : the number of rechecked instances.
    merged : whether some of their states are isomorphic.
    """
    entries = certificate["instances"]
    found = {
        "version": "the version that wrote the certificate",
        "source": "where the value function comes from",
        "scope": "that the instances listed are all that the scope asks for",
        "complete": "that no instance of the scope was left out",
        "sizes.instances": "the number of initial states; only those needed to reach all states are listed",
    }
    if any("digest" in entry for entry in entries):
        found["instances.digest"] = "a number that only the code that wrote it can compute"
    if certificate["goal_marking"] and not any(
        row[0] in ("atom", "role") and row[1].endswith((",T", ",F")) for row in certificate["nodes"]
    ):
        found["goal_marking"] = "the value function does not depend on it"
    if not merged:
        found["symmetry"] = "no two states were merged, so the counts do not depend on it"
    if certificate["counterexample"] and certificate["aside"]:
        names = ", ".join(certificate["aside"])
        found["counterexample.state"] = f"whether these atoms of {names}, which do not matter, can occur"
    if rechecked < len(entries):
        left = f"{len(entries) - rechecked} of {len(entries)} instances were not rechecked"
        found |= dict.fromkeys(("holds", "instances", "sizes"), left)
        if certificate["counterexample"]:
            found["counterexample"] = "that no smaller state is wrong: " + left
    return found
