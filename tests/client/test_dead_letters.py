"""Dead letters through the client and through ``uketsuke dlq``: found, understood, acted upon."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.client.command_run import Command, on_a_terminal, on_paper
from tests.client.letters import ATTEMPT, FINGERPRINT, LETTER, before_now, entry, group, letter
from tests.client.scripted import (
    JOB_ID,
    KEY,
    Answer,
    Received,
    ScriptedServer,
    ToldClock,
    job,
    problem,
)
from uketsuke_client import (
    ApiError,
    Client,
    DeadLetter,
    DeadLetterGroup,
    UnexpectedAnswer,
    Unreachable,
    Unsendable,
)
from uketsuke_client.command.age import age
from uketsuke_client.command.show_dead_letter import group_table, letter_list_table, letter_table

LIST = "/v1/dead-letters"
PATH = f"{LIST}/{LETTER}"
REDRIVE = f"{PATH}/redrive"
DISCARD = f"{PATH}/discard"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
AUDIT = f"/v1/audit?target={LETTER}&limit=200"
OPEN = f"{LIST}?status=open"


def posts(server: ScriptedServer) -> list[Received]:
    return [received for received in server.received if received.method == "POST"]


class Audited(ScriptedServer):
    """Audits an act under the id of the first POST that came, as the real server does."""

    def next_answer(self, request: Received) -> Answer:
        if request.path == AUDIT:
            name = posts(self)[0].headers["x-request-id"]
            self.answers("GET", AUDIT, Answer(body=page(entry(request_id=name))))
        return super().next_answer(request)


def page(*items: dict[str, object], following: str | None = None) -> dict[str, object]:
    return {"items": list(items), "next": following}


def test_a_dead_letter_is_read_with_its_times_and_its_attempts(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body=letter(attempts_history=[ATTEMPT, 5], novelty=1)))

    with Client(server.url, KEY) as client:
        found = client.dead_letter(LETTER)

    assert (found.failure_class, found.code, found.verdict) == (
        "unavailable",
        "provider_unavailable",
        "redrive",
    )
    assert found.replayable_until == datetime(2026, 12, 29, 10, tzinfo=UTC)
    (attempt,) = found.attempts_history
    assert (attempt.number, attempt.cost_usd, found.raw["novelty"]) == (1, "0.000213", 1)


def test_a_message_that_was_no_jobs_is_a_dead_letter_too(server: ScriptedServer) -> None:
    nobodys = letter(job_id=None, tenant_id=None, kind=None, road="undecodable", attempts=0)
    server.answers("GET", PATH, Answer(body=nobodys))

    with Client(server.url, KEY) as client:
        found = client.dead_letter(LETTER)

    assert (found.job_id, found.kind, found.attempts_history) == (None, None, [])


@pytest.mark.parametrize("missing", ["id", "status", "code"])
def test_what_is_no_dead_letter_is_refused(server: ScriptedServer, missing: str) -> None:
    server.answers("GET", PATH, Answer(body=letter(**{missing: None})))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="dead letter"):
        client.dead_letter(LETTER)


def test_a_list_is_asked_for_page_by_page_as_it_is_taken(server: ScriptedServer) -> None:
    first = f"{LIST}?status=open&class=refused&kind=embed&tenant=acme&fingerprint=a%3Ab%3A%3A"
    server.answers("GET", first, Answer(body=page(letter(), following=f"{LIST}?cursor=a")))
    server.answers("GET", f"{LIST}?cursor=a", Answer(body=page(letter(id="dl_2"))))

    with Client(server.url, KEY) as client:
        found = client.dead_letters(
            status="open",
            failure_class="refused",
            kind="embed",
            tenant="acme",
            fingerprint="a:b::",
        )
        assert next(found).id == LETTER
        assert len(server.received) == 1
        assert [each.id for each in found] == ["dl_2"]


@pytest.mark.parametrize("body", [page(group(count=None)), page(group(fingerprint=5)), {}])
def test_what_is_no_group_is_refused(server: ScriptedServer, body: object) -> None:
    server.answers("GET", f"{LIST}/groups?limit=200", Answer(body=body))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer):
        list(client.dead_letter_groups())


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_an_id_that_would_be_another_path_is_not_sent(server: ScriptedServer, name: str) -> None:
    with Client(server.url, KEY) as client, pytest.raises(Unsendable):
        client.redrive(name, reason="x")

    assert server.received == []


def test_a_redrive_sends_what_is_given_and_returns_the_new_job(server: ScriptedServer) -> None:
    new = job("accepted", id="job_2", redriven_from="job_1", origin="redrive")
    server.answers("POST", REDRIVE, Answer(status=202, body=new))

    with Client(server.url, KEY) as client:
        found = client.redrive(LETTER, reason="over")
        client.redrive(LETTER, reason="over", patch={"params": {"max_words": None}}, force=True)

    assert (found.id, found.redriven_from) == ("job_2", "job_1")
    plain, forced = posts(server)
    assert plain.json == {"reason": "over"}
    assert forced.json == {
        "reason": "over",
        "patch": {"params": {"max_words": None}},
        "force": True,
    }


def test_a_redrive_whose_answer_was_lost_gives_the_job_that_it_made() -> None:
    with Audited() as server, Client(server.url, KEY, clock=ToldClock().as_clock()) as client:
        taken = problem(409, "already_redriven", id="job_2")
        server.answers("POST", REDRIVE, Answer(dropped=True), taken)
        server.answers("GET", "/v1/jobs/job_2", Answer(body=job(id="job_2")))

        assert client.redrive(LETTER, reason="over").id == "job_2"

        names = {received.headers["x-request-id"] for received in posts(server)}
        assert (len(posts(server)), len(names)) == (2, 1)


@pytest.mark.parametrize(
    "audit", [Answer(body=page(entry())), Answer(body={}), problem(403, "forbidden")]
)
def test_a_redrive_that_somebody_else_made_is_told_with_its_job(
    server: ScriptedServer, audit: Answer
) -> None:
    server.answers("POST", REDRIVE, problem(409, "already_redriven", id="job_2"))
    server.answers("GET", AUDIT, audit)

    with Client(server.url, KEY) as client, pytest.raises(ApiError) as caught:
        client.redrive(LETTER, reason="over")

    assert (caught.value.code, caught.value.job_id) == ("already_redriven", "job_2")


def test_a_discard_whose_answer_was_lost_gives_the_letter() -> None:
    gone = letter(status="discarded", resolved_by="k1", reason="test data")
    with Audited() as server, Client(server.url, KEY, clock=ToldClock().as_clock()) as client:
        server.answers("POST", DISCARD, Answer(dropped=True), problem(409, "already_resolved"))
        server.answers("GET", PATH, Answer(body=gone))

        assert client.discard(LETTER, reason="test data").status == "discarded"


def test_a_discard_that_comes_second_is_told(server: ScriptedServer) -> None:
    server.answers("POST", DISCARD, problem(409, "already_resolved"))
    server.answers("GET", AUDIT, Answer(body=page(entry())))

    with Client(server.url, KEY) as client, pytest.raises(ApiError, match="already_resolved"):
        client.discard(LETTER, reason="test data")


def test_a_redrive_without_any_answer_is_unreachable(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("POST", REDRIVE, Answer(dropped=True))

    with (
        Client(server.url, KEY, clock=clock.as_clock(draw=0.5)) as client,
        pytest.raises(Unreachable),
    ):
        client.redrive(LETTER, reason="over")

    assert len(posts(server)) > 2


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(), "0 s ago"),
        (timedelta(seconds=59.9), "59 s ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=3, minutes=59), "3 h ago"),
        (timedelta(hours=47, minutes=59), "47 h ago"),
        (timedelta(days=2), "2 d ago"),
        (timedelta(hours=-3, minutes=-1), "in 3 h"),
    ],
)
def test_an_age_is_in_the_largest_unit_that_tells(ago: timedelta, words: str) -> None:
    assert age(NOW - ago, now=NOW.timestamp()) == words


def test_no_time_has_no_age() -> None:
    assert age(None, now=0.0) == ""


def test_list_shows_open_letters_a_line_each(server: ScriptedServer, command: Command) -> None:
    items = [letter(), letter(id="dl_2", job_id=None, tenant_id=None, kind=None)]
    server.answers("GET", OPEN, Answer(body=page(*items)))

    plain, with_json = command("dlq", "list"), command("dlq", "list", "--json")

    assert [line.split("\t") for line in plain.out.splitlines()] == [
        [LETTER, "2026-11-29 10:00:00.000 UTC", "acme", "summarize", "unavailable",
         "provider_unavailable", "redrive"],
        ["dl_2", "2026-11-29 10:00:00.000 UTC", "", "", "unavailable", "provider_unavailable",
         "redrive"],
    ]  # fmt: skip
    assert with_json.document == {"items": items}


def test_list_passes_its_filters_on_and_all_is_no_filter(
    server: ScriptedServer, command: Command
) -> None:
    narrow = f"{LIST}?class=refused&kind=embed&tenant=acme&fingerprint=a%3Ab"
    server.answers("GET", narrow, Answer(body=page(letter(status="redriven"))))

    ran = command(
        "dlq", "list", "--status", "all", "--class", "refused", "--kind", "embed",
        "--tenant", "acme", "--fingerprint", "a:b",
    )  # fmt: skip

    assert ran.out.split("\t")[-1] == "redriven\n"


def test_list_ends_at_its_limit_and_says_that_there_may_be_more(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", OPEN, Answer(body=page(*[letter()] * 3, following=f"{LIST}?cursor=a")))

    ran = command("dlq", "list", "--limit", "2")

    assert len(ran.out.splitlines()) == 2
    assert "--limit" in ran.err
    assert len(server.received) == 1


def test_where_there_is_none_it_is_said(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", OPEN, Answer(body=page()))
    server.answers("GET", f"{LIST}/groups?limit=200", Answer(body=page()))

    listed, grouped = command("dlq", "list"), command("dlq", "groups")

    assert (listed.code, listed.out, "No dead letter" in listed.err) == (0, "", True)
    assert (grouped.code, grouped.out, "No dead letter" in grouped.err) == (0, "", True)


@pytest.mark.parametrize("columns", [80, 120])
def test_eyes_see_the_id_whole_the_age_and_the_verdict(columns: int) -> None:
    hours_ago = NOW - timedelta(hours=3, minutes=5)
    found = DeadLetter.from_json(
        letter(last_failed_at=hours_ago.isoformat(), verdict="fix_configuration", kind="transcribe")
    )

    lines = on_paper(
        letter_list_table([found], width=columns, now=NOW.timestamp()), columns=columns
    )

    (line,) = [line for line in lines if LETTER in line]
    assert "3 h ago" in line
    assert "fix_configuration" in line
    whole = "\n".join(lines)
    assert "acme" in whole
    assert "unavailable, provider_unavailable" in whole


def test_a_terminal_shows_a_list_with_ages(server: ScriptedServer) -> None:
    body = page(letter(last_failed_at=before_now(hours=3, minutes=5)))
    server.answers("GET", OPEN, Answer(body=body))

    code, drawn = on_a_terminal(["dlq", "list"], url=server.url, columns=80)

    assert code == 0
    assert "3 h ago" in drawn
    assert "summarize of acme: unavailable, provider_unavailable" in drawn


def test_groups_show_what_they_have_in_common(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", f"{LIST}/groups?limit=200", Answer(body=page(group())))

    server.answers("GET", f"{LIST}/groups?tenant=acme&limit=200", Answer(body=page(group())))

    plain, with_json = command("dlq", "groups"), command("dlq", "groups", "--json")
    of_one = command("dlq", "groups", "--tenant", "acme")

    assert plain.out.rstrip("\n").split("\t") == [
        FINGERPRINT,
        "12",
        "3",
        "2026-11-26 10:00:00.000 UTC",
        "2026-11-29 10:00:00.000 UTC",
        "redrive",
    ]
    assert with_json.document == {"items": [group()]}
    assert of_one.out == plain.out


def test_eyes_see_a_groups_fingerprint_whole() -> None:
    seen = group(
        first_failed_at=(NOW - timedelta(days=3)).isoformat(),
        last_failed_at=(NOW - timedelta(minutes=2)).isoformat(),
    )

    lines = on_paper(
        group_table([DeadLetterGroup.from_json(seen)], now=NOW.timestamp()), columns=80
    )

    assert lines == [
        "count  tenants  first seen  last seen  verdict",
        "12     3        3 d ago     2 min ago  redrive",
        f"  {FINGERPRINT}",
    ]


def test_show_tells_what_went_wrong_and_what_may_follow(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, Answer(body=letter(attempts_history=[ATTEMPT])))

    plain, with_json = command("dlq", "show", LETTER), command("dlq", "show", LETTER, "--json")

    lines = plain.out.splitlines()
    assert lines[:5] == [
        f"id: {LETTER}",
        "status: open",
        f"failure: provider_unavailable (unavailable): {letter()['message']}",
        "verdict: redrive",
        "replayable: yes: Nothing is wrong with the input.",
    ]
    assert lines[-1] == (
        "attempt\t1\t2026-11-29 09:00:02.000 UTC\tfailed\tprovider_unavailable\textractive-e5\t"
        "$0.000213"
    )
    assert f"uketsuke dlq redrive {LETTER}" in plain.err
    assert with_json.document == letter(attempts_history=[ATTEMPT])


def test_show_tells_of_a_patch_where_only_that_can_help(
    server: ScriptedServer, command: Command
) -> None:
    hopeless = letter(verdict="fix_input", replayable=False, replayable_reason="It would fail.")
    server.answers("GET", PATH, Answer(body=hopeless))

    ran = command("dlq", "show", LETTER)

    assert "replayable: no: It would fail." in ran.out.splitlines()
    assert "--patch" in ran.err


def test_show_tells_what_was_done_already_and_suggests_nothing(
    server: ScriptedServer, command: Command
) -> None:
    resolved = letter(
        status="redriven",
        redrive_count=2,
        redriven_to="job_2",
        resolved_by="k1",
        resolved_at="2026-11-29T11:00:00.000Z",
        reason="the outage is over",
    )
    server.answers("GET", PATH, Answer(body=resolved))

    ran = command("dlq", "show", LETTER)

    for line in (
        "redrives of its line: 2",
        "redriven to: job_2",
        "resolved by: k1",
        "reason: the outage is over",
        "resolved: 2026-11-29 11:00:00.000 UTC",
    ):
        assert line in ran.out.splitlines()
    assert ran.err == ""


def test_eyes_see_a_letter_with_its_attempts() -> None:
    found = DeadLetter.from_json(letter(attempts_history=[ATTEMPT]))

    lines = on_paper(letter_table(found, now=NOW.timestamp()), columns=80)

    assert f"id                {LETTER}" in [line.rstrip() for line in lines]
    assert [line.split() for line in lines[-2:]] == [
        ["attempt", "ended", "outcome", "failure", "cost"],
        ["1", "2", "h", "ago", "failed", "provider_unavailable", "$0.000213"],
    ]


def test_redrive_prints_the_new_jobs_id(server: ScriptedServer, command: Command) -> None:
    new = job("accepted", id="job_2", redriven_from="job_1")
    server.answers("POST", REDRIVE, Answer(status=202, body=new))

    plain = command("dlq", "redrive", LETTER, "--reason", "over")
    with_json = command("dlq", "redrive", LETTER, "--reason", "over", "--force", "--json")

    assert (plain.code, plain.out) == (0, "job_2\n")
    assert "uketsuke status job_2 --follow" in plain.err
    assert with_json.document == new
    assert posts(server)[-1].json == {"reason": "over", "force": True}


def test_a_patch_is_given_as_json_or_by_a_file(
    server: ScriptedServer, command: Command, tmp_path: Path
) -> None:
    server.answers("POST", REDRIVE, Answer(status=202, body=job(id="job_2")))
    patch = {"input": {"text": "other"}}
    kept = tmp_path / "patch.json"
    kept.write_text(json.dumps(patch))

    for given in (json.dumps(patch), f"@{kept}"):
        assert command("dlq", "redrive", LETTER, "--reason", "r", "--patch", given).code == 0

    assert [received.json["patch"] for received in posts(server)] == [patch, patch]


@pytest.mark.parametrize(
    ("given", "words"),
    [("{", "not JSON"), ("5", "JSON object"), ("@/nowhere/at.all", "cannot be read")],
)
def test_a_patch_that_is_none_is_bad_input(
    server: ScriptedServer, command: Command, given: str, words: str
) -> None:
    ran = command("dlq", "redrive", LETTER, "--reason", "r", "--patch", given, "--json")

    assert ran.code == 2
    assert words in ran.err
    assert ran.document["code"] == "bad_input"
    assert server.received == []


def test_a_redrive_without_a_reason_is_wrong_usage(
    server: ScriptedServer, command: Command
) -> None:
    ran = command("dlq", "redrive", LETTER)

    assert ran.code == 2
    assert "--reason" in ran.err
    assert server.received == []


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (problem(409, "already_redriven", id="job_2"), 2, "uketsuke status job_2 --follow"),
        (problem(409, "already_resolved"), 2, "uketsuke dlq show"),
        (problem(409, "run_in_progress", id="job_live"), 5, "stays open. Follow the live job"),
        (problem(422, "not_replayable", detail='Send "force": true.'), 2, "--patch"),
        (problem(422, "input_gone"), 2, "--patch"),
        (problem(403, "forbidden"), 4, "forbidden"),
        (problem(404, "not_found"), 2, "Check the id"),
    ],
)
def test_each_refusal_of_a_redrive_says_how_to_go_on(
    server: ScriptedServer, command: Command, answer: Answer, code: int, words: str
) -> None:
    server.answers("POST", REDRIVE, answer)

    ran = command("dlq", "redrive", LETTER, "--reason", "r")

    assert (ran.code, ran.out) == (code, "")
    assert words in ran.err
    assert "--on-conflict" not in ran.err


def test_a_redrive_that_has_no_answer_says_that_it_may_be_said_again(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("POST", REDRIVE, Answer(dropped=True))

    ran = command("dlq", "redrive", LETTER, "--reason", "r")

    assert ran.code == 3
    assert "said again, it starts nothing twice" in ran.err


def test_discard_says_what_became_of_it(server: ScriptedServer, command: Command) -> None:
    gone = letter(status="discarded", reason="test data")
    server.answers("POST", DISCARD, Answer(body=gone))

    plain = command("dlq", "discard", LETTER, "--reason", "test data")
    with_json = command("dlq", "discard", LETTER, "--reason", "test data", "--json")

    assert (plain.code, plain.out) == (0, f"{LETTER}: discarded\n")
    assert with_json.document == gone
    assert posts(server)[0].json == {"reason": "test data"}


def test_a_job_shows_where_it_was_redriven_to(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", f"/v1/jobs/{JOB_ID}", Answer(body=job("failed", redriven_to="job_2")))

    ran = command("status", JOB_ID)

    assert "redriven to: job_2" in ran.out.splitlines()
