"""The figures of the real stack, held against a count of its tables and read by real parsers.

The stack is one of all tests: what is compared is what was added since a test began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import httpx
import pytest
from prometheus_client.openmetrics import parser

from tests.acceptance.runs import Desk
from tests.support.counted import ATTEMPTS, JOBS, counted
from tests.support.running import Stack, until

NAMES = {
    "uketsuke_jobs_accepted_total": "accepted",
    "uketsuke_attempts_total": "attempts",
    "uketsuke_attempts_failed_total": "failed_attempts",
    "uketsuke_attempts_retried_total": "retried",
    "uketsuke_attempts_unknown_cost_total": "unknown_costs",
    "uketsuke_cost_usd_total": "cost_micros",
    "uketsuke_failed_cost_usd_total": "failed_cost_micros",
}
Figures = Mapping[tuple[str, str], float]


def scraped(stack: Stack) -> Figures:
    """What a scrape tells of each kind, by the names of ``counted``."""
    with stack.api("operator_key") as operator:
        text = operator.get("/metrics").raise_for_status().text
    found: Counter[tuple[str, str]] = Counter()
    for family in parser.text_string_to_metric_families(text):
        for sample in family.samples:
            labels = sample.labels
            name = NAMES.get(sample.name)
            if sample.name == "uketsuke_jobs_failed_total":
                name = f"failed.{labels['class']}"
            elif sample.name == "uketsuke_jobs_finished_total" and labels["state"] != "failed":
                name = labels["state"]
            if name:
                scale = 1_000_000 if name.endswith("micros") else 1
                found[labels["kind"], name] += round(sample.value * scale)
    return found


def by_brute_force(stack: Stack) -> Figures:
    kinds = counted(stack.d1(JOBS), stack.d1(ATTEMPTS))
    told = {*NAMES.values(), "succeeded", "canceled"}
    return {
        (kind, name): value
        for kind, counts in kinds.items()
        for name, value in counts.items()
        if name in told or name.startswith("failed.")
    }


def both(stack: Stack) -> tuple[Figures, Figures]:
    """What is told and what there is, at a moment at which nothing moves."""
    while True:
        stack.sweep()
        before, there = scraped(stack), by_brute_force(stack)
        if scraped(stack) == before:
            return before, there


def more(now: Figures, before: Figures) -> Figures:
    return {
        key: round(now.get(key, 0) - before.get(key, 0))
        for key in now.keys() | before.keys()
        if now.get(key, 0) != before.get(key, 0)
    }


def test_what_mixed_jobs_add_to_the_figures_is_what_they_add_to_the_tables(
    stack: Stack, desk: Desk
) -> None:
    told, there = both(stack)
    short = "受付は依頼を一度だけ受け取る。"
    jobs = [
        desk.post(text=short),
        desk.post(text=short),
        desk.post({"status": 503}, text=short),
        desk.post({"body": "refusal"}, text=short),
        desk.post({"status": 503}, text=short, max_attempts=1),
        desk.post({"status": 422}),
        desk.post({"seconds": 2}),
    ]
    ids = [job.json()["id"] for job in jobs]
    desk.api.post(f"/v1/jobs/{ids[-1]}/cancel")
    until(lambda: all(desk.shown(job)["terminal"] for job in ids), within=60)

    def agree() -> Figures | None:
        now_told, now_there = both(stack)
        added = more(now_told, told)
        return added if added == more(now_there, there) else None

    added = until(agree, within=60, every=0.5)
    assert added["summarize", "accepted"] >= 7
    assert added["summarize", "succeeded"] >= 3
    assert added["summarize", "retried"] >= 1
    assert added["summarize", "canceled"] >= 1
    assert sum(value for (_, name), value in added.items() if name.startswith("failed.")) >= 3


def test_the_views_agree_and_tell_no_more_than_numbers(stack: Stack, desk: Desk) -> None:
    secret = "見せてはならない文。"
    job = desk.post(text=secret).json()["id"]
    until(lambda: desk.shown(job)["terminal"])

    with stack.api("operator_key") as operator:
        metrics = operator.get("/v1/metrics")
        series = operator.get("/v1/metrics/series?range=hour")
        scrape = operator.get("/metrics")

    hour, points = metrics.json()["last_hour"], series.json()["points"]
    assert hour["succeeded"] >= 1
    assert sum(point["succeeded"] for point in points) >= hour["succeeded"] - 1
    assert hour["run_seconds"]["p50"] > 0
    assert hour["queue_seconds"]["p99"] >= hour["queue_seconds"]["p50"]
    assert metrics.json()["sweep_lag_seconds"] >= 0
    for answer in (metrics, series, scrape):
        assert secret not in answer.text
        assert job not in answer.text
        assert stack.tenant_of(desk.key) not in answer.text


@pytest.mark.parametrize("key", ["tenant_key", None])
def test_only_operators_are_told(stack: Stack, key: str | None) -> None:
    with stack.api(key) as somebody:
        answers: list[httpx.Response] = [
            somebody.get(path) for path in ("/metrics", "/v1/metrics", "/v1/metrics/series")
        ]

    assert {answer.status_code for answer in answers} == {403 if key else 401}
