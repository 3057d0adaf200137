"""Refusals, as problem documents (RFC 9457) with a stable code.

The words are ours: no detail repeats content, a foreign error's text, or more of what was sent
than a short name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Final, Literal, NamedTuple
from urllib.parse import quote

import msgspec

from uketsuke.http.message import Response

# Somebody who gets a hundred faults right will not mind another answer.
MOST_FAULTS: Final = 100
# How long to leave a service alone that did not answer.
UNAVAILABLE_SECONDS: Final = 5
# What a path may hold as it is (RFC 3986 section 3.3), with the % of what was escaped before.
_OF_A_PATH: Final = "/%:@!$&'()*+,;="

FaultCode = Literal[
    "missing",
    "unknown_member",
    "wrong_type",
    "out_of_range",
    "empty",
    "too_long",
    "too_large",
    "bad_value",
    "unknown_kind",
    "input_not_found",
    "not_supported",
]
Code = Literal[
    "invalid_json",
    "invalid_request",
    "invalid_cursor",
    "unauthenticated",
    "forbidden",
    "content_denied",
    "not_found",
    "method_not_allowed",
    "not_acceptable",
    "run_in_progress",
    "not_finished",
    "job_failed",
    "job_canceled",
    "already_finished",
    "already_redriven",
    "already_resolved",
    "not_repairable",
    "expired",
    "erased",
    "length_required",
    "too_large",
    "unsupported_media_type",
    "idempotency_mismatch",
    "not_replayable",
    "input_gone",
    "internal",
    "unavailable",
]


class Meaning(NamedTuple):
    """What a code stands for; ``detail`` is what to do next where nothing closer is known."""

    status: int
    title: str
    detail: str


MEANINGS: Final[Mapping[Code, Meaning]] = MappingProxyType(
    {
        "invalid_json": Meaning(400, "The body is not JSON", "Send one JSON document in UTF-8."),
        "invalid_request": Meaning(400, "The request is not valid", "Mend each of the errors."),
        "invalid_cursor": Meaning(
            400, "The cursor is not one of ours", "Follow next as it came, or start without."
        ),
        "unauthenticated": Meaning(
            401, "No valid key", "Send a valid API key as Authorization: Bearer uk_…"
        ),
        "forbidden": Meaning(403, "The key does not allow this", "Use a key with another scope."),
        "content_denied": Meaning(
            403,
            "Operators do not see content",
            "Ask with a key of the job's tenant. The job itself, without content, is open to you.",
        ),
        "not_found": Meaning(
            404, "Not found", "There is nothing here for this key. Check the path and the id."
        ),
        "method_not_allowed": Meaning(
            405, "Method not allowed", "Use one of the methods in the Allow header."
        ),
        "not_acceptable": Meaning(
            406, "Not acceptable", "Name a media type in Accept that this can be had as."
        ),
        "run_in_progress": Meaning(
            409,
            "A run is in progress",
            "A job with this run key is live. Follow it at Location, or wait for its end and "
            'submit again. With "on_conflict": "return" it is the answer.',
        ),
        "not_finished": Meaning(
            409, "The job is not finished", "Ask again after the seconds in Retry-After."
        ),
        "job_failed": Meaning(
            409, "The job failed", "It has no result. The job's own error says why it failed."
        ),
        "job_canceled": Meaning(
            409, "The job was canceled", "It has no result. Submit it again if it is wanted."
        ),
        "already_finished": Meaning(
            409, "It has already ended", "Nothing was changed. Look at the job for its end."
        ),
        "already_redriven": Meaning(
            409,
            "The dead letter was redriven",
            "It is redriven once. Follow its job at Location; if that ends badly too, it has a "
            "dead letter of its own.",
        ),
        "already_resolved": Meaning(
            409,
            "The dead letter is resolved",
            "Nothing was changed. Look at the dead letter for who resolved it, how and why.",
        ),
        "not_repairable": Meaning(
            409, "No machine may repair this", "Do by hand what GET /v1/doctor says of it."
        ),
        "expired": Meaning(
            410,
            "The result is gone",
            "Its time of keeping is over. Submit the job again, under another idempotency key.",
        ),
        "erased": Meaning(410, "The content was erased", "It was erased on request, for good."),
        "length_required": Meaning(
            411, "Length required", "Send the body's size in bytes as Content-Length."
        ),
        "too_large": Meaning(413, "The body is too large", "Send less."),
        "unsupported_media_type": Meaning(
            415, "Unsupported media type", "Send Content-Type: application/json."
        ),
        "idempotency_mismatch": Meaning(
            422,
            "The idempotency key is taken",
            "It stands for another request, which differs at the pointer. Send that request "
            "again, or this one under a new key.",
        ),
        "not_replayable": Meaning(
            422,
            "The dead letter cannot be redriven so",
            "It stays open. Its replayable_reason says what is in the way.",
        ),
        "input_gone": Meaning(
            422, "The input is gone", "The dead letter stays open. A patch may bring another input."
        ),
        "internal": Meaning(
            500,
            "Something unforeseen went wrong",
            "It has been noted. Repeat the request; if this stays, tell the operator the "
            "request_id.",
        ),
        "unavailable": Meaning(
            503,
            "Unavailable for a moment",
            "Repeat the request after the seconds in Retry-After. A submission may have been "
            "accepted: under the same idempotency key nothing starts twice.",
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong with a request: where, as a JSON Pointer, and what.

    The pointer of a missing member names it; that of a fault outside the body is empty.
    """

    pointer: str
    code: FaultCode
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One refusal, with what it says beyond the meaning of its code."""

    code: Code
    detail: str
    errors: tuple[Fault, ...] = ()
    members: Mapping[str, object] = field(default_factory=dict)
    headers: tuple[tuple[str, str], ...] = ()


class Refused(Exception):
    """The request gets this problem for an answer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.code)
        self.problem = problem


def refuse(
    code: Code,
    detail: str = "",
    *,
    errors: tuple[Fault, ...] = (),
    members: Mapping[str, object] | None = None,
    headers: tuple[tuple[str, str], ...] = (),
) -> Refused:
    """Make the exception to raise."""
    return Refused(
        Problem(
            code=code,
            detail=detail or MEANINGS[code].detail,
            errors=errors,
            members=members or {},
            headers=headers,
        )
    )


def refuse_faults(faults: Iterable[Fault]) -> Refused:
    """Make the exception that tells all of ``faults``, or the first hundred."""
    told = tuple(islice(faults, MOST_FAULTS + 1))
    cut = len(told) > MOST_FAULTS
    detail = f"Mend each of the errors; these are the first {MOST_FAULTS}." if cut else ""
    return refuse("invalid_request", detail, errors=told[:MOST_FAULTS])


def unavailable() -> Refused:
    """Make the exception for when a service of ours did not answer."""
    return refuse("unavailable", headers=(("retry-after", str(UNAVAILABLE_SECONDS)),))


def answer_problem(problem: Problem, *, instance: str, request_id: str) -> Response:
    """Return the answer that tells ``problem``; ``instance`` is the path that was asked for."""
    meaning = MEANINGS[problem.code]
    document: dict[str, object] = {
        "type": f"urn:problem-type:uketsuke:{problem.code}",
        "title": meaning.title,
        "status": meaning.status,
        "detail": problem.detail,
        # A path can be as long as a URL may be; nobody needs all of a wrong one.
        "instance": quote(instance[:200], safe=_OF_A_PATH, errors="replace"),
        "code": problem.code,
        "request_id": request_id,
        **problem.members,
    }
    if problem.errors:
        document["errors"] = [
            {"pointer": fault.pointer, "code": fault.code, "detail": fault.detail}
            for fault in problem.errors
        ]
    headers = (("content-type", "application/problem+json"), *problem.headers)
    return Response(status=meaning.status, headers=headers, body=msgspec.json.encode(document))
