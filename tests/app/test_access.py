"""Who is let in: forged names and origins, missing and wrong tokens, over HTTP and WebSockets."""

import re
import socket
import subprocess
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from typer.testing import CliRunner

from app.session.access import HEADERS, Address
from distill.cli.main import app
from tests.support.browser import LISTED, served

PATHS = ("/", "/runs?run=a", "/_stcore/health", "/_stcore/host-config", "/static/js/x.js", "/media/x.png")
NAMES = ("forged.invalid", "localhost.forged.invalid", "localhost@forged.invalid", "127.0.0.1.forged.invalid",
         "", "0.0.0.1", "127.1", "localhost.", "[::2]", "localhost:x", "localhost, forged.invalid",
         "10.0.0.1", "2130706433", "xn--lcalhost-55a", "[localhost]", "::1")  # fmt: skip


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, list[str]]
    text: str


class Visitor:
    """Sends requests as they are written, without what a browser or a library would correct."""

    def __init__(self, printed: str) -> None:
        self.port = urlsplit(printed).port
        self.token = printed.partition("token=")[2]
        self.local = f"localhost:{self.port}"
        self.cookie = f"Cookie: distill-{self.port}={self.token}"

    def ask(self, path: str, *headers: str, method: str = "GET", host: str | None = None) -> Answer:
        host = self.local if host is None else host
        lines = [f"{method} {path} HTTP/1.1", *([f"Host: {host}"] if host else []), *headers]
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            return _read(connection)

    def open_stream(self, *headers: str, host: str | None = None, query: str = "") -> Answer:
        """The handshake of a WebSocket."""
        return self.ask(
            f"/_stcore/stream{query}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", *headers, host=host,
        )  # fmt: skip


def _read(connection: socket.socket) -> Answer:
    content = b""
    while b"\r\n\r\n" not in content and (more := connection.recv(65536)):
        content += more
    head, _, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        headers.setdefault(name.lower(), []).append(value)
    length = int(headers.get("content-length", ["0"])[0])
    while len(body) < length and (more := connection.recv(65536)):
        body += more
    return Answer(int(first.split()[1]), headers, body.decode(errors="replace"))


def refused(answer: Answer, reason: str) -> bool:
    """Whether the answer is a refusal: one sentence, and nothing for a browser to keep."""
    one = answer.text.count("\n") == 1 and answer.text.endswith(".\n")
    return answer.status == 403 and one and reason in answer.text and "set-cookie" not in answer.headers


@pytest.fixture
def visitor(workbench) -> Visitor:
    return Visitor(workbench)


@pytest.mark.parametrize("name", NAMES)
def test_other_names_are_refused_even_with_the_token(visitor, name) -> None:
    for host in (name, f"{name}:{visitor.port}") if name else ("",):
        for path in PATHS:
            answer = visitor.ask(path, visitor.cookie, host=host)
            # What is no name at all may be refused by the HTTP parser.
            assert answer.status == 400 or refused(answer, "--host-name"), (host, path, answer)
        stream = visitor.open_stream(visitor.cookie, f"Origin: http://{host}", host=host)
        assert stream.status == 400 or refused(stream, "--host-name")


def test_a_second_host_does_not_replace_the_first(visitor) -> None:
    for first, second in ((visitor.local, "forged.invalid"), ("forged.invalid", visitor.local)):
        answer = visitor.ask("/_stcore/health", f"Host: {second}", visitor.cookie, host=first)
        assert answer.status == 400 or refused(answer, "--host-name")
    whole = visitor.ask(f"http://{visitor.local}/_stcore/health", visitor.cookie, host="forged.invalid")
    assert whole.status in (400, 403)


@pytest.mark.parametrize(
    "origin",
    ["http://forged.invalid", "null", "", "http://localhost", "http://localhost:1",
     "http://127.0.0.1:{port}", "http://localhost:{port}.forged.invalid", "http://localhost:{port}@forged.invalid",
     "file://", "http://forged.invalid#localhost:{port}", "chrome-extension://localhost:{port}"],
)  # fmt: skip
def test_pages_of_others_are_refused_even_with_the_cookie(visitor, origin) -> None:
    header = f"Origin: {origin.format(port=visitor.port)}"
    for path in PATHS:
        assert refused(visitor.ask(path, header, visitor.cookie), "its own pages"), path
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        upload = "/_stcore/upload_file/session/file"
        answer = visitor.ask(upload, header, visitor.cookie, "Content-Length: 0", method=method)
        assert refused(answer, "its own pages"), method
    assert refused(visitor.open_stream(header, visitor.cookie), "its own pages")


@pytest.mark.parametrize(
    "wrong",
    ["", "Cookie: distill-{port}=", "Cookie: distill-{port}=x{token}", "Cookie: distill-1={token}",
     "Cookie: distill-{port}={short}", "Cookie: token={token}", "Authorization: token {token}",
     "Cookie: distill-{port}=é\xff", "Referer: http://localhost:{port}/?token={token}"],
)  # fmt: skip
def test_nothing_is_answered_without_the_token(visitor, wrong) -> None:
    filled = wrong.format(port=visitor.port, token=visitor.token, short=visitor.token[:-1])
    headers = [filled] if filled else []
    for path in PATHS:
        assert refused(visitor.ask(path, *headers), "token"), path
    assert refused(visitor.ask("/_stcore/upload_file/a/b", *headers, method="PUT"), "token")
    assert refused(visitor.open_stream(f"Origin: http://{visitor.local}", *headers), "token")
    assert refused(visitor.open_stream(*headers), "token")


@pytest.mark.parametrize(
    "query", ["?token=", "?token=x", "?token={token}x", "?token={token}&token={token}", "?Token={token}",
              "?a=token={token}", "?token[]={token}", "?token=%00{token}", "?token=%ff", "?#token={token}"],
)  # fmt: skip
def test_a_wrong_token_in_the_address_is_refused(visitor, query) -> None:
    query = query.format(token=visitor.token)
    for path in ("/", "/_stcore/health"):
        assert refused(visitor.ask(path + query), "token")
    assert refused(visitor.open_stream(query=query), "token")


def test_the_token_in_the_address_or_the_cookie_lets_in(visitor) -> None:
    answer = visitor.ask(f"/_stcore/health?token={visitor.token}")
    assert (answer.status, answer.text) == (200, "ok")
    [kept] = [one for one in answer.headers["set-cookie"] if one.startswith("distill-")]
    assert kept == f"distill-{visitor.port}={visitor.token}; Path=/; HttpOnly; SameSite=Strict"
    assert visitor.ask("/_stcore/health", f"Cookie: a=b; {kept.split(';')[0]}").text == "ok"
    origin = f"Origin: http://{visitor.local}"
    for name in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
        host = f"{name}:{visitor.port}"
        assert visitor.ask("/", visitor.cookie, host=host).status == 200
        assert visitor.open_stream(visitor.cookie, f"Origin: http://{host}", host=host).status == 101
    assert visitor.open_stream(origin, query=f"?token={visitor.token}").status == 101
    assert visitor.open_stream(visitor.cookie).status == 101  # a program, which has no origin


def test_another_port_of_this_machine_as_through_a_tunnel(visitor) -> None:
    cookie = f"Cookie: distill-9000={visitor.token}"
    assert visitor.open_stream(cookie, "Origin: http://localhost:9000", host="localhost:9000").status == 101
    answer = visitor.ask(f"/_stcore/health?token={visitor.token}", host="localhost:9000")
    assert any(one.startswith("distill-9000=") for one in answer.headers["set-cookie"])


def test_a_listed_name_is_accepted_also_behind_a_proxy_that_changes_the_host(visitor) -> None:
    cookie = f"Cookie: distill-80={visitor.token}"
    assert visitor.open_stream(cookie, f"Origin: http://{LISTED}", host=LISTED).status == 101
    assert refused(visitor.open_stream(cookie, "Origin: http://x.forged.invalid", host=LISTED), "own pages")
    assert visitor.open_stream(visitor.cookie, f"Origin: https://{LISTED}").status == 101
    assert refused(visitor.ask("/", cookie, host=f"x.{LISTED}"), "--host-name")


def test_a_page_opened_with_the_token_goes_on_without_it(visitor) -> None:
    page = "Accept: text/html,*/*"
    answer = visitor.ask(f"/value?run=a&token={visitor.token}&find=%22%3E%3Cscript%3E&empty=", page)
    assert answer.status == 200
    assert visitor.token not in answer.text
    assert 'url=/value?run=a&amp;find=%22%3E%3Cscript%3E&amp;empty="' in answer.text
    for path in ("//forged.invalid/", "/\\forged.invalid", '/"><script>'):
        answer = visitor.ask(f"{path}?token={visitor.token}", page)
        assert answer.status == 400 or re.search(r'url=/[^/\\"<>]*/?"', answer.text), answer.text
    old = visitor.ask("/?token=of-yesterday", page, visitor.cookie)
    assert 'url=/"' in old.text


def test_all_answers_keep_browsers_from_framing_and_guessing(visitor) -> None:
    answers = [visitor.ask(path, visitor.cookie) for path in (*PATHS, "/nothing/here")]
    answers += [visitor.ask("/"), visitor.ask("/", host="forged.invalid"), visitor.open_stream()]
    for answer in answers:
        for name, value in HEADERS.items():
            assert answer.headers[name] == [value]
    assert "frame-ancestors 'none'" in HEADERS["content-security-policy"]


def test_a_person_with_the_address_is_let_in_and_another_is_not(chromium, workbench) -> None:
    first, second = chromium.new_context(), chromium.new_context()
    page = first.new_page()
    seen: list[str] = []
    page.on("console", lambda message: seen.append(message.text) if "Security" in message.text else None)
    page.goto(workbench)
    page.get_by_role("heading", name="Runs", level=1).wait_for()
    assert "token" not in page.url
    page.get_by_role("link", name="Value function").first.click()
    page.wait_for_url("**/value*")
    page.get_by_role("heading", name="Value function", level=1).wait_for()
    assert seen == []
    assert page.evaluate("document.cookie").find("distill-") == -1
    other = second.new_page()
    other.goto(page.url)
    assert "The token is missing or wrong" in other.locator("body").inner_text()
    first.close()
    second.close()


def test_a_page_of_another_site_reaches_nothing(chromium, workbench) -> None:
    """A page of this machine at another port, in the browser of a person who was let in."""
    context = chromium.new_context()
    context.request.get(workbench)
    page = context.new_page()
    here = workbench.partition("/?")[0]
    page.route(
        "http://localhost:1/**", lambda route: route.fulfill(body="<p>elsewhere", content_type="text/html")
    )
    page.goto("http://localhost:1/")
    opened = page.evaluate(
        """address => new Promise(done => {
            const stream = new WebSocket(address.replace('http', 'ws') + '/_stcore/stream');
            stream.onopen = () => done('open'); stream.onerror = () => done('refused'); })""",
        here,
    )
    assert opened == "refused"
    asked = "address => fetch(address + '/_stcore/health').then(answer => answer.text(), () => '-')"
    assert page.evaluate(asked, here) == "-"
    page.set_content(f'<iframe src="{here}/"></iframe>')
    page.wait_for_timeout(500)
    assert "Runs" not in page.frames[-1].content()
    context.close()


def test_each_start_has_another_token(workbench, tmp_path) -> None:
    with served(tmp_path / "runs", tmp_path / "log.txt") as printed:
        new, old = Visitor(printed), Visitor(workbench)
        assert new.token != old.token
        assert len(new.token) >= 40
        assert refused(new.ask("/", f"Cookie: distill-{new.port}={old.token}"), "token")
        # Names are listed for each start.
        assert refused(new.ask("/", f"Cookie: distill-80={new.token}", host=LISTED), "--host-name")


def test_nothing_is_served_if_streamlit_leaves_out_the_control() -> None:
    code = """
import streamlit as st
from app.session import server
class Open(st.App):
    def __init__(self, script_path, *, middleware, **others):
        super().__init__(script_path, **others)
st.App = Open
server.serve("localhost", 0, [], False)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "leaves out the control of access" in done.stderr
    assert "token=" not in done.stdout


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", "*", "a/b", "é", "-a", "a" + "\n"])
def test_what_is_no_name_is_not_listed(name, monkeypatch) -> None:
    monkeypatch.setattr("os.execv", lambda *_: pytest.fail("it starts"))
    done = CliRunner().invoke(app, ["app", "--host-name", name])
    assert done.exit_code != 0
    assert "--host-name" in str(done.exception)


@pytest.mark.parametrize(
    "text", ["", ":", "a b", "a:b", "a:123456", "[a", "a]", "a/b", "a@b", "a#", "[::1]x", "a\\b"]
)
def test_what_is_no_address(text) -> None:
    assert Address.of(text, "http") is None
