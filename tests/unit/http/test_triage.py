"""Dead letters over HTTP: what operators may ask, what they are shown, and that tenants are not."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests.unit.http.factories import CREATED, TENANT, an_id
from tests.unit.http.world import World, assert_problem
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Attempt, Usage
from uketsuke.domain.lifecycle import JobState, Outcome

AT_MS = int(CREATED.timestamp() * 1000)
JOB = an_id("job", 1)


def put(world: World, number: int, **columns: object) -> str:
    """Write a letter as it lies and return its id."""
    values: dict[str, Any] = {
        "id": an_id("dl", number),
        "tenant_id": TENANT,
        "job_id": an_id("job", number),
        "kind": "summarize",
        "road": "exhausted",
        "class": "timeout",
        "code": "provider_timed_out",
        "model": "m",
        "attempts": 3,
        "schema_version": 1,
        "first_failed_at": AT_MS,
        "last_failed_at": AT_MS + number,
        "triage_due_at": AT_MS + 72 * 3_600_000,
        **columns,
    }
    names, marks = ", ".join(values), ", ".join("?" for _ in values)
    sql = f"INSERT INTO dead_letters ({names}) VALUES ({marks})"  # noqa: S608 - our own names
    world.database.connection.execute(sql, tuple(values.values()))
    return str(values["id"])


def ids(document: Any) -> list[str]:
    return [item["id"] for item in document["items"]]


def test_a_list_is_followed_to_its_end_under_its_filters(world: World, operator_key: str) -> None:
    letters = [put(world, number) for number in (1, 2, 3)]
    put(world, 4, kind="embed")
    put(world, 5, tenant_id="other")
    target = f"/v1/dead-letters?status=open&class=timeout&kind=summarize&tenant={TENANT}&limit=2"

    first = world.send("GET", target, key=operator_key)
    second = world.send("GET", first.document["next"], key=operator_key)

    assert first.status == 200
    assert first.headers["cache-control"] == "private, no-cache"
    assert first.document["next"].startswith(f"{target}&cursor=")
    assert ids(first.document) == letters[:0:-1]
    assert (ids(second.document), second.document["next"]) == (letters[:1], None)


def test_an_administrator_may_look_and_a_tenant_may_not(
    world: World, admin_key: str, tenant_key: str
) -> None:
    letter = put(world, 1)

    for path in ("", "/groups", f"/{letter}"):
        assert world.send("GET", f"/v1/dead-letters{path}", key=admin_key).status == 200
        refused = world.send("GET", f"/v1/dead-letters{path}", key=tenant_key)
        assert_problem(refused, 403, "forbidden")


@pytest.mark.parametrize("path", ["/v1/dead-letters", "/v1/dead-letters/groups"])
@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("status=closed", "status is one of open, redriven, discarded"),
        ("class=oops", "class is one of timeout, throttled,"),
        ("limit=0", "limit is a number from 1 to 200"),
        ("kind=a&kind=b", "kind is said twice"),
        ("status=", "status is one of"),
    ],
)
def test_a_filter_that_makes_no_sense_is_told(
    world: World, operator_key: str, path: str, query: str, told: str
) -> None:
    answer = world.send("GET", f"{path}?{query}", key=operator_key)

    assert_problem(answer, 400, "invalid_request")
    assert told in answer.document["errors"][0]["detail"]


URGENT = ("past_triage", "expiring")
_TIME = "2026-11-29T12:00:00Z"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        *((f"{name}=false", f"{name} is true, or left out") for name in URGENT),
        *((f"{name}=", f"{name} is true, or left out") for name in URGENT),
        *((f"{name}=true&status=redriven", "is asked of open letters") for name in URGENT),
        ("redrive_id=rd_1", "redrive_id is the id of a bulk redrive"),
        (f"redrive_id={an_id('rd', 1)}&status=open", "is asked of redriven letters"),
        *((f"redrive_id={an_id('rd', 1)}&{name}=true", "is of open letters") for name in URGENT),
        (f"redrive_id={an_id('rd', 1)}&failed_after={_TIME}", "not asked together"),
        ("failed_before=yesterday", "failed_before is a time like"),
        (f"failed_after={_TIME.replace('Z', '+09:00')}", "a + is written %2B"),
    ],
)
def test_what_cannot_be_asked_of_a_letter_is_told(
    world: World, operator_key: str, query: str, told: str
) -> None:
    answer = world.send("GET", f"/v1/dead-letters?{query}", key=operator_key)

    assert_problem(answer, 400, "invalid_request")
    (fault,) = answer.document["errors"]
    assert told in fault["detail"]


def test_groups_are_not_asked_for_by_what_is_urgent(world: World, operator_key: str) -> None:
    answer = world.send("GET", "/v1/dead-letters/groups?past_triage=true", key=operator_key)

    assert_problem(answer, 400, "invalid_request")


def test_letters_past_their_time_are_followed_to_the_end(world: World, operator_key: str) -> None:
    late = [put(world, number, triage_due_at=1) for number in (1, 2, 3)]
    put(world, 4, triage_due_at=10**13)
    put(world, 5, triage_due_at=1, status="discarded", resolved_at=AT_MS)

    first = world.send("GET", "/v1/dead-letters?past_triage=true&limit=2", key=operator_key)
    second = world.send("GET", first.document["next"], key=operator_key)
    none = world.send("GET", "/v1/dead-letters?past_triage=true&expiring=true", key=operator_key)

    assert ids(first.document) == late[:0:-1]
    assert (ids(second.document), second.document["next"]) == (late[:1], None)
    assert none.document == {"items": [], "next": None}


@pytest.mark.parametrize("narrowed", ["", "&status=open", "&past_triage=true"])
def test_a_list_between_two_times_ends_where_they_do(
    world: World, operator_key: str, narrowed: str
) -> None:
    letters = [put(world, number, triage_due_at=1) for number in range(1, 6)]

    times = f"failed_after={at(2)}&failed_before={at(5)}"
    found, target = list[str](), f"/v1/dead-letters?{times}&limit=1{narrowed}"
    while target:
        page = world.send("GET", target, key=operator_key).document
        found, target = [*found, *ids(page)], page["next"]

    assert found == [letters[3], letters[2], letters[1]]


def test_a_time_between_two_milliseconds_counts_as_it_is_written(
    world: World, operator_key: str
) -> None:
    letters = [put(world, number) for number in (1, 2, 3)]

    def listed(query: str) -> list[str]:
        return ids(world.send("GET", f"/v1/dead-letters?{query}", key=operator_key).document)

    between = at(2).replace("Z", "5Z")
    assert listed(f"failed_after={between}") == letters[2:]
    assert listed(f"failed_before={between}") == [letters[1], letters[0]]
    assert listed("failed_before=1969-12-31T23:59:59Z") == []


def at(number: int) -> str:
    """The time at which that letter failed last."""
    moment = datetime.fromtimestamp((AT_MS + number) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_what_a_bulk_redrive_has_redriven_is_followed_to_the_end(
    world: World, operator_key: str
) -> None:
    redrive = an_id("rd", 7)
    letters = [
        put(
            world,
            number,
            status="redriven",
            resolved_at=AT_MS,
            redrive_id=redrive,
            redriven_to=an_id("job", 50 + number),
        )
        for number in (1, 2, 3)
    ]
    put(world, 4, status="redriven", resolved_at=AT_MS, redriven_to=an_id("job", 60))

    target = f"/v1/dead-letters?redrive_id={redrive}&status=redriven&limit=2"
    first = world.send("GET", target, key=operator_key)
    second = world.send("GET", first.document["next"], key=operator_key)
    strange = world.send("GET", f"{target}&cursor={cursor_of(1, letters[0])}", key=operator_key)

    assert ids(first.document) == letters[:0:-1]
    assert first.document["items"][0]["redrive_id"] == redrive
    assert (ids(second.document), second.document["next"]) == (letters[:1], None)
    assert_problem(strange, 400, "invalid_cursor")


def cursor_of(*place: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        cursor_of(1),
        cursor_of(1, "job_1"),
        cursor_of("1", an_id("dl", 1)),
        cursor_of(1.5, an_id("dl", 1)),
        cursor_of(-1, an_id("dl", 1)),
        cursor_of(2**60, an_id("dl", 1)),
        cursor_of(1, an_id("dl", 1), 2),
    ],
)
def test_a_cursor_that_is_not_ours_is_refused(world: World, operator_key: str, cursor: str) -> None:
    answer = world.send("GET", f"/v1/dead-letters?cursor={cursor}", key=operator_key)

    assert_problem(answer, 400, "invalid_cursor")


def test_groups_are_of_open_letters_if_nothing_is_asked_and_lead_to_them(
    world: World, operator_key: str
) -> None:
    open_ones = [put(world, number, model="a/b:c&d") for number in (1, 2)]
    put(world, 3, status="discarded", resolved_at=AT_MS)

    answer = world.send("GET", "/v1/dead-letters/groups", key=operator_key)

    fingerprint = "summarize:timeout:provider_timed_out:a/b:c&d"
    (group,) = answer.document["items"]
    assert answer.document["next"] is None
    assert group == {
        "fingerprint": fingerprint,
        "kind": "summarize",
        "class": "timeout",
        "code": "provider_timed_out",
        "model": "a/b:c&d",
        "count": 2,
        "tenants": 1,
        "first_failed_at": "2026-11-29T12:00:00.000Z",
        "last_failed_at": "2026-11-29T12:00:00.002Z",
        "verdict": "redrive",
        "links": {
            "letters": f"/v1/dead-letters?status=open&fingerprint={quote(fingerprint, safe='')}"
        },
    }
    found = world.send("GET", group["links"]["letters"], key=operator_key)
    assert ids(found.document) == open_ones[::-1]


def test_groups_of_one_tenant_lead_to_its_letters_only(world: World, operator_key: str) -> None:
    own = put(world, 1)
    put(world, 2, tenant_id="other")
    put(world, 3, kind="embed")
    put(world, 4, **{"class": "crashed", "code": "worker_crashed"})
    narrow = f"tenant={TENANT}&kind=summarize&class=timeout"

    answer = world.send("GET", f"/v1/dead-letters/groups?{narrow}", key=operator_key)

    (group,) = answer.document["items"]
    found = world.send("GET", group["links"]["letters"], key=operator_key)
    assert ids(found.document) == [own]


def test_the_largest_groups_come_first_and_resolved_ones_are_had_by_asking(
    world: World, operator_key: str
) -> None:
    for number, code in enumerate(("a", "b", "b", "c", "c", "c")):
        put(world, number, code=code)
    put(world, 9, code="d", status="redriven", resolved_at=AT_MS)

    def codes(query: str) -> list[str]:
        document = world.send("GET", f"/v1/dead-letters/groups{query}", key=operator_key).document
        return [group["code"] for group in document["items"]]

    assert codes("") == ["c", "b", "a"]
    assert codes("?limit=1") == ["c"]
    assert codes("?status=redriven") == ["d"]


def test_one_letter_is_shown_with_its_jobs_attempts(world: World, operator_key: str) -> None:
    letter = put(world, 1)
    tried = Attempt(
        number=1,
        started_at=CREATED,
        ended_at=CREATED + timedelta(seconds=2),
        outcome=Outcome.FAILED,
        state=JobState.RETRYING,
        error_class=ErrorClass.TIMEOUT,
        error_code="provider_timed_out",
        provider_ms=1500,
        usage=Usage(provider="p", model="m", provider_request_id="r", cost_micros=5),
    )
    world.jobs.attempts = [tried, replace(tried, number=2, usage=None)]

    answer = world.send("GET", f"/v1/dead-letters/{letter}", key=operator_key)

    first, second = answer.document["attempts_history"]
    assert (answer.document["id"], answer.document["attempts"]) == (letter, 3)
    assert first == {
        "number": 1,
        "started_at": "2026-11-29T12:00:00.000Z",
        "ended_at": "2026-11-29T12:00:02.000Z",
        "outcome": "failed",
        "class": "timeout",
        "code": "provider_timed_out",
        "message": "The AI provider did not answer in time.",
        "provider": "p",
        "model": "m",
        "provider_request_id": "r",
        "provider_seconds": 1.5,
        "cost_usd": "0.000005",
    }
    assert (second["number"], second["model"], second["cost_usd"]) == (2, None, None)


def test_a_message_that_is_no_jobs_has_no_history(world: World, operator_key: str) -> None:
    letter = put(
        world, 1, job_id=None, tenant_id=None, kind=None, model=None, code="body_undecodable"
    )
    world.jobs.broken = AssertionError("nobody's attempts are asked for")

    document = world.send("GET", f"/v1/dead-letters/{letter}", key=operator_key).document

    assert (document["attempts_history"], document["replayable"]) == ([], False)


@pytest.mark.parametrize("letter", [an_id("dl", 7), JOB, "dl_", "DL_1", "a'b"])
def test_a_letter_that_is_not_there_is_not_found(
    world: World, operator_key: str, letter: str
) -> None:
    answer = world.send("GET", f"/v1/dead-letters/{letter}", key=operator_key)

    assert_problem(answer, 404, "not_found")
