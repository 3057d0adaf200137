"""The API's description in OpenAPI 3.1, made from the routes and kinds that there are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from uketsuke.domain.job import InputForm
from uketsuke.http import (
    openapi_alert_shapes,
    openapi_doctor_shapes,
    openapi_letter_shapes,
    openapi_metric_shapes,
    openapi_redrive_shapes,
    openapi_shapes,
)
from uketsuke.http.endpoints.doctor import RepairBody
from uketsuke.http.letter_acts import DiscardBody, RedriveBody
from uketsuke.http.openapi_operations import OPERATIONS, QUERY_PARAMETERS, Operation
from uketsuke.http.redrive_document import RedriveOrder, StopOrder
from uketsuke.http.routes import Route
from uketsuke.http.schedule_document import ScheduleMembers
from uketsuke.http.submission import Envelope
from uketsuke.kinds.kind import Kind

Schema = dict[str, Any]

VERSION: Final = "1"
_REF: Final = "#/components/schemas/{name}"
_JSON: Final = "application/json"
_SHAPES: Final = (
    openapi_shapes,
    openapi_letter_shapes,
    openapi_redrive_shapes,
    openapi_alert_shapes,
    openapi_doctor_shapes,
    openapi_metric_shapes,
)
_SAME: Final = "Nothing has changed since the entity tag in If-None-Match."
_TAG: Final = {"ETag": {"description": "The answer's entity tag.", "schema": {"type": "string"}}}
_IF_NONE_MATCH: Final = (("If-None-Match", "The entity tag of what is known already."),)
_PATH_NAME: Final = re.compile(r"\{(\w+)\}")


def describe(routes: Sequence[Route], kinds: Mapping[str, Kind]) -> Schema:
    """Return the whole description, as a JSON value."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Uketsuke",
            "version": VERSION,
            "description": "AI work over HTTP: accepted at once, ended once, never lost.",
        },
        "paths": _paths(routes),
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": _schemas(kinds),
        },
    }


def _paths(routes: Sequence[Route]) -> Schema:
    paths: Schema = {}
    for route in routes:
        paths.setdefault(route.template, {})[route.method.lower()] = _operation(route)
    return paths


def _operation(route: Route) -> Schema:
    about = OPERATIONS[route.endpoint.__name__]
    described: Schema = {
        "operationId": route.endpoint.__name__,
        "summary": about.summary,
        "parameters": [*_in_path(route), *_in_query(route), *_in_headers(about)],
        "responses": {**_success(about), "default": _problem()},
    }
    if about.body is not None:
        described["requestBody"] = {"required": about.body_required, "content": about.body}
    if route.scopes:
        any_of = ", ".join(sorted(route.scopes))
        described["security"] = [{"key": []}]
        described["description"] = f"Any one of these scopes will do: {any_of}."
    else:
        described["security"] = []
    return described


def _success(about: Operation) -> Schema:
    answer: Schema = {"description": about.answer}
    if about.content is not None:
        answer["content"] = about.content
    others: Schema = {str(s): {"description": d} for s, d in about.others}
    for status, content in about.other_contents:
        others[str(status)]["content"] = content
    if about.tagged:
        answer["headers"] = _TAG
        others["304"] = {"description": _SAME, "headers": _TAG}
    return {str(about.status): answer, **others}


def _problem() -> Schema:
    schema = {"$ref": _REF.format(name="Problem")}
    return {
        "description": "A refusal, with what to do next.",
        "content": {"application/problem+json": {"schema": schema}},
    }


def _in_path(route: Route) -> list[Schema]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in _PATH_NAME.findall(route.template)
    ]


def _in_query(route: Route) -> list[Schema]:
    return [
        {"name": name, "in": "query", "schema": schema, "description": what}
        for name in sorted(route.query)
        for schema, what in (QUERY_PARAMETERS[name],)
    ]


def _in_headers(about: Operation) -> list[Schema]:
    return [
        {"name": name, "in": "header", "schema": {"type": "string"}, "description": what}
        for name, what in (*about.headers, *(_IF_NONE_MATCH if about.tagged else ()))
    ]


def _schemas(kinds: Mapping[str, Kind]) -> Schema:
    types = [
        *(kind.params for kind in kinds.values()),
        Envelope,
        ScheduleMembers,
        RedriveOrder,
        StopOrder,
        RedriveBody,
        DiscardBody,
        RepairBody,
        *_shapes(),
    ]
    _, components = msgspec.json.schema_components(types, ref_template=_REF)
    return {
        **components,
        "Submission": _any_kind("Envelope", kinds),
        "ScheduleDocument": _any_kind("ScheduleMembers", kinds),
    }


def _shapes() -> list[type[openapi_shapes.Shape]]:
    """Every shape of the modules that hold some."""
    names = {module.__name__ for module in _SHAPES}
    found = openapi_shapes.Shape.__subclasses__()
    return [shape for shape in found if shape.__module__ in names]


def _any_kind(base: str, kinds: Mapping[str, Kind]) -> Schema:
    """A document that asks for work: what all have in common, and what its kind adds."""
    return {
        "allOf": [
            {"$ref": _REF.format(name=base)},
            {"oneOf": [_of_kind(kind) for kind in kinds.values()]},
        ]
    }


def _of_kind(kind: Kind) -> Schema:
    return {
        "title": kind.name,
        "properties": {
            "kind": {"const": kind.name},
            "params": {"$ref": _REF.format(name=kind.params.__name__)},
            "input": {
                "oneOf": [{"required": [form.value]} for form in InputForm if form in kind.forms],
                "maxProperties": 1,
            },
        },
        "required": ["kind", "input"],
    }
