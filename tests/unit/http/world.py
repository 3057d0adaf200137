"""A deployment of fakes, schedules in SQLite, and a caller that speaks to it in-process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract.factories import RETENTION
from tests.support.sqlite import SqliteDatabase, connect
from tests.support.workflows import MemoryWorkflows
from tests.unit.http.fakes import (
    BytesBody,
    FakeBlobs,
    FakeClock,
    FakeDice,
    FakeInputs,
    FakeJobs,
    FakeKeys,
    FakeListing,
    FakeQueue,
)
from uketsuke.adapters.sql.alerts import SqlAlerts
from uketsuke.adapters.sql.audit import SqlAudit
from uketsuke.adapters.sql.conditions import SqlConditions
from uketsuke.adapters.sql.costs import SqlCosts
from uketsuke.adapters.sql.dead_letters import SqlDeadLetters
from uketsuke.adapters.sql.doctor import SqlDoctor
from uketsuke.adapters.sql.doctor_check import patience_of
from uketsuke.adapters.sql.letter_terms import Ages
from uketsuke.adapters.sql.metrics import SqlMetrics
from uketsuke.adapters.sql.redrives import SqlRedrives
from uketsuke.adapters.sql.schedules import SqlSchedules
from uketsuke.adapters.sql.sweeping import SqlSweeping
from uketsuke.adapters.sql.triage import SqlTriage
from uketsuke.domain.api_key import StoredKey, hash_secret
from uketsuke.http.app import App, respond
from uketsuke.http.message import Request, Response, read_query
from uketsuke.kinds.kind import Kind
from uketsuke.services.ports import DatabaseUse, Ports
from uketsuke.settings import Settings

PEPPER = b"only for tests"
_FAKED = (
    "settings", "jobs", "listing", "inputs", "keys", "blobs", "queue", "workflows", "clock", "dice"
)  # fmt: skip
_REAL = (
    "schedules", "costs", "dead_letters", "triage", "conditions", "audit", "redrives", "alerts",
    "sweeping", "metrics", "doctor",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response, as a caller sees it."""

    status: int
    headers: dict[str, str]
    body: bytes
    raw: Response

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.document["code"])

    @property
    def faults(self) -> list[tuple[str, str]]:
        return [(fault["pointer"], fault["code"]) for fault in self.document["errors"]]


@dataclass(slots=True, kw_only=True)
class World:
    """One deployment with its fakes, and the ways to call it."""

    kinds: Mapping[str, Kind]
    settings: Settings = field(default_factory=lambda: Settings(key_hash_secret=PEPPER))
    jobs: FakeJobs = field(default_factory=FakeJobs)
    listing: FakeListing = field(default_factory=FakeListing)
    database: SqliteDatabase = field(default_factory=lambda: SqliteDatabase(connect()))
    schedules: SqlSchedules = field(init=False)
    costs: SqlCosts = field(init=False)
    dead_letters: SqlDeadLetters = field(init=False)
    triage: SqlTriage = field(init=False)
    conditions: SqlConditions = field(init=False)
    alerts: SqlAlerts = field(init=False)
    sweeping: SqlSweeping = field(init=False)
    audit: SqlAudit = field(init=False)
    redrives: SqlRedrives = field(init=False)
    metrics: SqlMetrics = field(init=False)
    doctor: SqlDoctor = field(init=False)
    inputs: FakeInputs = field(default_factory=FakeInputs)
    blobs: FakeBlobs = field(default_factory=FakeBlobs)
    queue: FakeQueue = field(default_factory=FakeQueue)
    # Nobody works here: what is started waits for room.
    workflows: MemoryWorkflows = field(default_factory=lambda: MemoryWorkflows(full=True))
    keys: FakeKeys = field(default_factory=FakeKeys)
    clock: FakeClock = field(default_factory=FakeClock)
    dice: FakeDice = field(default_factory=FakeDice)
    app: App = field(init=False)
    body: BytesBody = field(init=False)

    def __post_init__(self) -> None:
        self.app = App(kinds=self.kinds)
        self.schedules = SqlSchedules(
            self.database,
            keep_inputs=self.settings.keep_inputs,
            keep_results=self.settings.keep_results,
        )
        self.costs = SqlCosts(self.database, RETENTION, self.settings.tariff({}))
        self.dead_letters = SqlDeadLetters(self.database, triage_within=self.settings.triage_within)
        ages = Ages.of(
            keep_inputs=self.settings.keep_inputs,
            keep_results=self.settings.keep_results,
            expiring_within=self.settings.expiring_within,
        )
        self.triage = SqlTriage(self.database, ages)
        self.metrics = SqlMetrics(self.database)
        self.conditions = SqlConditions(self.database, ages)
        self.alerts = SqlAlerts(self.database)
        self.sweeping = SqlSweeping(self.database, RETENTION)
        self.audit = SqlAudit(self.database)
        self.redrives = SqlRedrives(self.database, self.settings.tariff({}))
        self.doctor = SqlDoctor(self.database, patience_of(self.settings, RETENTION))

    @property
    def ports(self) -> Ports:
        # No request reaches the ports that are left out.
        filled: dict[str, Any] = dict.fromkeys(Ports.__dataclass_fields__)
        mine = {name: getattr(self, name) for name in (*_FAKED, *_REAL)}
        return Ports(**{**filled, **mine, "database_use": DatabaseUse()})

    def add_key(
        self, number: int, *, tenant_id: str | None, scopes: str, revoked: bool = False
    ) -> str:
        """Make a key and return it as its owner would send it."""
        key_id, secret = f"{number:012d}", f"{number:032d}"
        self.keys.keys[key_id] = StoredKey(
            key_id=key_id,
            tenant_id=tenant_id,
            scopes=frozenset(scopes.split()),
            secret_hash=hash_secret(secret, pepper=PEPPER),
            revoked=revoked,
        )
        return f"uk_{key_id}_{secret}"

    def send(
        self,
        method: str,
        target: str,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        document: object = None,
        content: bytes | None = None,
    ) -> Answer:
        """Send a request; ``document`` goes as JSON, ``content`` as it is."""
        sent = {"authorization": f"Bearer {key}"} if key else {}
        if document is not None:
            content = json.dumps(document).encode()
            sent["content-type"] = "application/json"
        path, _, query = target.partition("?")
        self.body = BytesBody(content or b"")
        request = Request(
            method=method,
            path=path,
            query=read_query(query),
            headers={**sent, **(headers or {})},
            body=self.body,
        )
        response = asyncio.run(respond(request, app=self.app, ports=self.ports))
        body = response.body if isinstance(response.body, bytes) else b""
        return Answer(
            status=response.status, headers=dict(response.headers), body=body, raw=response
        )


def assert_problem(answer: Answer, status: int, code: str) -> None:
    """Hold an error against the one shape that all of them have."""
    document = answer.document
    assert (answer.status, document["status"], document["code"]) == (status, status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["date"].endswith(" GMT")
    assert answer.headers["cache-control"] == "no-store"
    assert document["request_id"] == answer.headers["x-request-id"]
    assert document["type"] == f"urn:problem-type:uketsuke:{code}"
    assert document["title"]
    assert document["detail"]
    assert document["instance"].isascii()
