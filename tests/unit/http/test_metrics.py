"""``GET /v1/metrics``, its series, and ``/metrics``: what is told, in which form, and to whom."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import pairwise

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.http.office import Office, run
from tests.unit.http.test_triage import put
from tests.unit.http.world import World, assert_problem
from uketsuke.domain.condition import LetterFigures, Measure, measures_of
from uketsuke.domain.objective import DEFAULT_OBJECTIVES, bounds_of
from uketsuke.http.exposition import Family, Format, Sample, Sort, write_families

NONE = LetterFigures(open=0, past_triage=0, expiring=0, last_hour=0, hour_before=0)


def measured(figures: LetterFigures) -> Sequence[Measure]:
    return measures_of(figures, dlq_oldest=None, bounds=bounds_of(DEFAULT_OBJECTIVES))


def test_before_any_sweep_there_are_figures_and_no_conditions(
    world: World, operator_key: str
) -> None:
    put(world, 1)
    put(world, 2, triage_due_at=1)

    answer = world.send("GET", "/v1/metrics", key=operator_key)

    letters = answer.document["dead_letters"]
    assert (letters["open"], letters["past_triage"], letters["expiring"]) == (2, 1, 0)
    assert answer.document["conditions"] == []
    nobody = {"backlog": None, "oldest_seconds": None}
    assert answer.document["queues"] == {"uketsuke-jobs": nobody, "uketsuke-jobs-dlq": nobody}
    assert answer.document["rolled_at"] is None
    assert answer.document["sweep_lag_seconds"] is None


def test_conditions_are_shown_as_the_sweep_left_them(world: World, admin_key: str) -> None:
    figures = LetterFigures(open=3, past_triage=0, expiring=0, last_hour=30, hour_before=16)
    asyncio.run(world.conditions.keep(measured(figures)))

    document = world.send("GET", "/v1/metrics", key=admin_key).document

    shown = {each.pop("name"): each for each in document["conditions"]}
    held = shown["dead_letters_open"]
    assert held["holds"]
    assert held["since"] == held["computed_at"]
    assert (held["value"], held["limit"], held["compared_to"]) == (3, 0, None)
    growth = shown["dead_letters_growth"]
    assert (growth["value"], growth["limit"], growth["compared_to"]) == (30, 32, 16)
    assert (growth["holds"], growth["since"]) == (False, None)
    assert shown["dlq_oldest_seconds"]["value"] is None
    assert not shown["dlq_oldest_seconds"]["holds"]
    assert document["dead_letters"]["open"] == 0
    assert len(shown) == 5


def test_tenants_are_told_nothing(world: World, tenant_key: str) -> None:
    for path in ("/v1/metrics", "/v1/metrics/series", "/metrics"):
        assert_problem(world.send("GET", path, key=tenant_key), 403, "forbidden")


def test_many_dead_letters_are_told_as_the_sweep_has_counted_them(
    world: World, operator_key: str
) -> None:
    sql = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10001)
        INSERT INTO dead_letters (id, road, class, code, first_failed_at, last_failed_at,
                                  triage_due_at)
        SELECT 'dl_' || i, 'crashed', 'crashed', 'x', 1, 1, 1 FROM n
        """
    world.database.connection.execute(sql)
    before = world.send("GET", "/v1/metrics", key=operator_key).document["dead_letters"]
    figures = asyncio.run(world.conditions.figures())
    asyncio.run(world.conditions.keep(measured(figures)))

    letters = world.send("GET", "/v1/metrics", key=operator_key).document["dead_letters"]

    assert (before["open"], letters["open"], letters["past_triage"]) == (0, 10_001, 10_001)


WORKED = """
    INSERT INTO metrics_state (id, revision, rolled_at, usage_rows, seen, live, totals, gauges)
    VALUES (1, 1, {now}, 0, '{{}}', '{{}}', '{{"embed": {figures}}}',
            '{{"at": {now}, "live": [], "skew_ms": 7, "queues":
              {{"uketsuke-jobs": {{"backlog": 3, "oldest_ms": 4500}}}}}}')
    ON CONFLICT DO UPDATE SET revision = 1, rolled_at = {now}, totals = excluded.totals,
                              live = excluded.live, gauges = excluded.gauges
"""
FIGURES = {
    "accepted": 12, "succeeded": 6, "failed.timeout": 1, "failed.refused": 1, "canceled": 2,
    "attempts": 10, "failed_attempts": 3, "retried": 1, "cost_micros": 2_500_000,
    "failed_cost_micros": 400_000, "unknown_costs": 0, "waited_ms": 1000, "ran_ms": 60_000,
    "q100": 10, "r2000": 5, "r10000": 5,
}  # fmt: skip


def work(world: World, **figures: int) -> None:
    """Let there have been some work, rolled up just now."""
    now = int(time.time() * 1000)
    text = json.dumps({**FIGURES, **figures})
    connection = world.database.connection
    connection.execute(WORKED.format(now=now, figures=text))
    for step, length in (("minute", 60_000), ("hour", 3_600_000)):
        point = (step, now // length * length, "embed", text)
        connection.execute("INSERT INTO metrics_points VALUES (?, ?, ?, ?)", point)
        seen = (step, now // length * length, "", '{"waiting_ms": 90000}')
        connection.execute("INSERT INTO metrics_points VALUES (?, ?, ?, ?)", seen)


def test_the_last_hour_is_told_in_counts_rates_times_and_money(
    world: World, operator_key: str
) -> None:
    work(world)

    document = world.send("GET", "/v1/metrics", key=operator_key).document

    hour = document["last_hour"]
    assert (hour["succeeded"], hour["failed"], hour["canceled"]) == (6, 2, 2)
    assert (hour["success_rate"], hour["retry_rate"]) == (0.75, 0.1)
    assert hour["failed_by_class"] == {"timeout": 1, "refused": 1}
    assert (hour["cost_usd"], hour["failed_cost_usd"]) == ("2.500000", "0.400000")
    assert hour["finished_per_minute"] == round(10 / 60, 3)
    assert hour["queue_seconds"] == {"p50": 0.075, "p95": 0.098, "p99": 0.1}
    assert hour["run_seconds"]["p50"] == 2
    assert hour["run_seconds"]["p95"] == 9.5
    assert hour["by_kind"]["embed"]["succeeded"] == 6
    assert document["queues"]["uketsuke-jobs"] == {"backlog": 3, "oldest_seconds": 4}
    assert document["clock_skew_seconds"] == 0.007
    assert document["oldest_waiting_seconds"] is None


def test_the_oldest_jobs_are_named(office: Office) -> None:
    async def main() -> None:
        async def named() -> tuple[str | None, str | None]:
            told = (await office.send("GET", "/v1/metrics")).document
            return told["oldest_waiting_job_id"], told["oldest_running_job_id"]

        before = await named()
        job = await office.world.submitted()

        assert before == (None, None)
        assert await named() == (job.id, None)

    run(office, main)


def test_an_older_versions_roll_up_names_no_oldest_job(world: World, operator_key: str) -> None:
    work(world)
    live = (
        '[{"kind": "embed", "state": "running", "jobs": 20000, "due": 0, "oldest_ms": 5000,'
        ' "oldest_due_ms": null}]'
    )
    world.database.connection.execute(
        "UPDATE metrics_state SET gauges = json_set(gauges, '$.live', json(?))", (live,)
    )

    gauges = asyncio.run(world.metrics.read())[0].rolled.gauges

    assert gauges
    assert gauges.backlog.oldest_running_id is None


def test_nothing_known_is_not_zero(world: World, operator_key: str) -> None:
    work(world, cost_micros=0, failed_cost_micros=0, unknown_costs=2)

    hour = world.send("GET", "/v1/metrics", key=operator_key).document["last_hour"]

    assert (hour["cost_usd"], hour["failed_cost_usd"]) == (None, None)
    assert hour["unknown_cost_attempts"] == 2


@pytest.mark.parametrize(
    ("asked", "step", "count"), [("hour", 60, 60), ("day", 900, 96), ("week", 3600, 168)]
)
def test_a_series_has_every_point_of_its_range_and_zeros_where_nothing_was(
    world: World, operator_key: str, asked: str, step: int, count: int
) -> None:
    work(world)

    answer = world.send("GET", f"/v1/metrics/series?range={asked}", key=operator_key)

    points = answer.document["points"]
    starts = [datetime.fromisoformat(point["at"]).timestamp() for point in points]
    assert answer.document["step_seconds"] == step
    assert len(points) == count
    assert all(later - earlier == step for earlier, later in pairwise(starts))
    assert all(start % step == 0 for start in starts)
    assert (points[0]["succeeded"], points[0]["cost_usd"]) == (0, "0.000000")
    untold = ("success_rate", "retry_rate", "run_seconds_p95", "waiting_seconds")
    assert [points[0][name] for name in untold] == [None] * 4
    busy = [point for point in points if point["accepted"]]
    assert [point["accepted"] for point in busy] == [12]
    assert (busy[0]["failed"], busy[0]["retried"], busy[0]["waiting_seconds"]) == (2, 1, 90)
    assert busy[0]["run_seconds_p95"] == 9.5


@pytest.mark.parametrize("query", ["range=year", "range=", "range=day&range=week", "from=1"])
def test_other_ranges_are_refused(world: World, operator_key: str, query: str) -> None:
    answer = world.send("GET", f"/v1/metrics/series?{query}", key=operator_key)

    assert_problem(answer, 400, "invalid_request")


def test_a_scrape_is_what_the_parser_of_openmetrics_reads(world: World, operator_key: str) -> None:
    work(world)
    asyncio.run(world.conditions.keep(measured(NONE)))

    answer = world.send("GET", "/metrics", key=operator_key)

    told = samples(openmetrics.text_string_to_metric_families(answer.body.decode()))
    kind = {"kind": "embed"}
    assert answer.headers["content-type"] == (
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    )
    assert told("uketsuke_jobs_accepted_total", kind) == 12
    assert told("uketsuke_jobs_finished_total", {**kind, "state": "succeeded"}) == 6
    assert told("uketsuke_jobs_failed_total", {**kind, "class": "timeout"}) == 1
    assert told("uketsuke_cost_usd_total", kind) == 2.5
    assert told("uketsuke_run_seconds_bucket", {**kind, "le": "2.0"}) == 5
    assert told("uketsuke_run_seconds_bucket", {**kind, "le": "+Inf"}) == 10
    assert told("uketsuke_run_seconds_sum", kind) == 60
    assert told("uketsuke_run_seconds_count", kind) == 10
    assert told("uketsuke_queue_messages", {"queue": "uketsuke-jobs"}) == 3
    assert told("uketsuke_condition", {"name": "dead_letters_open"}) == 0
    assert told("uketsuke_late_writes_total", {}) == 0


def test_the_classic_parser_reads_the_same_from_whoever_wants_plain_text(
    world: World, operator_key: str
) -> None:
    work(world)
    rather_plain = {"accept": "application/openmetrics-text;q=0.4,text/plain;version=0.0.4;q=0.5"}

    plain = world.send("GET", "/metrics", key=operator_key, headers=rather_plain)
    usual = world.send("GET", "/metrics", key=operator_key)

    assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert plain.headers["vary"] == "Authorization, Accept"
    assert b"EOF" not in plain.body
    classic = every(text_string_to_metric_families(plain.body.decode()))
    modern = every(openmetrics.text_string_to_metric_families(usual.body.decode()))
    passing = {"uketsuke_outbox_lag_seconds", "uketsuke_sweep_lag_seconds"}
    assert classic.keys() == modern.keys()
    assert {k: v for k, v in classic.items() if k[0] not in passing} == {
        k: v for k, v in modern.items() if k[0] not in passing
    }


def test_a_kind_whose_last_job_has_ended_has_a_backlog_of_none_and_not_no_backlog(
    world: World, operator_key: str
) -> None:
    work(world)

    text = world.send("GET", "/metrics", key=operator_key).body.decode()

    told = samples(openmetrics.text_string_to_metric_families(text))
    for state in ("accepted", "running", "retrying"):
        assert told("uketsuke_backlog_jobs", {"kind": "embed", "state": state}) == 0
    assert told("uketsuke_backlog_ready_jobs", {"kind": "embed"}) == 0


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        (None, "application/openmetrics-text"),
        ("*/*", "application/openmetrics-text"),
        ("text/html", "application/openmetrics-text"),
        ("text/plain", "text/plain"),
        (
            "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.1",
            "application/openmetrics-text",
        ),
    ],
)
def test_the_format_is_what_the_scraper_wants(
    world: World, operator_key: str, accept: str | None, form: str
) -> None:
    headers = {"accept": accept} if accept else {}

    answer = world.send("GET", "/metrics", key=operator_key, headers=headers)

    assert answer.headers["content-type"].startswith(form + ";")


def test_no_label_grows_with_tenants_or_jobs(world: World, operator_key: str) -> None:
    work(world)

    text = world.send("GET", "/metrics", key=operator_key).body.decode()

    names = {
        name
        for family in openmetrics.text_string_to_metric_families(text)
        for sample in family.samples
        for name in sample.labels
    }
    assert names <= {"kind", "state", "class", "queue", "name", "le"}


def test_a_label_may_hold_what_a_kind_may_be_named() -> None:
    odd = 'a "kind"\\with\na line'
    family = Family(
        name="x", sort=Sort.GAUGE, about="X.", samples=(Sample(labels={"kind": odd}, value=1),)
    )

    text = write_families([family], form=Format.OPEN_METRICS)

    ((told),) = openmetrics.text_string_to_metric_families(text)
    assert told.samples[0].labels == {"kind": odd}


def every(families: Iterable[Metric]) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Every sample, by its name and labels. None is told twice."""
    found = {}
    for family in families:
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found
            found[key] = sample.value
    return found


def samples(families: Iterable[Metric]) -> Callable[[str, dict[str, str]], float]:
    found = every(families)
    return lambda name, labels: found[name, tuple(sorted(labels.items()))]
