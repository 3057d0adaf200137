"""One JSON object a line, an event in the past tense; names and fields only from fixed lists.

No content, no key, no foreign error text can get in: there is no field for it. The names with dots
are OpenTelemetry's (decision 0021); ``docs/logs.md`` says what each field means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypedDict, Unpack

Level = Literal["info", "warning", "error"]
EventName = Literal[
    "alert_fired",
    "alert_resolved",
    "alerts_not_told",
    "bad_settings",
    "dead_message_outlived",
    "dead_message_put_off",
    "doctor_repaired",
    "duty_done",
    "duty_failed",
    "job_accepted",
    "job_cancel_requested",
    "job_canceled",
    "job_deferred",
    "job_failed",
    "job_leased",
    "job_redriven",
    "job_retrying",
    "job_sent_again",
    "job_succeeded",
    "job_taken_back",
    "lane_not_told",
    "lane_opened",
    "lane_parked",
    "late_write_refused",
    "lease_lost",
    "letter_not_redriven",
    "message_buried",
    "occurrence_skipped",
    "occurrence_started",
    "orphan_left",
    "paid_result_lost",
    "provider_called",
    "redrive_broke_off",
    "request_answered",
    "run_began",
    "run_not_asked",
    "run_nudged",
    "schedule_unreadable",
    "send_failed",
    "start_failed",
    "stream_broke",
    "terminate_failed",
    "unexpected_error",
]


class Told(NamedTuple):
    """How loud an event is, and what it means."""

    level: Level
    meaning: str


# The wording of all of them; docs/logs.md has the same table.
EVENTS: Final[Mapping[EventName, Told]] = MappingProxyType(
    {
        "request_answered": Told("info", "an HTTP request got its answer; one line each"),
        "job_accepted": Told("info", "the job is durable; its first transition"),
        "job_leased": Told("info", "an attempt began"),
        "provider_called": Told("info", "a call of a model ended, well or not"),
        "job_deferred": Told("info", "the attempt was given back and does not count; it waits"),
        "job_retrying": Told("info", "the attempt failed; the job waits for the next one"),
        "job_taken_back": Told("warning", "the attempt's holder was lost; the job waits again"),
        "job_cancel_requested": Told("info", "somebody wants a running job stopped"),
        "job_succeeded": Told("info", "an end: the job has its result"),
        "job_failed": Told("warning", "an end: the job has failed and has its dead letter"),
        "job_canceled": Told("info", "an end: the job was stopped, or never begun"),
        "job_redriven": Told("info", "the job's dead letter became a new job"),
        "run_began": Told("info", "the instance of a run began, or went on after a death"),
        "run_nudged": Told("warning", "a silent run's instance was woken, or made anew"),
        "run_not_asked": Told("warning", "what became of a silent run could not be found out"),
        "start_failed": Told("warning", "an instance could not be started; the sweep will"),
        "terminate_failed": Told("warning", "an instance could not be ended"),
        "lease_lost": Told("info", "an attempt stopped: its lease was gone, or about to go"),
        "late_write_refused": Told("warning", "the end of an attempt came after its lease"),
        "paid_result_lost": Told("warning", "a result that was paid for could not be kept"),
        "send_failed": Told("warning", "the queue took no message; the sweep will send it"),
        "message_buried": Told("warning", "a message that names no job got a dead letter"),
        "dead_message_outlived": Told("info", "a job had ended before its dead message was read"),
        "job_sent_again": Told("info", "a job whose message its queue gave up on has a new one"),
        "dead_message_put_off": Told("warning", "a dead message waits until the database is back"),
        "letter_not_redriven": Told("error", "a bulk redrive broke at a letter and goes on"),
        "redrive_broke_off": Told("warning", "a bulk redrive broke; the next sweep goes on"),
        "orphan_left": Told("info", "an object that nothing names could not be deleted"),
        "lane_parked": Told("warning", "a provider's model turned us away; its jobs wait"),
        "lane_opened": Told("info", "a probe got through: the lane's jobs go on"),
        "lane_not_told": Told("warning", "the database did not take what concerns a lane"),
        "occurrence_started": Told("info", "a schedule came true: its job has its row"),
        "occurrence_skipped": Told(
            "info", "a schedule came true, and there is a reason for no job"
        ),
        "schedule_unreadable": Told("error", "a schedule's expression makes no sense any more"),
        "doctor_repaired": Told("warning", "a person had the doctor mend some rows"),
        "duty_done": Told("info", "a duty of the sweep found something to do"),
        "duty_failed": Told("error", "a duty of the sweep broke; the next sweep tries again"),
        "alert_fired": Told("warning", "an objective is missed, and has been for long enough"),
        "alert_resolved": Told("info", "an objective is met again, and has been for long enough"),
        "alerts_not_told": Told("warning", "the receiver of alerts did not take a message"),
        "stream_broke": Told("warning", "a result could not be sent to its end"),
        "unexpected_error": Told("error", "a fault of ours, or an error that has no class yet"),
        "bad_settings": Told("error", "the deployment's variables make no sense"),
    }
)


class Traced(TypedDict, total=False):
    """A span, and the one above it."""

    trace_id: str
    span_id: str
    parent_id: str


class Spent(TypedDict, total=False):
    """When a span began and ended, in RFC 3339, and how long it took."""

    started_at: str
    ended_at: str
    duration_ms: int


Raised = TypedDict("Raised", {"error.type": str, "error_at": str}, total=False)
Http = TypedDict(
    "Http",
    {"http.request.method": str, "http.route": str, "http.response.status_code": int},
    total=False,
)
Database = TypedDict(
    "Database", {"d1.calls": int, "d1.rows_read": int, "d1.rows_written": int}, total=False
)
Messaging = TypedDict(
    "Messaging",
    {
        "messaging.system": Literal["cloudflare_queues"],
        "messaging.operation.name": Literal["process"],
        "messaging.operation.type": Literal["process"],
        "messaging.destination.name": str,
        "messaging.message.id": str,
        "delivery": int,
    },
    total=False,
)
GenAi = TypedDict(
    "GenAi",
    {
        "gen_ai.operation.name": str,
        "gen_ai.provider.name": str,
        "gen_ai.request.model": str,
        "gen_ai.response.model": str,
        "gen_ai.usage.input_tokens": int,
        "gen_ai.usage.output_tokens": int,
    },
    total=False,
)


class Fields(Traced, Spent, Raised, Http, Database, Messaging, GenAi, total=False):
    """All that a log line may carry beside its event."""

    job_id: str
    tenant_id: str
    kind: str
    engine: str
    origin: str
    attempt: int
    state: str
    transition: str
    outcome: str
    error_class: str
    error_code: str
    queue_ms: int
    wait_ms: int
    provider_ms: int
    dead_letter: str
    redriven_from: str
    redriven_to: str
    redrive_id: str
    lane: str
    request_id: str
    duty: str
    count: int
    condition: str
    value: int
    limit: int
    subject: str


def event(name: EventName, **fields: Unpack[Fields]) -> None:
    """Write one line. The runtime adds the time."""
    line = {"event": name, "level": EVENTS[name].level, **fields}
    print(json.dumps(line, ensure_ascii=True))  # noqa: T201 - the platform's log is stdout


def raised(error: BaseException) -> Raised:
    """Tell an error by its type and its place, and by no text of it."""
    return {"error.type": type(error).__name__, "error_at": where_raised(error)}


def where_raised(error: BaseException) -> str:
    """Name the innermost frame of ours, as ``file:line``."""
    place, frame = "", error.__traceback__
    while frame is not None:
        name = frame.tb_frame.f_code.co_filename
        if "uketsuke" in name:
            place = f"{name.rpartition('uketsuke/')[2]}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place
