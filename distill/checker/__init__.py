"""An independent checker of certificates: nothing of the rest of this project is used, nor any other package.

`distill verify` writes a certificate; this folder alone rechecks it, plainly and slowly: it reads the PDDL,
finds all states by trying every action, V* by breadth-first search, and evaluates the value function on sets
of atoms. The folder can be copied and run by itself: `python -m checker certificate.json.gz`.
"""

from .certificates import Rejected, recheck

__all__ = ["Rejected", "recheck"]
