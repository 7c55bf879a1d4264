"""The HTTP API without HTTP: requests and responses as values, so that it can be used without a socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from workboard import domain
from workboard.domain import InvalidValue, WorkItem
from workboard.events import Event
from workboard.repository import ItemNotFound, Repository

# What the API answers to, and nothing else. `{item}` stands for one component, the id of an item.
ROUTES = (
    ("GET", "/api/items", "list_items"),
    ("POST", "/api/items", "create_item"),
    ("PUT", "/api/items/{item}/title", "rename_item"),
    ("GET", "/api/events", "list_events"),
)


@dataclass(frozen=True)
class Request:
    """One request. `tenant` comes from whoever vouches for the caller, never from `body`."""

    method: str
    path: str
    tenant: str | None = None
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    """One answer: the HTTP status and a JSON document."""

    status: int
    document: dict[str, object]


class Application:
    """Answers requests. The time in milliseconds and fresh item ids come from the two callables."""

    def __init__(self, repository: Repository, now: Callable[[], int], new_id: Callable[[], str]) -> None:
        self._repository = repository
        self._now = now
        self._new_id = new_id

    def handle(self, request: Request) -> Response:
        """Answers one request; whatever a caller can do wrong is a response, too."""
        matched = _match(request.method, request.path)
        if matched is None:
            return _refusal(404, "ROUTE_UNKNOWN", f"there is no {request.method} {request.path}")
        name, parameters = matched
        try:
            tenant = domain.parse_name("tenant", request.tenant)
        except InvalidValue as invalid:
            return _refusal(401, "TENANT_REQUIRED", str(invalid))
        try:
            return getattr(self, name)(tenant, request, *parameters)
        except InvalidValue as invalid:
            return _refusal(400, "VALUE_INVALID", str(invalid))
        except ItemNotFound:
            return _refusal(404, "ITEM_NOT_FOUND", "this tenant has no such item")

    def list_items(self, tenant: str, _request: Request) -> Response:
        """Every item of the tenant, oldest first."""
        return Response(200, {"items": [item_document(item) for item in self._repository.items(tenant)]})

    def create_item(self, tenant: str, request: Request) -> Response:
        """A new item, with the title that the body gives."""
        item = domain.create(tenant, self._new_id(), _field(request, "title"), self._now())
        return Response(201, item_document(self._repository.add(item)))

    def rename_item(self, tenant: str, request: Request, item_id: str) -> Response:
        """The item under the title that the body gives."""
        title = _field(request, "title")
        return Response(200, item_document(self._repository.rename(tenant, item_id, title, self._now())))

    def list_events(self, tenant: str, _request: Request) -> Response:
        """Everything that happened to the tenant's items, oldest first."""
        return Response(200, {"events": [event_document(event) for event in self._repository.events(tenant)]})


def item_document(item: WorkItem) -> dict[str, object]:
    """An item as the API shows it."""
    return {
        "id": item.item_id,
        "title": item.title,
        "createdAt": item.created_at,
    }


def event_document(event: Event) -> dict[str, object]:
    """An event as the API shows it."""
    return {"kind": event.kind.value, "item": event.item_id, "occurredAt": event.occurred_at}


def _match(method: str, path: str) -> tuple[str, list[str]] | None:
    components = path.split("/")
    for route_method, template, name in ROUTES:
        expected = template.split("/")
        if route_method != method or len(expected) != len(components):
            continue
        parameters: list[str] = []
        for want, have in zip(expected, components):
            if want == "{item}":
                parameters.append(have)
            elif want != have:
                break
        else:
            return name, parameters
    return None


def _field(request: Request, name: str) -> str:
    try:
        document = json.loads(request.body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InvalidValue("the body must be JSON") from None
    if not isinstance(document, dict) or set(document) != {name}:
        raise InvalidValue(f"the body must be an object with the one key `{name}`")
    return document[name]


def _refusal(status: int, code: str, message: str) -> Response:
    return Response(status, {"error": {"code": code, "message": message}})
