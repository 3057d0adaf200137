"""Rows as only a history could have made them, and what the consumer says to messages about them.

A row that is put in by SQL has no message and no wake-up time soon: neither the broker nor a sweep
comes between a test and its delivery.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from tests.support.jobs import TEXT
from tests.support.running import Stack
from uketsuke.adapters.sql.terms import NOW
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id

JOBS: Final = "uketsuke-jobs"
DEAD: Final = "uketsuke-jobs-dlq"

# A verdict: the message is acknowledged, or comes again after so many seconds.
ACK: Final = "ack"
Verdict = str | int


@dataclass(frozen=True)
class FromNow:
    """A time so many seconds after the database's now."""

    seconds: float


LATER: Final = FromNow(86_400)


@dataclass(frozen=True)
class Raw:
    """A body as JSON text, for what Python would not write."""

    text: str


_FRESH: Final[Mapping[str, object]] = {
    "kind": "summarize",
    "engine": "queue",
    "origin": "api",
    "state": "accepted",
    "params": "{}",
    "metadata": "{}",
    "input": json.dumps({"form": "text", "bytes": len(TEXT)}),
    "max_attempts": 5,
    "created_at": FromNow(-60),
    "due_at": FromNow(-1),
    "wake_at": LATER,
    "deadline_at": LATER,
}

_ENDED: Final[Mapping[str, object]] = {
    "started_at": FromNow(-50),
    "finished_at": FromNow(-10),
    "expires_at": LATER,
    "wake_at": None,
    "attempts": 1,
    "attempt_no": 1,
}
SUCCEEDED: Final[Mapping[str, object]] = {
    **_ENDED,
    "state": "succeeded",
    "result": '{"bytes":2,"content_type":"application/json","attempt":1,"object_key":null}',
}
FAILED: Final[Mapping[str, object]] = {
    **_ENDED,
    "state": "failed",
    "error_class": "refused",
    "error_code": "provider_refused",
}
CANCELED: Final[Mapping[str, object]] = {**_ENDED, "state": "canceled"}


def leased(*, ends_in: float) -> dict[str, object]:
    """What a row looks like under a lease; below 0 the lease has expired."""
    return {
        "state": "running",
        "attempts": 1,
        "attempt_no": 1,
        "started_at": FromNow(ends_in - 60),
        "leased_at": FromNow(ends_in - 60),
        "leased_until": FromNow(ends_in),
        "lease_token": os.urandom(16).hex(),
    }


def spent() -> dict[str, object]:
    """What a row looks like whose worker died at its last attempt, with nobody beside it."""
    return {**leased(ends_in=-1), "leased_alone": 1, "attempts": 5, "attempt_no": 5}


@dataclass
class Desk:
    """One test's tenant: its rows, its messages, and the verdicts on them."""

    stack: Stack
    tenant: str = field(init=False)
    key: str = field(init=False)
    _control: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.stack.tenant()
        self.tenant = self.stack.tenant_of(self.key)
        self._control = self.stack.control()

    def close(self) -> None:
        """Leave nothing that a later sweep could wake into another test."""
        for table in ("jobs", "submissions", "attempts"):
            self.d1(f"DELETE FROM {table} WHERE tenant_id = ?1", self.tenant)  # noqa: S608
        self._control.close()

    def d1(self, sql: str, *params: object) -> list[dict[str, Any]]:
        """Run one statement over the connection that stays open: tests here ask a lot."""
        asked = {"batch": [{"sql": sql, "params": list(params)}]}
        answer = self._control.post("/d1", json=asked).raise_for_status().json()
        return list(answer[0]["results"])

    def job(self, **columns: object) -> str:
        """Put in a job, by default accepted and due, and return its id."""
        job_id = new_job_id()
        row = {
            "tenant_id": self.tenant,
            "id": job_id,
            "request_key": job_id,
            **_FRESH,
            **columns,
        }
        places = [
            f"{NOW} + ?{number}" if isinstance(value, FromNow) else f"?{number}"
            for number, value in enumerate(row.values(), 1)
        ]
        params = [
            int(value.seconds * 1000) if isinstance(value, FromNow) else value
            for value in row.values()
        ]
        names = ", ".join(row)
        self.d1(f"INSERT INTO jobs ({names}) VALUES ({', '.join(places)})", *params)  # noqa: S608
        sql = "INSERT INTO submissions VALUES (?1, ?2, ?2, NULL, ?3)"
        self.d1(sql, self.tenant, job_id, json.dumps(TEXT))
        return job_id

    def message(self, job_id: str, **change: object) -> dict[str, object]:
        """Return a message about a job, as its producer writes it."""
        body = {"v": 1, "job": job_id, "tenant": self.tenant, "kind": "summarize"}
        return {**body, "input": None, "traceparent": None, **change}

    def deliver(
        self, *bodies: object, queue: str = JOBS, attempts: int | Sequence[int] = 1
    ) -> list[Verdict]:
        """Deliver one batch and return the verdict on each of its messages, in their order."""
        numbers = [attempts] * len(bodies) if isinstance(attempts, int) else attempts
        ids = [f"m-{os.urandom(6).hex()}" for _ in bodies]
        messages = ", ".join(
            f'{{"id": "{name}", "attempts": {number}, "body": {_text(body)}}}'
            for name, number, body in zip(ids, numbers, bodies, strict=True)
        )
        asked = f'{{"worker": "uketsuke-consumer", "queue": "{queue}", "messages": [{messages}]}}'
        answer = self._control.post("/queue", content=asked).raise_for_status().json()
        assert answer["outcome"] == "ok", answer
        assert not answer["retryBatch"]["retry"]
        again = {m["msgId"]: m["delaySeconds"] for m in answer["retryMessages"]}
        told = {**dict.fromkeys(answer["explicitAcks"], ACK), **again}
        assert len(told) == len(again) + len(answer["explicitAcks"]) == len(ids)
        return [told[name] for name in ids]

    def row(self, job_id: str) -> dict[str, Any]:
        sql = f"SELECT *, {NOW} AS now FROM jobs WHERE tenant_id = ?1 AND id = ?2"  # noqa: S608
        (row,) = self.d1(sql, self.tenant, job_id)
        return row

    def unchanging(self, job_id: str) -> dict[str, Any]:
        """Return the row without the time of the look: equal as long as nobody wrote."""
        return {name: value for name, value in self.row(job_id).items() if name != "now"}

    def attempts(self, job_id: str) -> list[dict[str, Any]]:
        sql = "SELECT * FROM attempts WHERE tenant_id = ?1 AND job_id = ?2 ORDER BY number"
        return self.d1(sql, self.tenant, job_id)

    def letters(self, job_id: str) -> list[dict[str, Any]]:
        """Return the dead letters that name a job."""
        return self.d1("SELECT * FROM dead_letters WHERE job_id = ?1", job_id)

    def calls(self, job_id: str) -> list[dict[str, Any]]:
        """Return what the provider was asked for a job."""
        with self.stack.models() as models:
            items = models.get("/requests").json()["items"]
        return [call for call in items if (call["idempotency_key"] or "").startswith(job_id)]

    def order(self, job_id: str, **fault: object) -> None:
        """Order a fault that only this job's first calls meet."""
        match = {"idempotency-key": f"{job_id}.piece-1.0"}
        self.stack.order(count=1, route="chat", match=match, **fault)


def _text(body: object) -> str:
    return body.text if isinstance(body, Raw) else json.dumps(body)


def new_job_id() -> str:
    return time_sorted_id("job", now_ms=int(time.time() * 1000), entropy=os.urandom(RANDOM_BYTES))
