"""An independent checker of certificates: it imports neither the rest of this project nor other packages.

`distill verify` writes a certificate. The checker repeats the verification with simple, slow algorithms. It
parses the PDDL, generates all states by trying every action, computes V* by breadth-first search, and
evaluates the value function on sets of atoms. Every entry is derived again or listed as not checked. The
folder can be copied and run by itself: `python -m checker certificate.json.gz`.
"""

from .certificates import recheck
from .errors import CannotCheckError, CertificateError

__all__ = ["CannotCheckError", "CertificateError", "recheck"]
