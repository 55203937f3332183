"""Problem classes: a domain, a generator and the sizes of each split, declared in YAML."""

import inspect
import random
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from distill.common import InputError, check_memory, range_text, read_text, read_yaml, shown
from distill.planning.generators import GENERATORS
from distill.planning.pddl import Domain, Instance
from distill.planning.settings import Labelling
from distill.planning.splits import SPLITS, Split

_HOME = Path(__file__).parent
_REQUIRED = {"name", "title", "goal", "domain", "generator", "splits"}
_OPTIONAL = {"parameters", "labelling", "source", "beyond"}
_SPLIT_KEYS = {"objects", "instances", "parameters", "labelling", "measured", "also"}
_TRIES = 20
_MOST_OBJECTS = 5_000
_MOST_INSTANCES = 100_000
_BYTES_OF_OBJECT = 500  # of an instance at least: its name, an atom, both as text and parsed
BEYOND = "beyond"


@dataclass(frozen=True)
class ProblemClass:
    """A generalised planning problem.

    Attributes
    ----------
    name, title, goal : texts for people; `goal` describes the goal of the instances.
    domain_file : the PDDL domain.
    generator : name of the generator (see `distill.planning.generators`).
    splits : for each split the range of object counts, the number of instances, the parameters and
        labelling settings (those of the split override those of the class), the counts of the last run of
        `distill data` (`measured`), and PDDL files of further instances (`also`).
    beyond : the same for instances far larger than any split. No search can label them; the hand-made value
        function `labels` does. It is no split: nothing is trained or selected on it.
    """

    name: str
    title: str
    goal: str
    domain_file: Path
    generator: str
    splits: Mapping[str, Mapping[str, Any]]
    beyond: Mapping[str, Any] | None = None

    @cached_property
    def domain(self) -> Domain:
        """The domain of all instances."""
        return Domain.read(self.domain_file)

    def labelling(self, split: str) -> Labelling:
        """How the states of a split are labelled."""
        return Labelling.from_mapping(self.declared(split)["labelling"], f"{self.name}, {split}")

    def split(self, name: str) -> Split:
        """The instances of a split, or those `beyond` all splits, with their labelling settings."""
        return Split(name, self.make(name), self.labelling(name), {"class": self.name})

    def make(self, split: str) -> list[Instance]:
        """Generate the instances of a split, or those `beyond`. The number of an instance is its seed.

        An instance that repeats an earlier one is drawn again a few times and then left out, so very small
        sizes may have fewer instances than declared.

        Examples
        --------
        >>> [len(i.objects) for i in problem_class("visitall").make("validation")][:2]
        [64, 64]
        """
        spec = self.declared(split)
        low, high = spec["objects"]
        build = GENERATORS[self.generator]
        made: dict[str, Instance] = {}
        for number in range(spec["instances"]):
            objects = low + _size_step(number, spec["instances"], high - low + 1)
            name = f"{self.name}-{split}-{number + 1:03d}"
            for attempt in range(_TRIES):
                rng = random.Random(f"{self.name} {split} {number} {attempt}")
                try:
                    layout = build(rng, objects, **spec["parameters"])
                except (IndexError, TypeError, ValueError) as error:
                    raise InputError(
                        f"{self.name}, {split}: the generator {self.generator} makes no instance with "
                        f"{objects} objects and these parameters; change objects or parameters."
                    ) from error
                # Objects and atoms, without the name, identify an instance.
                key = layout.to_pddl("", "")
                if key not in made:
                    text = layout.to_pddl(name, self.domain.pymimir.get_name())
                    parameters = {"generator": self.generator, "objects": objects, **spec["parameters"]}
                    made[key] = Instance(self.domain, text, name, parameters, generated=True)
                    break
        return [*made.values(), *(Instance.read(self.domain, Path(file)) for file in spec["also"])]

    def declared(self, split: str) -> Mapping[str, Any]:
        """The declaration of a split, or of the instances `beyond` all splits."""
        if split == BEYOND and self.beyond is None:
            raise InputError(
                f"{self.name} declares no instances beyond its splits; choose another class, or add `beyond` "
                "to its YAML file."
            )
        known = {**self.splits, BEYOND: self.beyond or {}}
        if split not in known:
            raise InputError(f"{self.name} has no split {split!r}; choose from {', '.join(self.splits)}.")
        return known[split]


def problem_classes() -> list[str]:
    """Names of the problem classes that come with the package.

    Examples
    --------
    >>> problem_classes()
    ['blocks', 'blocks-clear', 'blocks-on', 'gripper', 'logistics', 'miconic', 'visitall']
    """
    return sorted(path.stem for path in (_HOME / "classes").glob("*.yaml"))


def thesis_classes() -> list[str]:
    """Names of the classes whose states are drawn as those of the thesis (5.1.7, Table 5.1).

    Examples
    --------
    >>> thesis_classes()
    ['blocks-clear-walks', 'blocks-on-walks', 'gripper-walks', 'miconic-walks', 'visitall-walks']
    """
    return sorted(path.stem for path in (_HOME / "classes" / "thesis").glob("*.yaml"))


def problem_class(name: str) -> ProblemClass:
    """A problem class by its name, or from a `.yaml` file."""
    if name.endswith((".yaml", ".yml")):
        return _read(Path(name), Path(name).parent)
    if name in thesis_classes():
        return _read(_HOME / "classes" / "thesis" / f"{name}.yaml", _HOME / "domains")
    if name not in problem_classes():
        raise InputError(
            f"There is no problem class {name!r}; choose from {', '.join(problem_classes())}, give a YAML "
            "file, or use --domain and --instances for PDDL files of your own."
        )
    return _read(_HOME / "classes" / f"{name}.yaml", _HOME / "domains")


def _read(path: Path, domains: Path) -> ProblemClass:
    spec, _ = read_yaml(read_text(path), lambda line: f"{shown(path)}, line {line}")
    if not isinstance(spec, dict):
        raise InputError(f"{path} must be a mapping with the keys {', '.join(sorted(_REQUIRED))}.")
    _check_keys(path, "", spec, _REQUIRED, _OPTIONAL)
    if spec["generator"] not in GENERATORS:
        raise InputError(
            f"{path}: there is no generator {spec['generator']!r}; "
            f"choose from {', '.join(sorted(GENERATORS))}."
        )
    for split in spec["splits"]:
        if split not in SPLITS:
            raise InputError(f"{path}: there is no split {split!r}; choose from {', '.join(SPLITS)}.")
    splits = {split: _completed(path, spec, split, own) for split, own in spec["splits"].items()}
    beyond = _completed(path, spec, BEYOND, spec[BEYOND], {"labels"}) if BEYOND in spec else None
    _check_disjoint(path, {**splits, **({BEYOND: beyond} if beyond else {})})
    return ProblemClass(
        spec["name"], spec["title"], spec["goal"], domains / spec["domain"], spec["generator"], splits, beyond
    )


def _completed(
    path: Path, spec: Mapping[str, Any], split: str, own: Any, also: Collection[str] = ()
) -> Mapping[str, Any]:
    """The declaration of a split, with the parameters and labelling settings of the whole class."""
    _check_keys(path, f"{split}: ", own, {"objects", "instances", *also}, _SPLIT_KEYS)
    parameters = {**spec.get("parameters", {}), **own.get("parameters", {})}
    _check_parameters(path, spec["generator"], parameters)
    _check_sizes(path, split, own)
    labelling = {**spec.get("labelling", {}), **own.get("labelling", {})}
    files = [str(path.parent / file) for file in own.get("also", [])]
    complete = {"parameters": parameters, "labelling": labelling, "measured": own.get("measured", {})}
    return {**own, **complete, "also": files}


def _check_keys(path: Path, where: str, given: Any, required: set[str], optional: set[str]) -> None:
    keys = set(given) if isinstance(given, dict) else set()
    for problem, names in (("lacks", required - keys), ("has the unknown key", keys - required - optional)):
        if names:
            raise InputError(f"{path}: {where}{problem} {', '.join(sorted(map(str, names)))}; see the docs.")


def _check_parameters(path: Path, generator: str, parameters: Mapping[str, Any]) -> None:
    for name, value in parameters.items():
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, int | float) and not 0 <= number <= _MOST_OBJECTS:
                raise InputError(f"{path}: the parameter {name} {range_text(0.0, _MOST_OBJECTS, number)}")
    signature = inspect.signature(GENERATORS[generator])
    try:
        signature.bind(None, None, **parameters)
    except TypeError as error:
        known = list(signature.parameters)[2:]
        raise InputError(
            f"{path}: the generator {generator} takes the parameters {', '.join(known) or 'none'}: {error}."
        ) from error


def _check_sizes(path: Path, split: str, own: Mapping[str, Any]) -> None:
    """Check the number of instances and of their objects, and that they fit in memory together."""
    sizes, instances = own["objects"], own["instances"]
    if type(instances) is not int or not 0 <= instances <= _MOST_INSTANCES:
        fault = range_text(0, _MOST_INSTANCES, instances)
        raise InputError(f"{path}: {split}: instances {fault}")
    for size in sizes if isinstance(sizes, list) else ():
        if type(size) is not int or not 1 <= size <= _MOST_OBJECTS:
            raise InputError(f"{path}: {split}: a number of objects {range_text(1, _MOST_OBJECTS, size)}")
    if isinstance(sizes, list) and len(sizes) == 2:
        objects = instances * sum(sizes) // 2
        subject = f"{path}: {split}: {instances} instances with {objects} objects in total"
        check_memory(objects * _BYTES_OF_OBJECT, subject, "declare fewer or smaller instances")


def _size_step(number: int, instances: int, sizes: int) -> int:
    """The size of an instance, of `sizes` many: in turn if there are enough instances, else evenly spread.

    Examples
    --------
    >>> [_size_step(i, 5, 3) for i in range(5)], [_size_step(i, 3, 9) for i in range(3)]
    ([0, 1, 2, 0, 1], [0, 4, 8])
    """
    if instances >= sizes:
        return number % sizes
    return round(number * (sizes - 1) / max(1, instances - 1))


def _check_disjoint(path: Path, splits: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that sizes increase without overlap: train, validation, test, beyond."""
    previous = 0
    for split in (name for name in (*SPLITS, BEYOND) if name in splits):
        bounds = splits[split]["objects"]
        if not (isinstance(bounds, list) and len(bounds) == 2 and previous < bounds[0] <= bounds[1]):
            raise InputError(
                f"{path}: {split}: objects must be [smallest, largest], above those of the split before it."
            )
        previous = bounds[1]
