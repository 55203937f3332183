"""Check PDDL files in a separate process: `python -m distill.planning.pddl_check DOMAIN FOLDER`.

On files from others the parser may not terminate, use all memory or crash. A server is not affected if
another process parses the files first.
"""

import json
import sys
from pathlib import Path

from distill.common import InputError
from distill.planning.pddl import Domain, Instance, instance_files


def check(domain_file: Path, folder: Path) -> dict[str, object]:
    """Read a domain and a folder of its instances, and summarise them.

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
    """Check the files on the command line; print an error in one sentence and exit with code 2."""
    try:
        print(json.dumps(check(Path(sys.argv[1]), Path(sys.argv[2]))))
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
