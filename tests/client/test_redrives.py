"""Bulk redrives through the client, ``uketsuke dlq redrive-all`` and ``uketsuke redrives``."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.client.command_run import Command, on_a_terminal, on_paper, started
from tests.client.letters import FINGERPRINT, RUN, entry, run
from tests.client.scripted import KEY, Answer, Received, ScriptedServer, ToldClock, problem
from uketsuke_client import (
    ApiError,
    Client,
    RedriveFilter,
    RedriveRun,
    StillRedriving,
    UnexpectedAnswer,
    Unreachable,
)
from uketsuke_client.command.show_redrive_run import run_list_table, run_table

LIST = "/v1/redrives"
PATH = f"{LIST}/{RUN}"
STARTED = "/v1/audit?action=redrive.started&limit=200"
PLAN = {"count": 12, "replayable": 10, "estimated_cost_usd": "0.05", "unpriced": 1}
ALL = ("dlq", "redrive-all", "--class", "unavailable")
WHY = ("--reason", "over")


def posts(server: ScriptedServer) -> list[Received]:
    return [received for received in server.received if received.method == "POST"]


def test_a_plan_sends_the_filter_and_that_nothing_is_to_be_done(server: ScriptedServer) -> None:
    server.answers("POST", LIST, Answer(body=PLAN))
    chosen = RedriveFilter(
        failure_class="timeout",
        kind="embed",
        fingerprint=FINGERPRINT,
        tenant="acme",
        before="2026-11-29T10:00:00Z",
    )

    with Client(server.url, KEY) as client:
        plan = client.plan_redrives(chosen)

    assert (plan.count, plan.replayable, plan.estimated_cost_usd) == (12, 10, "0.05")
    assert posts(server)[0].json == {
        "filter": {
            "class": "timeout",
            "kind": "embed",
            "fingerprint": FINGERPRINT,
            "tenant": "acme",
            "before": "2026-11-29T10:00:00Z",
        },
        "dry_run": True,
    }


@pytest.mark.parametrize("missing", ["count", "replayable"])
def test_what_is_no_plan_is_refused(server: ScriptedServer, missing: str) -> None:
    server.answers("POST", LIST, Answer(body={**PLAN, missing: None}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="dry run"):
        client.plan_redrives(RedriveFilter())


def test_a_start_sends_what_is_given_and_returns_how_it_stands(server: ScriptedServer) -> None:
    server.answers("POST", LIST, Answer(status=202, body=run("canary", novelty=1)))

    with Client(server.url, KEY) as client:
        found = client.start_redrives(
            RedriveFilter(kind="embed"), reason="over", rate_per_minute=30, canary=0
        )

    assert (found.id, found.state, found.ended, found.raw["novelty"]) == (RUN, "canary", False, 1)
    assert posts(server)[0].json == {
        "filter": {"kind": "embed"},
        "reason": "over",
        "rate_per_minute": 30,
        "canary": 0,
    }


@pytest.mark.parametrize("missing", ["id", "state"])
def test_what_is_no_bulk_redrive_is_refused(server: ScriptedServer, missing: str) -> None:
    server.answers("GET", PATH, Answer(body={**run(), missing: None}))

    with Client(server.url, KEY) as client, pytest.raises(UnexpectedAnswer, match="bulk redrive"):
        client.redrive_progress(RUN)


class Audited(ScriptedServer):
    """Audits the start under the id of the POST that came, as the real server does."""

    def next_answer(self, request: Received) -> Answer:
        if request.path == STARTED:
            name = posts(self)[0].headers["x-request-id"]
            act = entry(action="redrive.started", target=RUN, request_id=name)
            self.answers("GET", STARTED, Answer(body={"items": [act], "next": None}))
        return super().next_answer(request)


def test_a_start_whose_answer_was_lost_is_found_and_not_sent_twice() -> None:
    with Audited() as server, Client(server.url, KEY, clock=ToldClock().as_clock()) as client:
        server.answers("POST", LIST, Answer(dropped=True))
        server.answers("GET", PATH, Answer(body=run("canary")))

        assert client.start_redrives(RedriveFilter(), reason="over").id == RUN

        assert len(posts(server)) == 1


@pytest.mark.parametrize("answer", [Answer(dropped=True), problem(503, "unavailable")])
def test_a_start_of_which_nothing_is_known_is_an_error_and_not_sent_twice(
    server: ScriptedServer, clock: ToldClock, answer: Answer
) -> None:
    server.answers("POST", LIST, answer)
    server.answers("GET", STARTED, Answer(body={"items": [entry()], "next": None}))

    with (
        Client(server.url, KEY, clock=clock.as_clock()) as client,
        pytest.raises((Unreachable, ApiError)),
    ):
        client.start_redrives(RedriveFilter(), reason="over")

    assert len(posts(server)) == 1


def test_a_start_that_was_turned_away_at_the_door_is_sent_again(
    server: ScriptedServer, clock: ToldClock
) -> None:
    busy = problem(429, "rate_limited", headers={"retry-after": "1"})
    server.answers("POST", LIST, busy, Answer(status=202, body=run("canary")))

    with Client(server.url, KEY, clock=clock.as_clock()) as client:
        assert client.start_redrives(RedriveFilter(), reason="over").id == RUN

    assert len(posts(server)) == 2


def test_a_start_that_is_refused_is_told_at_once(server: ScriptedServer) -> None:
    server.answers("POST", LIST, problem(400, "invalid_request"))

    with Client(server.url, KEY) as client, pytest.raises(ApiError, match="invalid_request"):
        client.start_redrives(RedriveFilter(), reason="over")

    assert len(server.received) == 1


def test_a_start_at_a_server_that_is_not_there_is_tried_again(clock: ToldClock) -> None:
    with ScriptedServer() as gone:
        url = gone.url

    with Client(url, KEY, clock=clock.as_clock(draw=0.5)) as client, pytest.raises(Unreachable):
        client.start_redrives(RedriveFilter(), reason="over")

    assert len(clock.pauses) > 2


def test_a_stop_whose_answer_was_lost_is_said_again(
    server: ScriptedServer, clock: ToldClock
) -> None:
    server.answers("POST", f"{PATH}/stop", Answer(dropped=True), Answer(body=run("stopped")))

    with Client(server.url, KEY, clock=clock.as_clock()) as client:
        assert client.stop_redrives(RUN).ended


def test_each_change_is_told_once_to_the_end(server: ScriptedServer, clock: ToldClock) -> None:
    running = Answer(body=run())
    server.answers("GET", PATH, running, running, Answer(body=run("done", started=10)))
    seen: list[str] = []

    with Client(server.url, KEY, clock=clock.as_clock()) as client:
        client.wait_for_redrives(RUN, on_change=lambda each: seen.append(each.state))

    assert seen == ["running", "done"]
    assert clock.pauses == [2.0, 2.0]


def test_the_time_to_wait_ends_with_how_it_stands(server: ScriptedServer, clock: ToldClock) -> None:
    server.answers("GET", PATH, Answer(body=run()))

    with (
        Client(server.url, KEY, clock=clock.as_clock()) as client,
        pytest.raises(StillRedriving) as caught,
    ):
        client.wait_for_redrives(RUN, timeout=3.0)

    assert caught.value.run.started == 4
    assert clock.pauses == [2.0, 1.0]


def test_a_dry_run_says_what_would_be_touched_and_starts_nothing(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("POST", LIST, Answer(body=PLAN))

    plain, with_json = command(*ALL, "--dry-run"), command(*ALL, "--dry-run", "--json")

    assert plain.out.splitlines() == [
        "12 open dead letters match; 10 would be redriven as they are.",
        "2 stay open: each needs a patch, or is past help.",
        "An attempt of each costs at most $0.05 in all. The price of 1 is not known.",
    ]
    assert with_json.document == PLAN
    assert all(received.json["dry_run"] for received in posts(server))


def test_without_a_terminal_nothing_is_done_unless_it_is_said(
    server: ScriptedServer, command: Command
) -> None:
    for argv in ((*ALL, *WHY), (*ALL, *WHY, "--json")):
        ran = command(*argv)

        assert ran.code == 2
        assert "add --yes" in ran.err

    assert server.received == []


def test_no_reason_is_told_before_anything_is_asked(
    server: ScriptedServer, command: Command
) -> None:
    ran = command(*ALL, "--yes")

    assert ran.code == 2
    assert "--reason" in ran.err
    assert server.received == []


def test_yes_starts_it_after_the_dry_run_and_prints_its_id(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("POST", LIST, Answer(body=PLAN), Answer(status=202, body=run("canary")))

    ran = command(*ALL, *WHY, "--rate", "30", "--canary", "1", "--yes")

    assert (ran.code, ran.out) == (0, f"{RUN}\n")
    assert "12 open dead letters match" in ran.err
    assert f"uketsuke redrives stop {RUN}" in ran.err
    dry, real = (received.json for received in posts(server))
    assert dry == {"filter": {"class": "unavailable"}, "reason": "over", "dry_run": True}
    assert real == {
        "filter": {"class": "unavailable"},
        "reason": "over",
        "rate_per_minute": 30,
        "canary": 1,
    }


def test_where_nothing_is_replayable_nothing_is_started(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("POST", LIST, Answer(body={**PLAN, "replayable": 0}))

    plain, with_json = command(*ALL, *WHY, "--yes"), command(*ALL, *WHY, "--yes", "--json")

    assert (plain.code, plain.out) == (0, "")
    assert "nothing to redrive" in plain.err
    assert with_json.document == {**PLAN, "replayable": 0}
    assert all(received.json["dry_run"] for received in posts(server))


@pytest.mark.parametrize(("typed", "code", "sent"), [("y\n", 0, 2), ("\x04", 130, 1)])
def test_a_terminal_is_asked_before_anything_is_done(
    server: ScriptedServer, typed: str, code: int, sent: int
) -> None:
    server.answers("POST", LIST, Answer(body=PLAN), Answer(status=202, body=run("canary")))

    ended, drawn = on_a_terminal([*ALL, *WHY], url=server.url, typed=typed)

    assert (ended, len(posts(server))) == (code, sent)
    assert "12 open dead letters match" in drawn
    assert "Redrive them? [y/N]" in drawn
    assert "Traceback" not in drawn


def test_a_start_that_has_no_answer_says_where_to_look(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("POST", LIST, Answer(body=PLAN), Answer(dropped=True))

    ran = command(*ALL, *WHY, "--yes")

    assert ran.code == 3
    assert "Whether it was started: uketsuke redrives list" in ran.err


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (run("done", started=10, succeeded=10), 0, "done, 10 of 10 started"),
        (run("stopped", stopped_because="canaries_failed"), 1, "canaries_failed"),
    ],
)
def test_following_ends_as_it_ends(
    server: ScriptedServer, command: Command, end: dict[str, object], code: int, words: str
) -> None:
    server.answers("POST", LIST, *[Answer(body=PLAN), Answer(status=202, body=run("canary"))] * 2)
    server.answers("GET", PATH, Answer(body=end))

    plain = command(*ALL, *WHY, "--yes", "--follow")
    with_json = command(*ALL, *WHY, "--yes", "--follow", "--json")

    assert plain.code == code
    assert words in plain.err
    assert (with_json.code, with_json.document) == (code, end)


def test_following_tells_each_step_and_ends_with_its_time(
    server: ScriptedServer, command: Command
) -> None:
    server.answers("GET", PATH, Answer(body=run()))

    ran = command("redrives", "follow", RUN, "--timeout", "0")

    assert ran.code == 5
    assert "running, 4 of 10 started, 3 succeeded, 1 failed" in ran.err
    assert f"uketsuke redrives stop {RUN}" in ran.err


def test_ctrl_c_while_following_leaves_it_going(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body=run()))
    process = started(
        ["redrives", "follow", RUN], url=server.url, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )

    server.wait_for(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)

    assert (process.returncode, out) == (130, b"")
    assert b"It goes on." in err
    assert {received.method for received in server.received} == {"GET"}


def test_a_terminal_sees_it_live(server: ScriptedServer) -> None:
    server.answers("GET", PATH, Answer(body=run("done", started=10)))

    code, drawn = on_a_terminal(["redrives", "follow", RUN], url=server.url)

    assert code == 0
    assert "0:00:00" in drawn
    assert "done, 10 of 10 started" in drawn


def test_list_has_a_line_for_each(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", LIST, Answer(body={"items": [run()], "next": None}))

    plain, with_json = command("redrives", "list"), command("redrives", "list", "--json")

    assert plain.out.rstrip("\n").split("\t") == [
        RUN, "2026-11-29 10:00:00.000 UTC", "running", "4/10", "3", "1", "the outage is over",
    ]  # fmt: skip
    assert with_json.document == {"items": [run()]}


def test_an_empty_list_is_said(server: ScriptedServer, command: Command) -> None:
    server.answers("GET", LIST, Answer(body={"items": [], "next": None}))

    ran = command("redrives", "list")

    assert (ran.code, ran.out) == (0, "")
    assert "no bulk redrive" in ran.err


def test_show_tells_what_was_asked_and_why_it_stopped(
    server: ScriptedServer, command: Command
) -> None:
    stopped = run(
        "stopped",
        stopped_because="canaries_failed",
        stopped_detail="3 of 3 failed again.",
        canceled=1,
        skipped=2,
        skipped_because={"needs_force": 2, "novelty": "x"},
    )
    server.answers("GET", PATH, Answer(body=stopped))

    plain, with_json = command("redrives", "show", RUN), command("redrives", "show", RUN, "--json")

    assert plain.out.splitlines() == [
        f"id: {RUN}",
        "state: stopped",
        "stopped because: canaries_failed; 3 of 3 failed again.",
        "started: 4 of 10",
        "succeeded: 3",
        "failed: 1",
        "canceled: 1",
        "passed over: 2: needs_force",
        "reason: the outage is over",
        "only class: unavailable",
        "rate: 60 a minute",
        "canaries: 3",
        "began: 2026-11-29 10:00:00.000 UTC",
    ]
    assert with_json.document == stopped


def test_eyes_see_a_list_and_one_of_it_at_80_columns() -> None:
    found = RedriveRun.from_json(run("stopped", stopped_because="asked", stopped_by="k1"))

    listed = on_paper(run_list_table([found], now=1_795_946_400.0 + 180), columns=80)
    shown = on_paper(run_table(found), columns=80)

    assert listed[1].startswith(f"{RUN}  ")
    assert "4/10" in listed[1]
    assert listed[2] == "  the outage is over; stopped: asked; by the key k1"
    assert shown[0].split() == ["id", RUN]


def test_stop_says_how_far_it_has_come(server: ScriptedServer, command: Command) -> None:
    server.answers("POST", f"{PATH}/stop", Answer(body=run("stopped")))

    plain = command("redrives", "stop", RUN, "--reason", "wrong group")
    with_json = command("redrives", "stop", RUN, "--json")

    assert (plain.code, plain.out) == (
        0,
        f"{RUN}: stopped, 4 of 10 started, 3 succeeded, 1 failed\n",
    )
    assert with_json.document == run("stopped")
    assert [received.json for received in posts(server)] == [{"reason": "wrong group"}, {}]


def test_what_no_price_is_known_of_is_said(server: ScriptedServer, command: Command) -> None:
    server.answers("POST", LIST, Answer(body={"count": 1, "replayable": 1}))

    ran = command(*ALL, "--dry-run")

    assert ran.out.splitlines() == [
        "1 open dead letter matches; 1 would be redriven as they are.",
        "What that costs is not known: no price of their models is.",
    ]
