"""The command line of the checker."""

import argparse
import json
import sys
from pathlib import Path

from . import CannotCheckError, CertificateError, __doc__, recheck


def main() -> int:
    """Recheck the certificate that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", metavar="certificate", type=Path)
    parser.add_argument("--max-objects", type=int, help="only instances with at most this many objects")
    parser.add_argument("--sample", type=int, help="only a random sample of this many instances")
    parser.add_argument("--seed", type=int, default=0, help="random seed of the sample")
    parser.add_argument("--max-states", type=int, default=200_000, help="greatest number of states")
    options = parser.parse_args()
    try:
        summary = recheck(**vars(options))
    except CannotCheckError as error:
        print(f"cannot be rechecked: {error}", file=sys.stderr)
        return 2
    except CertificateError as error:
        print(f"rejected: {error}")
        return 1
    print(json.dumps(summary, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
