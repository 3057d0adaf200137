"""What the services need of the world. Adapters implement these; tests of pure logic use fakes.

Every port may raise ``Unavailable`` when its other side could not be reached or did not answer;
for a write this leaves open whether it happened.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from uketsuke.services.ports.ai import (
    AiBinding,
    AiRefused,
    AudioForm,
    AudioInput,
)
from uketsuke.services.ports.alerts import Alerts, MoneyAndLanes, Receiver
from uketsuke.services.ports.audit import Audit, AuditFilter, AuditPage
from uketsuke.services.ports.costs import (
    Costs,
    DayBudget,
    UsageFilter,
    UsageItem,
    UsageKey,
    UsagePage,
    Used,
)
from uketsuke.services.ports.database_use import DatabaseUse
from uketsuke.services.ports.dead_letters import Counter, DeadLetters
from uketsuke.services.ports.doctor import Doctor
from uketsuke.services.ports.jobs import (
    NO_LANES,
    AcceptedNew,
    Admission,
    InputVanished,
    Jobs,
    KnownKey,
    Lanes,
    LanesOfKinds,
    LeaseState,
    RunInProgress,
    Runs,
)
from uketsuke.services.ports.metrics import Look, Metrics
from uketsuke.services.ports.platform import (
    MOST_ANSWER_BYTES,
    Blobs,
    Clock,
    Delivery,
    Dice,
    HttpAnswer,
    HttpClient,
    InstanceState,
    JobQueue,
    Steps,
    StoredStream,
    StreamedBody,
    TooLarge,
    Unavailable,
    WatchedQueue,
    Workflows,
)
from uketsuke.services.ports.redrives import (
    BulkPlace,
    Candidates,
    Decided,
    RedrivePage,
    Redrives,
    ShownRedrive,
)
from uketsuke.services.ports.schedules import (
    DueSchedules,
    Occurrences,
    PutSchedule,
    SchedulePage,
    Schedules,
)
from uketsuke.services.ports.store import (
    Expired,
    Inputs,
    JobFilter,
    JobPage,
    KeyStore,
    Listing,
    Purging,
    StateCount,
    Sweeping,
    Woken,
)
from uketsuke.services.ports.triage import (
    Conditions,
    LetterFilter,
    LetterPage,
    LetterPlace,
    RedrivenPage,
    Triage,
)
from uketsuke.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The world of one event: every service takes it whole and uses what it needs."""

    settings: Settings
    jobs: Jobs
    listing: Listing
    sweeping: Sweeping
    purging: Purging
    runs: Runs
    lanes: Lanes
    costs: Costs
    inputs: Inputs
    schedules: Schedules
    occurrences: Occurrences
    dead_letters: DeadLetters
    triage: Triage
    conditions: Conditions
    money_and_lanes: MoneyAndLanes
    alerts: Alerts
    receiver: Receiver | None
    metrics: Metrics
    doctor: Doctor
    audit: Audit
    redrives: Redrives
    keys: KeyStore
    blobs: Blobs
    queue: JobQueue
    live_queue: WatchedQueue
    dead_queue: WatchedQueue
    workflows: Workflows
    clock: Clock
    dice: Dice
    database_use: DatabaseUse = field(default_factory=DatabaseUse)


__all__ = [
    "MOST_ANSWER_BYTES",
    "NO_LANES",
    "AcceptedNew",
    "Admission",
    "AiBinding",
    "AiRefused",
    "Alerts",
    "AudioForm",
    "AudioInput",
    "Audit",
    "AuditFilter",
    "AuditPage",
    "Blobs",
    "BulkPlace",
    "Candidates",
    "Clock",
    "Conditions",
    "Costs",
    "Counter",
    "DatabaseUse",
    "DayBudget",
    "DeadLetters",
    "Decided",
    "Delivery",
    "Dice",
    "Doctor",
    "DueSchedules",
    "Expired",
    "HttpAnswer",
    "HttpClient",
    "InputVanished",
    "Inputs",
    "InstanceState",
    "JobFilter",
    "JobPage",
    "JobQueue",
    "Jobs",
    "KeyStore",
    "KnownKey",
    "Lanes",
    "LanesOfKinds",
    "LeaseState",
    "LetterFilter",
    "LetterPage",
    "LetterPlace",
    "Listing",
    "Look",
    "Metrics",
    "MoneyAndLanes",
    "Occurrences",
    "Ports",
    "Purging",
    "PutSchedule",
    "Receiver",
    "RedrivePage",
    "RedrivenPage",
    "Redrives",
    "RunInProgress",
    "Runs",
    "SchedulePage",
    "Schedules",
    "ShownRedrive",
    "StateCount",
    "Steps",
    "StoredStream",
    "StreamedBody",
    "Sweeping",
    "TooLarge",
    "Triage",
    "Unavailable",
    "UsageFilter",
    "UsageItem",
    "UsageKey",
    "UsagePage",
    "Used",
    "WatchedQueue",
    "Woken",
    "Workflows",
]
