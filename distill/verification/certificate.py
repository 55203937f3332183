"""Certificates: files that record what was verified, so that others can recheck it.

`distill.checker` rechecks a certificate without this code; docs/verification.md explains its entries.
"""

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from distill import __version__
from distill.common import atomic_write
from distill.logic import to_json
from distill.verification.exhaustive import SizeCoverage, Verification
from distill.verification.properties import PROPERTIES, Record, Violation

KIND = "certificate of a value function"
_FASTEST = 1  # level of compression: certificates repeat themselves, so it hardly matters


def certificate_of(done: Verification, source: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a certificate.

    Parameters
    ----------
    source : where the value function comes from, such as a run and the checksum of its model.

    Examples
    --------
    >>> from distill.verification.exhaustive import Verifier
    >>> from distill.logic import parse
    >>> from distill.planning import problem_class
    >>> value = parse("2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)")
    >>> made = certificate_of(Verifier(value).problem(problem_class("blocks-clear"), 3), {})
    >>> made["holds"], [entry["classes"] for entry in made["instances"]]
    (True, [2, 5, 12])
    """
    entries = []
    for size in done.sizes:
        entries += [_entry(done, record, f"p{size.objects}-{n}") for n, record in enumerate(size.records, 1)]
    whole = {
        "kind": KIND,
        "version": __version__,
        "source": dict(source),
        "value": str(done.checker.value),
        "nodes": to_json(done.checker.value),
        "goal_marking": done.checker.goal_marking,
        "domain": done.checker.families.domain.text,
        "scope": dict(done.scope),
        "covered": coverage(done),
        "properties": PROPERTIES,
        "aside": list(done.checker.irrelevant_predicates),
        "symmetry": done.checker.symmetry,
        "holds": done.holds,
        "complete": done.complete,
        "sizes": [size_of(size) for size in done.sizes],
        "counterexample": wrong_state(done, done.counterexample) if done.counterexample else None,
        "instances": entries,
    }
    return {**whole, "checksum": hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()}


def write_certificate(certificate: Mapping[str, Any], path: Path) -> None:
    """Write a certificate as JSON, compressed if its name ends in `.gz`."""
    text = json.dumps(certificate, indent=1).encode()
    with atomic_write(path) as stream:
        # No time of writing, so that the same certificate gives the same file.
        stream.write(gzip.compress(text, _FASTEST, mtime=0) if path.suffix == ".gz" else text)


def coverage(done: Verification) -> str:
    """Which states were checked, in a few sentences."""
    if "class" in done.scope:
        which = (
            f"every instance that the generator {done.scope['generator']} can make with at most "
            f"{done.sizes[-1].objects if not done.complete else done.scope['max_objects']} objects and the "
            f"parameters of {done.scope['class']}, up to isomorphism"
        )
    else:
        which = f"{len(done.scope['instances'])} given instances"
        if not done.complete:
            which += f", only those with at most {done.sizes[-1].objects} objects"
    sentences = [f"All states that can be reached in {which}."]
    if done.checker.symmetry:
        sentences.append("Isomorphic states (same facts and goal) were evaluated once.")
    if done.checker.irrelevant_predicates:
        names = ", ".join(done.checker.irrelevant_predicates)
        sentences.append(
            f"Atoms of {names} that the goal does not name were set aside: no action looks at them, and the "
            "value function asks for them only together with the goal."
        )
    return " ".join(sentences)


def size_of(size: SizeCoverage) -> dict[str, Any]:
    """The totals of all instances with one number of objects."""
    return {
        "objects": size.objects,
        "scenes": len(size.records),
        "instances": size.instances,
        **{name: size.total(name) for name in ("classes", "states", "steps", "dead_ends")},
        "max_v_star": size.max_v_star,
        "wrong": size.wrong,
    }


def wrong_state(done: Verification, wrong: Violation) -> dict[str, Any]:
    """A state in which a value function is wrong, as plain data."""
    families = done.checker.families
    return {
        "objects": len(wrong.family.objects),
        "v_star": wrong.v_star,
        "value": wrong.value,
        "broken": list(wrong.broken),
        "state": families.atom_names(wrong.state, wrong.family),
        "pddl": families.to_pddl(wrong.family, wrong.state, "counterexample"),
    }


def _entry(done: Verification, record: Record, name: str) -> dict[str, Any]:
    families, (first, *others) = done.checker.families, record.family.starts
    return {
        "pddl": families.to_pddl(record.family, first, name),
        "starts": [families.atom_names(start, record.family) for start in others],
        "objects": len(record.family.objects),
        "classes": record.classes,
        "states": record.states,
        "dead_ends": record.dead_ends,
        "max_v_star": record.max_v_star,
        "wrong": record.wrong,
        "profile": record.profile,
    }
