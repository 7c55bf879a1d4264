"""Workboard over HTTP, for one machine: the API, and the one page that uses it."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import workboard
from workboard import seed
from workboard.api import ROUTES, Application, Request, Response
from workboard.repository import Repository

TENANT_HEADER = "Workboard-Tenant"
BODY_BYTES = 4096
IDLE_SECONDS = 10
# The page carries its own script and style, and may speak to this server alone.
PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Handler(BaseHTTPRequestHandler):
    """Translates between HTTP and the application. The server that it belongs to holds `application` and `page`."""

    server_version = "Workboard"
    sys_version = ""
    timeout = IDLE_SECONDS

    def do_GET(self) -> None:
        """The page at the root, and the API."""
        if self.path.split("?")[0] == "/":
            self._send(200, "text/html; charset=utf-8", self.server.page)
        else:
            self._answer(b"")

    def do_POST(self) -> None:
        """The API."""
        body = self._body()
        if body is not None:
            self._answer(body)

    do_PUT = do_POST

    def log_message(self, template: str, *values: object) -> None:
        """Requests are not logged: their paths name items."""

    def _body(self) -> bytes | None:
        declared = self.headers.get("Content-Length", "0")
        length = int(declared) if declared.isascii() and declared.isdigit() else BODY_BYTES + 1
        if length > BODY_BYTES:
            refusal = {"error": {"code": "BODY_TOO_LARGE", "message": f"a body has at most {BODY_BYTES} bytes"}}
            self._send_document(Response(413, refusal))
            return None
        return self.rfile.read(length)

    def _answer(self, body: bytes) -> None:
        tenant = self.headers.get(TENANT_HEADER)
        request = Request(self.command, self.path.split("?")[0], tenant, body)
        self._send_document(self.server.application.handle(request))

    def _send_document(self, response: Response) -> None:
        content = json.dumps(response.document).encode("utf-8")
        self._send(response.status, "application/json; charset=utf-8", content)

    def _send(self, status: int, kind: str, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", PAGE_POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    """Listens on the loopback address only."""

    daemon_threads = True

    def __init__(self, port: int, application: Application, page: bytes) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.application = application
        self.page = page


def load_page() -> bytes:
    """The page, from the source tree or from within the archive."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return workboard.__loader__.get_data(os.path.join(root, "page", "index.html"))


def application_on(path: str) -> Application:
    """The application on a database file, with the clock and the ids of this machine."""
    return Application(Repository(path), lambda: time.time_ns() // 1_000_000, lambda: secrets.token_hex(8))


def selfcheck() -> None:
    """Proves that this build works: an item that one tenant makes is there for it and for nobody else."""
    with tempfile.TemporaryDirectory() as folder:
        application = application_on(os.path.join(folder, "workboard.sqlite"))
        made = application.handle(Request("POST", "/api/items", "check-a", b'{"title": "Check the build"}'))
        own = application.handle(Request("GET", "/api/items", "check-a"))
        foreign = application.handle(Request("GET", "/api/items", "check-b"))
    if made.status != 201 or own.document != {"items": [made.document]} or foreign.document != {"items": []}:
        raise SystemExit("selfcheck: the board does not keep its items apart")
    if b"<title>" not in load_page():
        raise SystemExit("selfcheck: the page is missing")
    for method, path, _ in ROUTES:
        print(f"route {method} {path}")
    print("selfcheck ok")


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="workboard", description="Northstar Workboard")
    parser.add_argument("--database", default="workboard.sqlite", help="the database file")
    parser.add_argument("--port", type=int, default=8017, help="the port on the loopback address")
    parser.add_argument("--seed", help="a seed file to add to the board first")
    parser.add_argument("--selfcheck", action="store_true", help="check this build, name its routes and end")
    options = parser.parse_args(arguments)
    if options.selfcheck:
        selfcheck()
        return 0
    if options.seed:
        seed.load(options.seed, Repository(options.database))
    server = Server(options.port, application_on(options.database), load_page())
    print(f"Workboard is at http://127.0.0.1:{server.server_port}/", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
    return 0
