"""Messages that are not ours, or of a version not ours: buried once, in no neighbour's way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from tests.integration.verdicts import ACK, DEAD, JOBS, SUCCEEDED, Desk, Raw, leased, new_job_id
from uketsuke.domain.redact import SHAPE_LENGTH

_ROLLOUT_PAUSE: Final = 600
_ID: Final = "job_" + "0" * 26

UNDECODABLE: Final[dict[str, object]] = {
    "a text": "look at this job",
    "an empty text": "",
    "a text that is JSON": json.dumps({"v": 1, "job": _ID, "tenant": "t", "kind": "summarize"}),
    "a huge text": "x" * 120_000,
    "a lone surrogate": "\ud800",
    "null": None,
    "true": True,
    "a number": 7,
    "a fraction": 7.5,
    "a number past all integers": Raw("1e300"),
    "an empty list": [],
    "a list": [{"v": 1, "job": _ID, "tenant": "t", "kind": "summarize"}],
    "an empty object": {},
    "a huge object": {f"member-{n}": "x" * 100 for n in range(1000)},
    "lists in lists": Raw("[" * 500 + "]" * 500),
    "lists in lists without end": Raw("[" * 1500 + "]" * 1500),
    "objects in objects without end": Raw('{"v":' * 1500 + "1" + "}" * 1500),
    "names that objects have anyway": {"constructor": 2, "to_py": 3, "then": 4, "length": 5},
    "another class's name": {"constructor": {"name": "Response"}},
    "no version": {"job": _ID, "tenant": "t", "kind": "summarize"},
    "a version that is null": {"v": None},
    "a version that is true": {"v": True},
    "a version that is text": {"v": "1"},
    "version 0": {"v": 0},
    "a version below 0": {"v": -1},
    "a version with a fraction": {"v": 1.5},
    "a version past all integers": Raw('{"v": 1e300}'),
    "a version that no database holds": Raw('{"v": 100000000000000000000}'),
    "the version alone": {"v": 1},
    "a job that is a number": {"v": 1, "job": 7, "tenant": "t", "kind": "summarize"},
    "a job that is null": {"v": 1, "job": None, "tenant": "t", "kind": "summarize"},
    "a short id": {"v": 1, "job": "job_1", "tenant": "t", "kind": "summarize"},
    "an id with a line's end": {"v": 1, "job": _ID + "\n", "tenant": "t", "kind": "summarize"},
    "an id of something else": {
        "v": 1,
        "job": "in_" + "0" * 26,
        "tenant": "t",
        "kind": "summarize",
    },
    "a tenant without a name": {"v": 1, "job": _ID, "tenant": "", "kind": "summarize"},
    "a tenant with a long name": {"v": 1, "job": _ID, "tenant": "t" * 65, "kind": "summarize"},
    "a tenant that is a list": {"v": 1, "job": _ID, "tenant": ["t"], "kind": "summarize"},
    "no kind": {"v": 1, "job": _ID, "tenant": "t"},
    "a kind that is an object": {"v": 1, "job": _ID, "tenant": "t", "kind": {}},
}


def letters(desk: Desk) -> list[dict[str, Any]]:
    """Return the dead letters of messages that name no job."""
    return desk.d1("SELECT * FROM dead_letters WHERE job_id IS NULL")


@pytest.fixture(autouse=True)
def no_letters(desk: Desk) -> Iterator[None]:
    """Bodies are known by their hash alone: what other tests sent must not be here already."""
    desk.d1("DELETE FROM dead_letters WHERE job_id IS NULL")
    yield
    desk.d1("DELETE FROM dead_letters WHERE job_id IS NULL")


@pytest.mark.parametrize("body", UNDECODABLE.values(), ids=UNDECODABLE)
def test_a_body_that_cannot_be_read_is_done_with_and_buried_once(desk: Desk, body: object) -> None:
    assert desk.deliver(body, queue=JOBS) == [ACK]
    assert desk.deliver(body, body, queue=JOBS, attempts=[2, 9]) == [ACK] * 2
    assert desk.deliver(body, queue=DEAD, attempts=4) == [ACK]

    (letter,) = letters(desk)
    assert (letter["road"], letter["code"]) == ("undecodable", "body_undecodable")
    assert (letter["queue"], letter["attempts"]) == (DEAD, 4)
    assert letter["id"] == f"dl_{letter['body_sha256'][:26]}"
    assert 1 <= len(letter["body_shape"]) <= SHAPE_LENGTH


def test_bodies_that_cannot_be_read_do_not_keep_their_neighbours_from_being_worked(
    desk: Desk,
) -> None:
    bodies = list(UNDECODABLE.values())
    first, middle, last = desk.job(), desk.job(), desk.job()
    messages = [desk.message(job) for job in (first, middle, last)]

    batch = [messages[0], *bodies[::2], messages[1], *bodies[1::2], messages[2]]
    assert desk.deliver(*batch) == [ACK] * len(batch)

    assert [desk.row(job)["state"] for job in (first, middle, last)] == ["succeeded"] * 3
    kept = letters(desk)
    assert len({letter["message_id"] for letter in kept}) == len(kept) == len(bodies)


def test_bodies_that_cannot_be_read_are_buried_from_the_dead_letter_queue_too(desk: Desk) -> None:
    bodies = list(UNDECODABLE.values())
    unknown = new_job_id()

    batch = [*bodies, desk.message(unknown)]
    assert desk.deliver(*batch, queue=DEAD) == [ACK] * len(batch)

    assert len(letters(desk)) == len(bodies)
    assert {letter["queue"] for letter in letters(desk)} == {DEAD}
    assert [letter["code"] for letter in desk.letters(unknown)] == ["job_unknown"]


def test_a_newer_message_waits_for_a_newer_consumer_and_is_buried_when_none_comes(
    desk: Desk,
) -> None:
    body = desk.message(new_job_id(), v=2)

    early = [desk.deliver(body, attempts=number) for number in range(1, 7)]
    assert early == [[_ROLLOUT_PAUSE]] * 6
    assert letters(desk) == []

    assert desk.deliver(body, attempts=7) == [ACK]
    assert desk.deliver(body, attempts=8) == [ACK]
    (letter,) = letters(desk)
    assert (letter["code"], letter["schema_version"]) == ("schema_newer", 2)


def test_a_newer_message_in_the_dead_letter_queue_is_buried_at_once(desk: Desk) -> None:
    assert desk.deliver(desk.message(new_job_id(), v=2), queue=DEAD) == [ACK]

    assert [letter["code"] for letter in letters(desk)] == ["schema_newer"]


def test_a_job_of_a_kind_that_nobody_knows_fails_when_no_newer_consumer_comes(desk: Desk) -> None:
    job = desk.job(kind="translate")
    before = desk.unchanging(job)
    body = desk.message(job, kind="translate")

    early = [desk.deliver(body, attempts=number) for number in range(1, 7)]
    assert early == [[_ROLLOUT_PAUSE]] * 6
    assert desk.unchanging(job) == before

    assert desk.deliver(body, attempts=7) == [ACK]
    row = desk.row(job)
    assert (row["state"], row["error_class"], row["error_code"]) == (
        "failed",
        "not_found",
        "kind_unknown",
    )
    (letter,) = desk.letters(job)
    assert (letter["road"], letter["code"]) == ("permanent", "kind_unknown")
    assert desk.calls(job) == []


@pytest.mark.parametrize(
    "columns", [SUCCEEDED, leased(ends_in=60)], ids=["an ended job", "a job that is being worked"]
)
def test_an_unknown_kind_leaves_a_job_alone_that_does_not_wait(
    desk: Desk, columns: dict[str, object]
) -> None:
    job = desk.job(**columns, kind="translate")
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job, kind="translate"), attempts=7) == [ACK]

    assert desk.unchanging(job) == before
    assert desk.letters(job) == []


def test_the_row_says_of_what_kind_a_job_is_whatever_a_message_claims(desk: Desk) -> None:
    job = desk.job()
    before = desk.unchanging(job)

    assert desk.deliver(desk.message(job, kind="translate"), attempts=7) == [ACK]

    assert desk.unchanging(job) == before


def test_a_message_of_an_unknown_kind_and_of_no_job_is_buried(desk: Desk) -> None:
    job = new_job_id()

    assert desk.deliver(desk.message(job, kind="translate"), attempts=7) == [ACK]

    assert [letter["code"] for letter in desk.letters(job)] == ["job_unknown"]
