"""`distill config`: write, check and describe configs and sweeps."""

from pathlib import Path
from typing import Annotated, Any

import typer

from distill.cli.output import Json, print_json, print_table, print_text
from distill.common import InputError

Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Another value for SECTION.SETTING, for an entry, or for a setting of the distillation; null "
        "removes it. May be repeated.",
    ),
]

Out = Annotated[
    Path | None, typer.Option(help="Write to this file, which must not exist with other content.")
]

app = typer.Typer(help="Write, check and describe configs and sweeps.", no_args_is_help=True)


@app.command("init")
def init(
    problem: Annotated[str | None, typer.Option(help="A problem class.", show_default="gripper")] = None,
    domain: Annotated[Path | None, typer.Option(help="A PDDL domain, instead of a problem.")] = None,
    instances: Annotated[Path | None, typer.Option(help="A folder of PDDL instances, with --domain.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A trained network; without it, the config trains one.")
    ] = None,
    out: Out = None,
    schema: Annotated[
        Path | None, typer.Option(help="Also write the JSON schema to this file, for editors.")
    ] = None,
) -> None:
    """Write a config that lists every setting with its default and its description.

    Example: `distill config init --problem gripper --checkpoint artifacts/checkpoints/gripper.safetensors
    --out mine.yaml`.
    """
    import json
    import os

    from distill.jobs import check_source, config_template, is_class_file, run_schema
    from distill.planning import problem_class

    folder = out.parent if out else Path()

    def relative(path: Path) -> str:
        return str(path if path.is_absolute() else os.path.relpath(path, folder))

    paths = {"domain": domain, "instances": instances, "checkpoint": checkpoint}
    entries = {name: relative(path) for name, path in paths.items() if path is not None}
    if problem is None and not entries.keys() & {"domain", "instances"}:
        problem = "gripper"
    if problem is not None:
        problem_class(problem)
        entries["problem"] = relative(Path(problem)) if is_class_file(problem) else problem
    check_source({name: value for name, value in entries.items() if name != "checkpoint"}, "The options")
    text = config_template(entries, relative(schema) if schema else None)
    described = json.dumps(run_schema(), indent=1) + "\n"
    _write({file: made for file, made in ((out, text), (schema, described)) if file})
    if out:
        print_text(f"Written to {out}; see `distill config check {out}`.")
    else:
        typer.echo(text, nl=False)


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="A config or a sweep, as YAML.")],
    given: Changes = None,
    as_json: Json = False,
) -> None:
    """Check a config and print it with all defaults, or check a sweep and show the settings that vary.

    The exit code is 1 if a job of the sweep cannot run.

    Example: `distill config check configs/runs/gripper.yaml --set seed=3`.
    """
    import yaml

    from distill.jobs import Document, RunConfig, is_sweep, parse_override
    from distill.planning import problem_class

    changes = dict(map(parse_override, given or []))
    if is_sweep(Document.read(file).content):
        _check_sweep(file, changes, as_json)
        return
    config = RunConfig.read(file, changes)
    if "problem" in config.source:
        problem_class(config.source["problem"])
    whole = config.to_mapping()
    if as_json:
        print_json(whole)
    else:
        typer.echo(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=110), nl=False)


@app.command("schema")
def schema(
    sweep: Annotated[bool, typer.Option("--sweep", help="The schema of sweeps instead of configs.")] = False,
    out: Out = None,
) -> None:
    """Print the JSON schema of configs or sweeps, for editors and other programs."""
    import json

    from distill.jobs import run_schema, sweep_schema

    text = json.dumps(sweep_schema() if sweep else run_schema(), indent=1)
    if out:
        _write({out: text + "\n"})
    else:
        typer.echo(text)


def _check_sweep(file: Path, changes: dict[str, Any], as_json: bool) -> None:
    import yaml

    from distill.jobs import Sweep

    sweep = Sweep.read(file, changes)
    failed = [{"settings": dict(job.settings), "error": job.error} for job in sweep.jobs if job.error]
    varied = {key: sweep.values(key) for key in sweep.varied}
    if as_json:
        print_json({"name": sweep.name, "jobs": len(sweep.jobs), "varied": varied, "errors": failed})
    else:
        shown = {key: yaml.safe_dump(values, default_flow_style=True) for key, values in varied.items()}
        rows = [[key, " ".join(text.strip()[1:-1].split())] for key, text in shown.items()]
        title = f"The sweep {sweep.name}: {len(sweep.jobs)} jobs"
        caption = f"{len(failed)} of {len(sweep.jobs)} jobs cannot run." if failed else ""
        print_table(title, ["varied", "values"], rows, caption)
        for error in dict.fromkeys(str(job["error"]) for job in failed):
            print_text(error)
    if failed:
        raise typer.Exit(1)


def _write(texts: dict[Path, str]) -> None:
    from distill.common import atomic_write

    for path, text in texts.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == text.encode()):
            raise InputError(f"{path} exists already; remove it, or give another name.")
    for path, text in texts.items():
        with atomic_write(path) as stream:
            stream.write(text.encode())
