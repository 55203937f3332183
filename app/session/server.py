"""The server of the workbench: Streamlit behind the control of access, at an address with a token.

`distill app` runs this file. Streamlit runs `main.py` for each visitor.
"""

import json
import secrets
import sys
import threading
import webbrowser
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from app.session.access import LOCAL, TOKEN, AccessControl

_MEGABYTES = 50  # of an uploaded file; pages have lower limits for some kinds of files
_ANY = ("0.0.0.0", "::")  # noqa: S104


def serve(host: str, port: int, names: Sequence[str], open_browser: bool) -> None:
    """Serve the workbench until it is interrupted.

    Parameters
    ----------
    host : the address that it listens on.
    names : names under which others reach it.
    open_browser : whether a browser is opened.
    """
    known = [*map(str.lower, names), *([] if host in (*LOCAL, *_ANY) else [host.lower()])]
    token = secrets.token_urlsafe()
    application(host, known, token, open_browser).run(config=settings(host, port, known))


def settings(host: str, port: int, names: Sequence[str]) -> dict[str, Any]:
    """The settings of Streamlit; a file with settings of the user does not change these."""
    return {
        "server.address": host,
        "server.port": port,
        "server.headless": True,
        "server.fileWatcherType": "none",
        "server.maxUploadSize": _MEGABYTES,
        "server.enableCORS": True,
        "server.enableXsrfProtection": True,
        "server.corsAllowedOrigins": [f"{scheme}://{name}" for name in names for scheme in ("http", "https")],
        "browser.gatherUsageStats": False,
        "client.showErrorDetails": "none",
        "client.toolbarMode": "minimal",
        "global.developmentMode": False,
        "logger.hideWelcomeMessage": True,
    }


def application(host: str, names: Sequence[str], token: str, open_browser: bool) -> st.App:
    """The pages behind the control of access."""
    from starlette.middleware import Middleware

    @asynccontextmanager
    async def started(app: st.App) -> AsyncIterator[None]:
        if not control.in_place:  # better no workbench than one that is open to all
            raise RuntimeError("This version of Streamlit leaves out the control of access.")
        address = f"{shown_address(host)}/?{TOKEN}={token}"
        print(f"The workbench, for everyone with this address: {address}", flush=True)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        yield

    control = AccessControl(names, token)
    pages = Path(__file__).with_name("main.py")
    return st.App(pages, middleware=[Middleware(control.around)], lifespan=started)


def shown_address(host: str) -> str:
    """The address of the running workbench for a browser on this machine."""
    name = "localhost" if host in _ANY else f"[{host}]" if ":" in host else host
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    path = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"{scheme}://{name}:{st.get_option('server.port')}" + (f"/{path}" if path else "")


if __name__ == "__main__":
    try:
        serve(**json.loads(sys.argv[1]))
    except OSError as error:
        sys.exit(
            f"Error: The workbench cannot listen there ({error.strerror}); choose another --host or --port."
        )
