"""Runs on Workflows as a test meets them: started with faults of their own, and looked at whole."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

from tests.support.running import Stack, until

# Over 36,000 bytes, so that it runs on a Workflow, and cheap: three pieces and one call that joins.
BRIEF: Final = "受付は依頼を一度だけ受け取る。答えはすぐに返る。何も失われない。" * 400
STEPS: Final = ("piece-1", "piece-2", "piece-3", "join")

# A call that goes as it should.
FINE: Final[dict[str, Any]] = {}
_LIVE: Final = frozenset({"queued", "running", "waiting", "paused", "waitingForPause"})


def slow(seconds: float) -> dict[str, Any]:
    """A call that takes so long, and then goes as it should."""
    return {"seconds": seconds}


@dataclass(frozen=True, kw_only=True)
class End:
    """All that is left of a run: its row, its attempts, its dead letters, its instances."""

    state: str
    attempts: int
    error: str | None = None
    history: tuple[tuple[str, str | None], ...]  # each attempt's outcome and error class
    letters: tuple[tuple[str, str], ...] = ()  # road and code
    instances: tuple[str, ...]


SUCCEEDED: Final = End(
    state="succeeded", attempts=1, history=(("succeeded", None),), instances=("complete",)
)


@dataclass(frozen=True, kw_only=True)
class Desk:
    """One test's tenant on a stack: what it starts, and how it looks at that."""

    stack: Stack
    key: str
    api: httpx.Client

    @classmethod
    @contextlib.contextmanager
    def open(cls, stack: Stack, *, key: str | None = None) -> Iterator[Desk]:
        """``key`` is that of a tenant that exists already; by default there is a new one."""
        key = key or stack.tenant()
        with stack.api(key) as api:
            yield cls(stack=stack, key=key, api=api)

    def post(self, *faults: dict[str, Any], text: str = BRIEF, **document: Any) -> httpx.Response:
        """Ask for a run whose first calls meet ``faults``, one each; no other job's call does."""
        trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
        for fault in faults:
            order = {"count": 1, "route": "chat", "match": {"traceparent": trace}}
            self.stack.order(**{**order, **fault})
        asked = {"kind": "summarize", "input": {"text": text}, **document}
        return self.api.post("/v1/jobs", json=asked, headers={"traceparent": trace})

    def start(self, *faults: dict[str, Any], **document: Any) -> str:
        """Start a run and return its id. It runs from the moment of the 202."""
        answer = self.post(*faults, **document)
        assert answer.status_code == 202, answer.text
        job = answer.json()
        assert (job["engine"], job["state"], job["attempts"]) == ("workflow", "running", 1)
        return str(job["id"])

    def shown(self, job: str) -> dict[str, Any]:
        found: dict[str, Any] = self.api.get(f"/v1/jobs/{job}").json()
        return found

    def calls(self, job: str) -> list[tuple[str, int | str | None]]:
        """Return the steps that asked the model, with the epoch of each, and what it answered."""
        with self.stack.models() as models:
            items = models.get("/requests").json()["items"]
        return [
            (call["idempotency_key"].removeprefix(f"{job}."), call["answer"])
            for call in items
            if (call["idempotency_key"] or "").startswith(f"{job}.")
        ]

    def steps(self, job: str) -> list[str]:
        """Return the calls of the model that were for this job, without their answers."""
        return [step for step, _ in self.calls(job)]

    def sees_call(self, job: str, step: str) -> None:
        """Wait until the model was asked by this step."""
        until(lambda: step in self.steps(job), every=0.05)

    def instance(self, job: str, attempt: int = 1) -> dict[str, Any]:
        """Return what the engine tells of an attempt's instance."""
        asked = {"binding": "JOB_WORKFLOW", "id": f"{job}-{attempt}", "action": "status"}
        with self.stack.control() as control:
            found: dict[str, Any] = control.post("/workflow", json=asked).json()
        return found

    def terminate(self, job: str) -> None:
        """End the first attempt's instance from outside, as an operator may."""
        asked = {"binding": "JOB_WORKFLOW", "id": f"{job}-1", "action": "terminate"}
        self.stack.post("/workflow", asked)

    def end(self, job: str, *, within: float = 30, sweeping: bool = False) -> End:
        """Follow a run to its end, and return what is then there once its instances rest."""

        def ended() -> bool:
            if sweeping:
                self.stack.sweep()
            return bool(self.shown(job)["terminal"])

        until(ended, within=within, every=0.5 if sweeping else 0.1)
        (row,) = self.stack.d1("SELECT * FROM jobs WHERE id = ?1", job)
        return End(
            state=row["state"],
            attempts=row["attempts"],
            error=row["error_class"],
            history=self._history(job),
            letters=self._letters(job),
            instances=tuple(self._rest(job, n + 1) for n in range(row["attempt_no"])),
        )

    def _history(self, job: str) -> tuple[tuple[str, str | None], ...]:
        sql = "SELECT outcome, error_class FROM attempts WHERE job_id = ?1 ORDER BY number"
        return tuple((row["outcome"], row["error_class"]) for row in self.stack.d1(sql, job))

    def _letters(self, job: str) -> tuple[tuple[str, str], ...]:
        sql = "SELECT road, code FROM dead_letters WHERE job_id = ?1"
        return tuple((row["road"], row["code"]) for row in self.stack.d1(sql, job))

    def _rest(self, job: str, attempt: int) -> str:
        """Return an instance's status once it does nothing more: the row ends a little before."""

        def at_rest() -> str | None:
            found = self.instance(job, attempt)
            status = str(found.get("status", found.get("error")))
            return None if status in _LIVE else status

        found = until(at_rest, within=10)
        assert found
        return found
