"""`distill conflicts`: states that colourings, and thus networks, cannot distinguish."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distill.cli import options
from distill.cli.conflicts_output import (
    print_suite_csv,
    print_suite_json,
    print_suite_latex,
    show_problem,
    show_random_networks,
    show_suite,
)
from distill.cli.output import Json, errors, print_json, print_text, progress_bar, stage_bar
from distill.common import InputError, check_format

if TYPE_CHECKING:
    from distill.structures import DataSet

_MOST_NETWORKS, _MOST_LAYERS = 100, 1000
_SUITE = "A folder of domains"


def conflicts(
    problem: options.Problem = None,
    domain: options.DomainFile = None,
    instances: options.Instances = None,
    states: options.States = None,
    split: options.SplitName = None,
    suite: Annotated[
        Path | None,
        typer.Option(
            help="Analyse every domain folder below this folder (one with a domain.pddl), and print Tables 1 "
            "and 2 of the paper with its figures.",
            rich_help_panel=_SUITE,
        ),
    ] = None,
    only: Annotated[
        str,
        typer.Option(
            help="Only domain folders whose path in the suite matches this pattern, such as '*/table1'.",
            rich_help_panel=_SUITE,
        ),
    ] = "*",
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the tables as CSV.", rich_help_panel=_SUITE)
    ] = False,
    as_latex: Annotated[
        bool, typer.Option("--latex", help="Print the tables as LaTeX.", rich_help_panel=_SUITE)
    ] = False,
    random_networks: Annotated[
        int,
        options.count_option(
            "Also count the pairs that so many untrained networks do not distinguish.",
            least=0,
            most=_MOST_NETWORKS,
        ),
    ] = 0,
    layers: Annotated[int, options.count_option("The layers of these networks.", most=_MOST_LAYERS)] = 5,
    figure: Annotated[Path | None, options.figure_option("a pair of states as an example")] = None,
    max_states: options.MaxStates = None,
    workers: options.Workers = None,
    as_json: Json = False,
) -> None:
    """Count isomorphism classes and the pairs of classes that 1-WL and 2-FWL do not distinguish.

    An E-conflict is a pair of non-isomorphic states of one instance with the same colours. A V-conflict is an
    E-conflict with different V\\*, so that no network of that expressivity represents V\\*. Both are counted
    on classes, as in Table 1 of Drexler et al. 2024. +G marks goals as achieved or missing.

    Examples: `distill conflicts logistics --random-networks 3`,
    `distill conflicts --suite benchmarks --only '*/table1' --csv`.
    """
    if as_json + as_csv + as_latex > 1:
        raise InputError("Choose one of --json, --csv and --latex.")
    if suite is not None:
        if any((problem, domain, instances, states, split, figure)):
            raise InputError(
                "--suite analyses whole folders; give no problem, files, split or figure with it."
            )
        _analyse_suite(
            suite, only, max_states, workers, (random_networks, layers), (as_json, as_csv, as_latex)
        )
        return
    if as_csv or as_latex:
        raise InputError("--csv and --latex print the tables of --suite FOLDER; give one, or take --json.")
    from distill.structures import join

    check_format(figure)
    splits = options.chosen_splits(problem, domain, instances, split, max_states=max_states, states=states)
    data = join(options.labelled_states(splits, "none", workers).values())
    _analyse(problem or str(domain), data, random_networks, layers, figure, as_json)


def _analyse(
    title: str, data: "DataSet", networks: int, layers: int, figure: Path | None, as_json: bool
) -> None:
    """Analyse labelled states, print the counts and examples, and draw an example."""
    from distill.symmetry import Expressivity, examples

    with progress_bar("Classifying states") as progress:
        expressivity = Expressivity.of(data, progress)
    found = examples(expressivity)
    compared = {}
    if networks:
        from distill.networks import compare_random_networks

        with progress_bar("Random networks") as progress:
            summary = compare_random_networks(expressivity, networks, layers, progress=progress).summary()
        compared = {"random_networks": summary}
    if as_json:
        print_json({**expressivity.summary(), **compared, "examples": [one.to_json() for one in found]})
    else:
        show_problem(title, expressivity, found)
        if compared:
            show_random_networks({title: compared["random_networks"]})
    if figure is not None:
        if found:
            from distill.planning import draw_states

            draw_states(data, found[-1].states, figure)
        else:
            print_text("There is no conflict to draw.")


def _analyse_suite(
    suite: Path,
    only: str,
    max_states: int | None,
    workers: int | None,
    networks: tuple[int, int],
    form: tuple[bool, bool, bool],
) -> None:
    """Analyse a folder of domains and print the tables; exit with code 1 if a domain cannot be analysed.

    Parameters
    ----------
    networks : the number of untrained networks, and of their layers.
    form : whether to print JSON, CSV or LaTeX.
    """
    from distill.evaluation import SuiteSettings, analyse_suite

    limit = {} if max_states is None else {"max_states": max_states}
    settings = SuiteSettings(**limit, networks=networks[0], layers=networks[1])
    processes = options.worker_count(workers)
    domains = []
    with stage_bar() as progress:
        for one in analyse_suite(suite, settings, pattern=only, workers=processes, progress=progress):
            domains.append(one)
            if one.fault:
                errors().print("[bold red]Failed:[/] ", end="")
                print_text(f"{one.name}: {one.fault}", errors())
    as_json, as_csv, as_latex = form
    if as_json:
        print_suite_json(domains)
    elif as_csv:
        print_suite_csv(domains)
    elif as_latex:
        print_suite_latex(domains)
    else:
        show_suite(domains)
    _report_memory()
    if any(one.fault for one in domains):
        raise typer.Exit(1)


def _report_memory() -> None:
    """Print the memory of the largest process so far, where its unit is known."""
    if sys.platform == "linux":
        import resource

        own, labelling = (
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        print_text(f"The largest process took {max(own, labelling) / 2**20:.2f} GiB of memory.", errors())
