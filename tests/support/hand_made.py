"""The value functions of the thesis in plain Python, on sets of atoms."""

from collections.abc import Callable, Iterator

from distill.structures import DataSet

Relations = dict[str, set[tuple[int, ...]]]


def states(data: DataSet) -> Iterator[tuple[Relations, int]]:
    batch = data.structures()
    names = [predicate.name for predicate in batch.vocabulary]
    found: list[Relations] = [{name: set() for name in names} for _ in range(len(batch))]
    for name in names:
        nullary = batch.vocabulary[name].arity == 0
        rows = zip(batch.states_of_atoms(name).tolist(), batch.atoms(name).tolist(), strict=True)
        for state, atom in rows:
            found[state][name].add(() if nullary else tuple(atom))
    return zip(found, data.v_star.tolist(), strict=True)


def gripper(s: Relations) -> int:
    [(ball, room)] = s["at_G"]
    carried = any(b == ball for b, _ in s["carry"])
    here = {r for b, r in s["at"] if b == ball}
    alpha = (ball, room) not in s["at"]  # 5.2
    e = not s["free"] and not carried  # 5.3
    o = any((r,) not in s["at-robby"] for r in here)  # 5.4
    p = any((r,) in s["at-robby"] for r in here)  # 5.5
    d = (room,) not in s["at-robby"] and carried  # 5.6
    f = (room,) in s["at-robby"] and carried  # 5.7
    return (alpha and e) + 4 * (alpha and o) + 3 * (alpha and p) + 2 * d + f  # 5.1


def miconic(s: Relations) -> int:
    [(person,)] = s["served_G"]
    alpha = (person,) not in s["served"]  # 5.17
    b = (person,) in s["boarded"]  # 5.18
    d = any((f,) in s["lift-at"] for p, f in s["destin"] if p == person)  # 5.19
    o = any((f,) in s["lift-at"] for p, f in s["origin"] if p == person)  # 5.20
    waiting = alpha and not b
    return 4 * (waiting and not o) + 3 * (waiting and o) + (alpha and b) + (alpha and b and not d)  # 5.16


def blocks_above(s: Relations, block: int) -> int | None:
    """The k for which η_k holds of a block (4.7); None if it is held."""
    upper = {below: above for above, below in s["on"]}
    count = 0
    while block in upper:
        block, count = upper[block], count + 1
    return count if (block,) in s["clear"] else None


def blocks_clear(s: Relations) -> int:
    [(block,)] = s["clear_G"]
    alpha = (block,) not in s["clear"]
    k = blocks_above(s, block)
    return (alpha and bool(s["holding"])) + (2 * k - 1 if k else 0)  # 2.3


def is_above(s: Relations, upper: int, lower: int) -> bool:
    below = dict(s["on"])
    while upper in below:
        upper = below[upper]
        if upper == lower:
            return True
    return False


def blocks_on(s: Relations) -> int:
    [(x, y)] = s["on_G"]
    alpha = (x, y) not in s["on"]  # 5.31
    low = (y,) not in s["clear"] or (x,) not in s["holding"]  # L, 5.32
    sum_x = 0 if is_above(s, x, y) else blocks_above(s, x) or 0  # Σ k·X_k, 5.33
    sum_y = 0 if is_above(s, y, x) else blocks_above(s, y) or 0  # Σ k·Y_k, 5.36
    return (alpha and bool(s["holding"])) + 2 * (alpha and low) + 2 * (sum_x + sum_y)  # 5.30


def blocks_on_corrected(s: Relations) -> int:
    """5.30 with α on the sums too; see `test_equation_5_30_is_off_at_the_goal`."""
    return 0 if s["on_G"] <= s["on"] else blocks_on(s)


def visitall(s: Relations) -> int:
    [(goal,)] = s["visited_G"]
    [(robot,)] = s["at-robot"]
    if (goal,) in s["visited"]:  # not α, 5.50
        return 0
    reached, k = {goal}, 0
    while robot not in reached:  # R_k, 5.52 and 5.53, for any k: the errata
        reached, k = reached | {x for x, y in s["connected"] if y in reached}, k + 1
    return k  # 5.49


FUNCTIONS: dict[str, Callable[[Relations], int]] = {
    "gripper": gripper,
    "miconic": miconic,
    "blocks-clear": blocks_clear,
    "blocks-on": blocks_on_corrected,
    "visitall": visitall,
}
