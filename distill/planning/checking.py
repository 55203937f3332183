"""Whether PDDL files can be read, found out in a process of its own: `python -m distill.planning.checking`.

A parser of files from others may take forever, fill the memory or crash; whoever serves people lets another
process try first.
"""

import json
import sys
from pathlib import Path

from distill.errors import InputError
from distill.planning.pddl import Domain, Instance, instance_files


def check(domain_file: Path, folder: Path) -> dict[str, object]:
    """Read a domain and a folder of its instances, and tell what they are about.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp())
    >>> text = "(define (domain d) (:predicates (p ?x)) (:action a :parameters (?x) :effect (p ?x)))"
    >>> _ = (place / "d.pddl").write_text(text)
    >>> (place / "all").mkdir()
    >>> text = "(define (problem e) (:domain d) (:objects a b) (:init (p a)) (:goal (p b)))"
    >>> _ = (place / "all" / "one.pddl").write_text(text)
    >>> check(place / "d.pddl", place / "all")
    {'domain': 'd', 'predicates': ['p'], 'objects': [2]}
    """
    domain = Domain.read(domain_file)
    instances = [Instance.read(domain, file) for file in instance_files(folder)]
    facts = [one.name for one in domain.vocabulary() if one.role in ("state", "nullary")]
    return {
        "domain": domain.pymimir.get_name(),
        "predicates": facts,
        "objects": [len(instance.objects) for instance in instances],
    }


def main() -> None:
    """Check the files that the command line names; what is wrong is told in a sentence, with exit code 2."""
    try:
        print(json.dumps(check(Path(sys.argv[1]), Path(sys.argv[2]))))
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
