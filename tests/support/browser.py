"""A workbench of its own for a test, and a browser to look at it."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.commands import PATIENCE, until

_MILLISECONDS = 1000 * PATIENCE

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LISTED = "listed.example.org"  # a name that the workbench of the tests answers to
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
]


@contextmanager
def served(store: Path, log: Path, *options: str) -> Iterator[str]:
    """The address of a workbench that shows the runs in a folder, as it prints it, with its token.

    Parameters
    ----------
    log : a file for what the server says.
    options : more options of `distill app`.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", "from distill.cli import main; main()", "app", "--no-browser"]
    with log.open("w") as stream:
        server = subprocess.Popen(
            [*command, "--port", str(port), "--store", str(store), *options],
            stdout=stream,
            stderr=stream,
            env={**os.environ, "STREAMLIT_SERVER_HEADLESS": "true"},
        )
    try:
        until(lambda: server.poll() is not None or _printed(log, port))
        assert server.poll() is None, log.read_text()
        yield _printed(log, port)
    finally:
        server.terminate()
        server.wait()


def at(printed: str, path: str) -> str:
    """The address of a path on a workbench, with the token, from the address that it prints."""
    server, token = printed.split("/?")
    return f"{server}{path}{'&' if '?' in path else '?'}{token}"


def _printed(log: Path, port: int) -> str:
    found = re.search(rf"http://localhost:{port}/\S+", log.read_text())
    return found[0] if found else ""


class Browser:
    """A page in a real browser, which notes errors and requests to the outside.

    Parameters
    ----------
    printed : the address that the workbench prints; its token is known from here on.
    """

    def __init__(self, page, printed: str) -> None:
        self.page, self.printed, self.address = page, printed, printed.partition("/?")[0]
        page.context.request.get(at(printed, "/_stcore/health"))
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._note)
        page.set_default_timeout(_MILLISECONDS)

    def _hear(self, message) -> None:
        # Streamlit itself asks below each page's address where its server is, and is told: not here.
        asked = (message.location or {}).get("url", "")
        if message.type == "error" and not asked.endswith(("/_stcore/health", "/_stcore/host-config")):
            self.errors.append(message.text)

    def _note(self, request) -> None:
        if not request.url.startswith((self.address, "data:", "blob:", self.address.replace("http", "ws"))):
            self.outside.append(request.url)

    def open(self, path: str, text: str | None = None) -> None:
        """Go to a page of the workbench and wait until it is complete; `text` must be on it then."""
        self.page.goto(f"{self.address}/{path}")
        self.settled(text)

    def settled(self, text: str | None = None) -> None:
        """Wait until a text is there, and then until nothing is computed any more."""
        from playwright.sync_api import expect

        if text is not None:
            expect(self.page.get_by_text(text).first).to_be_visible(timeout=_MILLISECONDS)
        self.page.wait_for_selector('[data-test-script-state="notRunning"]', state="attached")

    def text(self) -> str:
        """All that can be read on the page."""
        return self.page.locator('[data-testid="stMain"]').inner_text()

    def insist(self, act, wanted) -> None:
        """Do something until what is wanted is there: a page that changes may swallow what one does."""
        from playwright.sync_api import TimeoutError as Late

        for last in (False, False, True):
            self.settled()
            try:
                act()
                wanted.wait_for(timeout=_MILLISECONDS if last else 8_000)
                return
            except Late:
                if last:
                    raise

    def download(self, click) -> tuple[str, str]:
        """The name and content of the file that a click gives; one into a page that changes may be lost."""
        from playwright.sync_api import TimeoutError as Late

        for last in (False, False, True):
            self.settled()
            try:
                with self.page.expect_download(timeout=_MILLISECONDS if last else 8_000) as waiting:
                    click()
                break
            except Late:
                if last:
                    raise
        return waiting.value.suggested_filename, Path(waiting.value.path()).read_text()
