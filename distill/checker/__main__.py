"""The command line of the checker."""

import argparse
import json
import sys
from pathlib import Path

from . import Rejected, __doc__, recheck


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("certificate", type=Path)
    parser.add_argument("--max-objects", type=int, help="only instances with at most so many objects")
    parser.add_argument("--sample", type=int, help="only so many instances, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    given = parser.parse_args()
    try:
        found = recheck(
            given.certificate, max_objects=given.max_objects, sample=given.sample, seed=given.seed
        )
    except Rejected as error:
        print(f"rejected: {error}")
        return 1
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
