"""One JSON object a line, an event in the past tense; fields only from a fixed list.

No content, no key, no foreign error text can get in: there is no field for it.
"""

from __future__ import annotations

import json
from typing import Final, TypedDict, Unpack

LEVELS: Final = {
    "unexpected_error": "error",
    "late_write_refused": "warning",
    "job_failed": "warning",
    "message_buried": "warning",
    "dead_message_put_off": "warning",
    "duty_failed": "error",
    "bad_settings": "error",
    "send_failed": "warning",
    "schedule_unreadable": "error",
    "start_failed": "warning",
    "terminate_failed": "warning",
    "run_not_asked": "warning",
    "run_nudged": "warning",
    "paid_result_lost": "warning",
    "stream_broke": "warning",
    "lease_lost": "info",
    "lane_parked": "warning",
    "lane_not_told": "warning",
    "redrive_broke_off": "warning",
    "letter_not_redriven": "error",
}


class Fields(TypedDict, total=False):
    """All that a log line may carry beside its event."""

    job_id: str
    tenant_id: str
    kind: str
    attempt: int
    state: str
    outcome: str
    lane: str
    error_class: str
    error_code: str
    error_type: str
    error_at: str
    duration_ms: int
    delivery: int
    trace_id: str | None
    request_id: str
    method: str
    route: str
    status: int
    duty: str
    redrive_id: str
    count: int


def event(name: str, **fields: Unpack[Fields]) -> None:
    """Write one line. The runtime adds the time."""
    line = {"event": name, "level": LEVELS.get(name, "info"), **fields}
    print(json.dumps(line, ensure_ascii=True))  # noqa: T201 - the platform's log is stdout


def where_raised(error: BaseException) -> str:
    """Name the innermost frame of ours, as ``file:line``: a place, and no text of the error."""
    place, frame = "", error.__traceback__
    while frame is not None:
        name = frame.tb_frame.f_code.co_filename
        if "uketsuke" in name:
            place = f"{name.rpartition('uketsuke/')[2]}:{frame.tb_lineno}"
        frame = frame.tb_next
    return place
