"""What each endpoint takes and answers, for the API's description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One endpoint. ``body`` and ``content`` are by media type; ``others`` are more successes.

    ``other_contents`` are what those hold, by their status, where it is another thing. What is
    ``tagged`` has an entity tag, and is not sent to whoever names it.
    """

    summary: str
    answer: str
    status: int = 200
    body: Schema | None = None
    content: Schema | None = None
    others: tuple[tuple[int, str], ...] = ()
    tagged: bool = False
    other_contents: tuple[tuple[int, Schema], ...] = ()
    body_required: bool = True
    headers: tuple[tuple[str, str], ...] = ()


def _json(name: str) -> Schema:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


_SAME_KEY: Final = (
    ("Idempotency-Key", "Under the same key the same request starts nothing twice."),
)
OPERATIONS: Final[Mapping[str, Operation]] = {
    "get_key": Operation(
        summary="See what your key is",
        answer="The key's id, its tenant if it has one, and its scopes.",
        content=_json("Key"),
        tagged=True,
    ),
    "list_jobs": Operation(
        summary="List jobs, newest first",
        answer="A page. It may be short, or empty, and still have a next one.",
        content=_json("JobList"),
        tagged=True,
    ),
    "count_jobs": Operation(
        summary="See how many jobs there are of each state",
        answer="A count for each state. A capped one was not looked at to the end: it may be more.",
        content=_json("JobCounts"),
        tagged=True,
    ),
    "submit_job": Operation(
        summary="Submit a job",
        status=202,
        answer="The job is durable, not done. Location says where to follow it.",
        body=_json("Submission"),
        content=_json("Job"),
        headers=_SAME_KEY,
    ),
    "get_job": Operation(
        summary="Look at a job",
        answer="The job, however it stands.",
        content=_json("Job"),
        tagged=True,
    ),
    "get_result": Operation(
        summary="Get a job's result",
        answer="The result of the job's kind. That of embed is also had as bare floats.",
        content={
            "application/json": {"schema": {"type": "object"}},
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
        },
        tagged=True,
    ),
    "cancel_job": Operation(
        summary="Cancel a job",
        answer="The job: canceled, or with the wish noted.",
        content=_json("Job"),
    ),
    "get_events": Operation(
        summary="Get a job's life so far",
        answer="Its events, oldest first.",
        content=_json("EventList"),
        tagged=True,
    ),
    "put_input": Operation(
        summary="Upload an input",
        status=201,
        answer="The input's name, for input.ref.",
        body={"*/*": {"schema": {"type": "string", "format": "binary"}}},
        content=_json("Upload"),
    ),
    "list_schedules": Operation(
        summary="List schedules",
        answer="A page of schedules.",
        content=_json("ScheduleList"),
        tagged=True,
    ),
    "get_schedule": Operation(
        summary="Look at a schedule",
        answer="The schedule.",
        content=_json("Schedule"),
        tagged=True,
    ),
    "put_schedule_document": Operation(
        summary="Make a schedule, or replace it",
        answer="It was replaced.",
        body=_json("ScheduleDocument"),
        content=_json("Schedule"),
        others=((201, "It was made."),),
    ),
    "delete_schedule": Operation(
        summary="Delete a schedule", status=204, answer="It is gone. Its jobs live on."
    ),
    "trigger_schedule": Operation(
        summary="Start a schedule's work now",
        status=202,
        answer="The job, started as by hand.",
        content=_json("Job"),
    ),
    "preview_cron": Operation(
        summary="See when a cron expression comes true",
        answer="The next times, as a schedule would have them. Nothing is kept.",
        content=_json("CronPreview"),
        tagged=True,
    ),
    "get_usage": Operation(
        summary="See what was used and what it cost",
        answer="A page, newest day first, and the totals of all pages.",
        content=_json("UsageList"),
        tagged=True,
    ),
    "list_dead_letters": Operation(
        summary="List dead letters, the last to fail first",
        answer="A page. It may be short, or empty, and still have a next one.",
        content=_json("DeadLetterList"),
        tagged=True,
    ),
    "list_dead_letter_groups": Operation(
        summary="See what has failed in the same way",
        answer="The largest groups first, on one page; of open letters, if nothing else is asked.",
        content=_json("DeadLetterGroupList"),
        tagged=True,
    ),
    "get_dead_letter": Operation(
        summary="Look at a dead letter",
        answer="The dead letter, with the history of its job's attempts.",
        content=_json("DeadLetter"),
        tagged=True,
    ),
    "get_metrics": Operation(
        summary="See how the deployment does",
        answer="Figures of now and of the last hour, and the conditions as the sweep left them.",
        content=_json("Metrics"),
    ),
    "list_alerts": Operation(
        summary="See how the objectives stand, and whether somebody was told",
        answer="All of them by name, on one page, as the sweep left them.",
        content=_json("AlertList"),
    ),
    "get_metrics_series": Operation(
        summary="See how the deployment did over time",
        answer="Every point of the range, oldest first. The last one is not over.",
        content=_json("MetricsSeries"),
        tagged=True,
    ),
    "scrape_metrics": Operation(
        summary="Scrape the figures, as Prometheus does",
        answer="OpenMetrics, or the classic text format for whoever wants that more.",
        content={
            "application/openmetrics-text": {"schema": {"type": "string"}},
            "text/plain": {"schema": {"type": "string"}},
        },
    ),
    "redrive_letter": Operation(
        summary="Redrive a dead letter",
        status=202,
        answer="The new job. The letter is the key: a repeat starts nothing, and needs no "
        "Idempotency-Key; it is refused with the id of the job that there is.",
        body=_json("RedriveBody"),
        content=_json("Job"),
    ),
    "discard_letter": Operation(
        summary="Discard a dead letter",
        answer="The dead letter, discarded.",
        body=_json("DiscardBody"),
        content=_json("DeadLetter"),
    ),
    "list_audit": Operation(
        summary="See who did what, newest first",
        answer="A page. It may be short, or empty, and still have a next one.",
        content=_json("AuditList"),
        tagged=True,
    ),
    "submit_redrive": Operation(
        headers=_SAME_KEY,
        summary="Redrive dead letters in bulk, or see what that would touch",
        status=202,
        answer="It is written down, and goes on by itself. Location says where to follow it.",
        body=_json("RedriveOrder"),
        content=_json("Redrive"),
        others=((200, "A dry run: what it would touch, and what that would cost."),),
        other_contents=((200, _json("RedriveEstimate")),),
    ),
    "list_redrives": Operation(
        summary="List bulk redrives, newest first",
        answer="A page of bulk redrives.",
        content=_json("RedriveList"),
        tagged=True,
    ),
    "get_redrive": Operation(
        summary="Look at a bulk redrive",
        answer="The bulk redrive, with its figures of now.",
        content=_json("Redrive"),
        tagged=True,
    ),
    "stop_redrive": Operation(
        summary="Stop a bulk redrive",
        answer="It starts nothing more. What it has started goes on.",
        body=_json("StopOrder"),
        body_required=False,
        content=_json("Redrive"),
    ),
    "get_doctor": Operation(
        summary="Hold the store against its invariants",
        answer="Each check: whether it holds, how many rows offend and some of them, what to do.",
        content=_json("Diagnosis"),
        tagged=True,
    ),
    "repair_store": Operation(
        summary="Mend what a check has found",
        answer="What was mended, and how many offenders are left. It may be repeated.",
        body=_json("RepairBody"),
        content=_json("RepairReport"),
    ),
    "get_health": Operation(
        summary="Ask whether the Worker lives", answer="It does.", content=_json("Status")
    ),
    "get_readiness": Operation(
        summary="Ask whether the Worker can work", answer="It can.", content=_json("Readiness")
    ),
    "get_openapi": Operation(
        summary="Get this description",
        answer="OpenAPI 3.1.",
        tagged=True,
        content={"application/json": {"schema": {"type": "object"}}},
    ),
}

_TEXT: Final[Schema] = {"type": "string"}
_DAY: Final[Schema] = {"type": "string", "format": "date"}
_TIME: Final[Schema] = {"type": "string", "format": "date-time"}
_TRUE: Final[Schema] = {"type": "string", "enum": ["true"]}
QUERY_PARAMETERS: Final[Mapping[str, tuple[Schema, str]]] = {
    "state": (_TEXT, "Only jobs in this state."),
    "status": (_TEXT, "Only dead letters of this status."),
    "class": (_TEXT, "Only failures of this class."),
    "fingerprint": (_TEXT, "Only what has failed in this way."),
    "past_triage": (_TRUE, "Only open dead letters that somebody should have looked at by now."),
    "expiring": (_TRUE, "Only open dead letters whose input goes soon."),
    "failed_after": (_TIME, "Only what failed last then or later."),
    "failed_before": (_TIME, "Only what failed last before."),
    "redrive_id": (_TEXT, "Only what this bulk redrive has redriven, the last first."),
    "kind": (_TEXT, "Only this kind."),
    "run_key": (_TEXT, "Only jobs under this run key."),
    "due": (
        {"type": "string", "enum": ["true", "false"]},
        "Only jobs that wait, accepted or retrying: those whose time has come, or the others.",
    ),
    "created_after": (_TIME, "Only jobs that were created then or later."),
    "created_before": (_TIME, "Only jobs that were created before."),
    "finished_after": (_TIME, "Only jobs that ended then or later."),
    "finished_before": (_TIME, "Only jobs that ended before."),
    "limit": ({"type": "integer", "minimum": 1, "maximum": 200, "default": 50}, "A page's length."),
    "cursor": (_TEXT, "Where the page begins; it comes in next."),
    "tenant": (_TEXT, "For operators: whose."),
    "range": (
        {"type": "string", "enum": ["hour", "day", "week"], "default": "hour"},
        "How far back: 60 minutes, 96 quarters of an hour, 168 hours.",
    ),
    "action": (_TEXT, "Only acts of this sort."),
    "target": (_TEXT, "Only what was done to this: a dead letter's id, or a bulk redrive's."),
    "check": (_TEXT, "Only this check."),
    "cron": (_TEXT, "Five fields, as in a schedule."),
    "timezone": ({"type": "string", "default": "UTC"}, "The IANA name of the zone."),
    "actor": (_TEXT, "Only what was done with the key of this id."),
    "from": (_DAY, "The first day, UTC; else 30 days are shown."),
    "to": (_DAY, "The last day, UTC, included; else today."),
}
