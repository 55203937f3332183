"""`distill app`: the workbench in the browser."""

import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from distill.cli import options
from distill.common import InputError, shown

_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*", re.IGNORECASE)


def app(
    store: options.StoreFolder = options.RUNS,
    port: Annotated[int, options.count_option("The port of the workbench.", most=65_535)] = 8501,
    host: Annotated[
        str,
        typer.Option(
            help="The address that the workbench listens on; by default only this machine reaches it."
        ),
    ] = "localhost",
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name",
            help="A name, without port, under which a browser reaches the workbench from elsewhere; may be "
            "repeated. It answers to no others but localhost, 127.0.0.1 and ::1.",
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
) -> None:
    """Open the workbench in the browser: runs, formulas, states, and the errors of value functions.

    It prints its address. The token in it lets a browser in, and nobody else; each start has a new one. An
    example run is included.

    Example: `distill app --store artifacts/runs`.
    """
    if find_spec("streamlit") is None:
        raise InputError(
            "Streamlit is not installed; install the extra `app`: pip install 'planning-distill[app]'."
        )
    server = find_spec("app.session.server")
    if server is None or server.origin is None:
        raise InputError("The workbench is not installed; install planning-distill with its package `app`.")
    for name in host_name or []:
        if not _NAME.fullmatch(name):
            raise InputError(f"--host-name {shown(name)}: not a name; give one such as distill.example.org.")
    os.environ["DISTILL_STORE"] = str(store.resolve())
    options = {"host": host, "port": port, "names": host_name or [], "open_browser": not no_browser}
    root = str(Path(server.origin).parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    os.execv(sys.executable, [sys.executable, server.origin, json.dumps(options)])  # noqa: S606
