"""`distill problems`: what problem classes there are."""

from distill.cli.output import Json, print_json, print_table


def problems(as_json: Json = False) -> None:
    """List the problem classes that come with the workbench.

    For each split: the number of objects, of labelled states and the largest V* that `distill data CLASS`
    gives. Add a class of your own with a YAML file: see docs/problem-classes.md.
    """
    from distill.planning import SPLITS, problem_class, problem_classes

    classes = [problem_class(name) for name in problem_classes()]
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
            low, high = spec["objects"]
            first = split == "train"
            rows.append(
                [
                    one.name if first else "",
                    one.goal if first else "",
                    split,
                    f"{low}-{high}" if low < high else f"{low}",
                    spec["instances"],
                    spec["measured"].get("states", "–"),
                    spec["measured"].get("max_v_star", "–"),
                ]
            )
    print_table(
        "Problem classes",
        ["class", "goal", "split", "objects", "instances", "states", "max V*"],
        rows,
        "Label the states of one with: distill data CLASS",
    )
