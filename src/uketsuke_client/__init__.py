"""The Python client of Uketsuke. ``Client`` is where to start."""

from __future__ import annotations

from uketsuke_client.alert import Alert, AlertDelivery, Alerts
from uketsuke_client.audit import AuditEntry
from uketsuke_client.client import Client
from uketsuke_client.clock import Clock
from uketsuke_client.dead_letter import DeadLetter, DeadLetterGroup, PastAttempt
from uketsuke_client.doctor import Check, Diagnosis, RepairReport
from uketsuke_client.error import (
    ApiError,
    Fault,
    NotFinished,
    Problem,
    StillRedriving,
    UnexpectedAnswer,
    Unreachable,
)
from uketsuke_client.event import Event
from uketsuke_client.input_ref import InputRef
from uketsuke_client.job import Accepted, Failure, Job, Progress, Usage
from uketsuke_client.metrics import Condition, Metrics
from uketsuke_client.redrive_run import RedriveFilter, RedrivePlan, RedriveRun
from uketsuke_client.request import Unsendable, new_idempotency_key
from uketsuke_client.schedule import Last, Schedule
from uketsuke_client.transport import Retry
from uketsuke_client.usage import Budget, UsageItem, UsageReport, Used
from uketsuke_client.vectors import Vectors

__all__ = [
    "Accepted",
    "Alert",
    "AlertDelivery",
    "Alerts",
    "ApiError",
    "AuditEntry",
    "Budget",
    "Check",
    "Client",
    "Clock",
    "Condition",
    "DeadLetter",
    "DeadLetterGroup",
    "Diagnosis",
    "Event",
    "Failure",
    "Fault",
    "InputRef",
    "Job",
    "Last",
    "Metrics",
    "NotFinished",
    "PastAttempt",
    "Problem",
    "Progress",
    "RedriveFilter",
    "RedrivePlan",
    "RedriveRun",
    "RepairReport",
    "Retry",
    "Schedule",
    "StillRedriving",
    "UnexpectedAnswer",
    "Unreachable",
    "Unsendable",
    "Usage",
    "UsageItem",
    "UsageReport",
    "Used",
    "Vectors",
    "new_idempotency_key",
]
