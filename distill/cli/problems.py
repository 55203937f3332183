"""`distill problems`: the problem classes."""

from distill.cli.output import Json, interval, print_json, print_table


def problems(as_json: Json = False) -> None:
    """List the problem classes.

    For each split, the table has the number of objects, of instances and of labelled states, and the largest
    V*, as in `distill data CLASS`. A YAML file declares a new class: see docs/problem-classes.md.
    """
    from distill.planning import SPLITS, problem_class, problem_classes, thesis_classes

    classes = [problem_class(name) for name in (*problem_classes(), *thesis_classes())]
    if as_json:
        print_json(
            {
                one.name: {
                    "title": one.title,
                    "goal": one.goal,
                    "domain": one.domain_file.name,
                    "splits": {
                        split: {
                            "objects": spec["objects"],
                            "instances": spec["instances"],
                            **spec["measured"],
                        }
                        for split, spec in one.splits.items()
                    },
                }
                for one in classes
            }
        )
        return
    rows = []
    for one in classes:
        for split in (name for name in SPLITS if name in one.splits):
            spec = one.splits[split]
            first = split == "train"
            rows.append(
                [
                    one.name if first else "",
                    one.goal if first else "",
                    split,
                    interval(*spec["objects"]),
                    spec["instances"],
                    spec["measured"].get("states", "–"),
                    spec["measured"].get("max_v_star", "–"),
                ]
            )
    print_table(
        "Problem classes",
        ["class", "goal", "split", "objects", "instances", "states", "max V*"],
        rows,
        "`distill data CLASS` labels the states of a class",
    )
