"""The API's own description: sound, whole, and made from the routes and kinds that there are."""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.unit.http.world import World
from uketsuke.http.openapi_operations import OPERATIONS, QUERY_PARAMETERS
from uketsuke.http.routes import ROUTES
from uketsuke.kinds.registry import KINDS


def described() -> Any:
    return World(kinds=KINDS).send("GET", "/openapi.json").document


def test_it_is_open_to_all_and_answered_from_a_cache() -> None:
    world = World(kinds=KINDS)
    first = world.send("GET", "/openapi.json")
    again = world.send("GET", "/openapi.json", headers={"if-none-match": first.headers["etag"]})

    assert (first.status, again.status) == (200, 304)


def test_it_is_openapi() -> None:
    OpenAPIV31SpecValidator(described()).validate()


def test_it_tells_every_route_and_nothing_else() -> None:
    paths = described()["paths"]
    told = {(method.upper(), path) for path, item in paths.items() for method in item}

    assert told == {(route.method, route.template) for route in ROUTES}
    assert set(OPERATIONS) == {route.endpoint.__name__ for route in ROUTES}
    assert set(QUERY_PARAMETERS) == set().union(*(route.query for route in ROUTES))


def test_what_has_an_entity_tag_says_so_with_its_304_and_its_header() -> None:
    paths = described()["paths"]
    tagged = {path for path, item in paths.items() if told_of_tags(item.get("get", {}))}

    # Never the same, or nothing.
    untagged = {"/healthz", "/readyz", "/metrics", "/v1/metrics", "/v1/alerts"}
    assert tagged == {path for path, item in paths.items() if "get" in item} - untagged
    assert not any(told_of_tags(each) for item in paths.values() for each in but_get(item))


def told_of_tags(operation: Any) -> bool:
    """Say whether it tells of tags; of all that belongs to them, or of nothing."""
    answers = operation.get("responses", {})
    told = {
        "304" in answers,
        "ETag" in answers.get("200", {}).get("headers", {}),
        "If-None-Match" in {each["name"] for each in operation.get("parameters", ())},
    }
    assert len(told) == 1, operation
    return told.pop()


def but_get(item: Any) -> list[Any]:
    return [operation for method, operation in item.items() if method != "get"]


def test_a_kind_is_in_it_by_itself() -> None:
    document = described()
    submission = {"$ref": "#/components/schemas/Submission", "components": document["components"]}
    sound = Draft202012Validator(submission).is_valid

    for kind in KINDS.values():
        assert kind.params.__name__ in document["components"]["schemas"]
    text = {"kind": "summarize", "input": {"text": "Some words."}}
    assert sound(text)
    assert sound({**text, "params": {"max_words": 50}})
    assert not sound({**text, "params": {"max_words": 1}})
    assert not sound({**text, "kind": "sing"})
    assert not sound({**text, "input": {"texts": ["Some words."]}})
    assert not sound({**text, "max_attempts": 21})
