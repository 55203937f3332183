"""What symmetry saves in exhaustive verification: seconds with isomorphic states once over seconds without.

The value functions are the hand-made ones below, so that no run is needed; both sides check the same states.
"""

import time

from comparing import Row, report

from distill.logic import parse
from distill.planning import problem_class
from distill.verification import Verification, Verifier

FUNCTIONS = {
    ("gripper", 10): "#<at^-1><at_G>at-robby + 2*#<at^-1><at_G>room + #(~at-robby & <at^-1><at_G>room)"
    " - 5*#<at & at_G>room - #<at_G & ~at>at-robby - [#free > 0]*#(<at^-1><at_G>room & ~<at_G^-1>ball) + 2",
    ("blocks-clear", 7): "2*#<on+>clear_G - #<on>clear_G + #holding * #(clear_G & ~clear)",
    ("blocks-on", 7): "-3*#<on & on_G>top - 2*#(clear & <on_G^-1>holding) - #<on_G & ~on>handempty + 3"
    " + 2*#<on_G & ~on>top * #<on+>(<on_G>top | <on_G^-1>top)",
    ("miconic", 6): "-2*#(served & served_G) - #(served_G & (boarded | served)) + 3"
    " - #(lift-at & <destin^-1>(boarded & served_G & ~served))"
    " + #(~lift-at & <origin^-1>(served_G & ~boarded & ~served))",
    ("visitall", 9): "dist(visited_G & ~visited, connected, at-robot)",
}


def timed(name: str, most: int, formula: str, symmetry: bool) -> tuple[float, Verification]:
    """Seconds of the processor, and what was found."""
    verifier = Verifier(parse(formula), symmetry=symmetry, workers=1)
    begun = time.process_time()
    done = verifier.problem(problem_class(name), most)
    assert done.holds
    return time.process_time() - begun, done


def main() -> None:
    """Both ways, one class after the other."""
    rows = []
    # What is loaded when it is first used belongs to neither side.
    timed("blocks-clear", 3, FUNCTIONS["blocks-clear", 7], symmetry=True)
    for (name, most), formula in FUNCTIONS.items():
        ours, reduced = timed(name, most, formula, symmetry=True)
        plain, whole = timed(name, most, formula, symmetry=False)
        counts = f"{reduced.total('classes')} of {whole.total('classes')} states evaluated"
        rows.append(Row(f"{name}, up to {most} objects: {counts}", ours, plain))
    report("Verification with symmetry over without", rows)


if __name__ == "__main__":
    main()
