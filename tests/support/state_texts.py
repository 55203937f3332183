"""A writer of labelled states in the text format of the thesis's data."""

from distill.structures import DataSet


def state_text(data: DataSet) -> str:
    """The states of a set with one instance; predicates and objects are numbered as in the set."""
    [instance] = data.instances
    vocabulary = list(data.vocabulary)
    plain = [one for one in vocabulary if one.role in ("state", "nullary")]
    place = {one.name: number for number, one in enumerate(plain)}
    goals = {number: place[one.base] for number, one in enumerate(vocabulary) if one.role == "goal"}

    def line(atom: int) -> str:
        predicate = int(data.atom_predicate[atom])
        name = vocabulary[predicate].name
        number = goals[predicate] if predicate in goals else place[name]
        objects = data.atom_arguments[atom, : vocabulary[predicate].arity].tolist()
        return " ".join(map(str, [number, *objects]))

    fixed = range(int(data.n_fixed[0]))
    kinds = {atom: vocabulary[int(data.atom_predicate[atom])].role for atom in fixed}
    lines = ["BEGIN_OBJECTS", *(f"{i} {name}" for i, name in enumerate(instance["objects"])), "END_OBJECTS"]
    lines += ["BEGIN_PREDICATES", *(f"{i} {one.name}" for i, one in enumerate(plain)), "END_PREDICATES"]
    facts = [line(atom) for atom in fixed if kinds[atom] == "state"]
    lines += ["BEGIN_FACT_LIST", *facts, "END_FACT_LIST"]
    lines += ["BEGIN_GOAL_LIST", *(line(atom) for atom in fixed if kinds[atom] == "goal"), "END_GOAL_LIST"]
    lines.append("BEGIN_STATE_LIST")
    for state, label in enumerate(data.v_star.tolist()):
        atoms = data.state_atoms[data.state_offsets[state] : data.state_offsets[state + 1]]
        lines += ["BEGIN_LABELED_STATE", str(label), "BEGIN_STATE", *map(line, atoms.tolist()), "END_STATE"]
        lines.append("END_LABELED_STATE")
    return "\n".join([*lines, "END_STATE_LIST"]) + "\n"
