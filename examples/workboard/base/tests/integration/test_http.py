import json
import socket
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from workboard.api import Application
from workboard.repository import Repository
from workboard.server import BODY_BYTES, Handler, load_page


class Http(unittest.TestCase):
    """Real requests through the real handler over a socket pair, which needs no network."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        repository = Repository(str(Path(folder.name) / "workboard.sqlite"))
        self.server = SimpleNamespace(application=Application(repository, lambda: 1000, lambda: "item-1"), page=load_page())

    def send(self, head, body=b""):
        client, server = socket.socketpair()
        with client, server:
            client.sendall(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
            client.shutdown(socket.SHUT_WR)
            Handler(server, ("client", 0), self.server)
            server.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: client.recv(65536), b""))
        top, _, content = answer.partition(b"\r\n\r\n")
        return int(top.split()[1]), top.decode(), content

    def post(self, path, document, tenant="northstar"):
        body = json.dumps(document).encode()
        head = f"POST {path} HTTP/1.0\nWorkboard-Tenant: {tenant}\nContent-Length: {len(body)}"
        status, _, content = self.send(head, body)
        return status, json.loads(content)

    def test_the_page_is_served_with_a_policy_of_its_own(self):
        status, head, content = self.send("GET /?tenant=northstar HTTP/1.0")
        self.assertEqual((200, self.server.page), (status, content))
        self.assertIn("Content-Security-Policy: default-src 'none'", head)

    def test_an_item_is_added_and_listed(self):
        made = {"id": "item-1", "title": "Order lamps", "createdAt": 1000}
        status, answer = self.post("/api/items", {"title": "Order lamps"})
        self.assertEqual((201, made), (status, {key: answer.get(key) for key in made}))
        status, _, content = self.send("GET /api/items HTTP/1.0\nWorkboard-Tenant: northstar")
        self.assertEqual((200, [answer]), (status, json.loads(content)["items"]))

    def test_what_cannot_be_an_item_is_refused_in_words(self):
        for document in ({"title": ""}, {"title": 7}, {"name": "x"}, {"title": "x", "tenant": "southgate"}, [], None):
            status, answer = self.post("/api/items", document)
            self.assertEqual((400, "VALUE_INVALID"), (status, answer["error"]["code"]), document)

    def test_a_body_past_the_limit_is_not_read(self):
        for length in (str(BODY_BYTES + 1), "-1", "many"):
            status, _, _ = self.send(f"POST /api/items HTTP/1.0\nWorkboard-Tenant: northstar\nContent-Length: {length}")
            self.assertEqual(413, status, length)

    def test_a_caller_without_a_tenant_and_a_path_without_a_route_are_refused(self):
        self.assertEqual(401, self.send("GET /api/items HTTP/1.0")[0])
        self.assertEqual(404, self.send("GET /api/secrets HTTP/1.0\nWorkboard-Tenant: northstar")[0])
        self.assertEqual(404, self.send("GET /../etc/passwd HTTP/1.0\nWorkboard-Tenant: northstar")[0])
