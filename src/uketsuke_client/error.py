"""What can go wrong, named for the fact. There is no base class that catches it all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from uketsuke_client.job import Job
from uketsuke_client.redrive_run import RedriveRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault of a refused request: where it is (a JSON Pointer), and what."""

    pointer: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """What a refusal said: RFC 9457's members, ours, and what its headers added."""

    status: int
    code: str
    title: str
    detail: str
    errors: Sequence[Fault] = ()
    request_id: str | None = None
    retry_after: float | None = None
    job_id: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)


class ApiError(Exception):
    """The server answered, and the answer is no.

    ``code`` is the contract's stable word for why; ``errors`` lists every fault of an
    invalid request. A refused submission has stored nothing.
    """

    def __init__(self, problem: Problem, *, idempotency_key: str | None = None) -> None:
        self.problem = problem
        self.status = problem.status
        self.code = problem.code
        self.detail = problem.detail
        self.errors = problem.errors
        self.request_id = problem.request_id
        self.retry_after = problem.retry_after
        self.job_id = problem.job_id
        self.idempotency_key = idempotency_key
        super().__init__(f"{problem.status} {problem.code}: {problem.detail}")


class Unreachable(Exception):
    """No answer came, for as long as the client was patient.

    A submission may have arrived all the same. Sent again with this
    ``idempotency_key`` it starts nothing twice.
    """

    def __init__(self, url: str, *, reason: str, idempotency_key: str | None = None) -> None:
        self.url = url
        self.reason = reason
        self.idempotency_key = idempotency_key
        super().__init__(f"{url} cannot be reached: {reason}")


class UnexpectedAnswer(Exception):
    """Something answered, but not as Uketsuke does: most often a wrong URL or a proxy."""


class NotFinished(TimeoutError):
    """The time to wait is over and the job goes on; ``job`` is how it was last seen."""

    def __init__(self, job: Job, *, timeout: float) -> None:
        self.job = job
        super().__init__(f"{job.id} was still {job.state} after {timeout:g} s")


class StillRedriving(TimeoutError):
    """The time to wait is over and the bulk redrive goes on; ``run`` is how it was last seen."""

    def __init__(self, run: RedriveRun, *, timeout: float) -> None:
        self.run = run
        super().__init__(f"{run.id} was still {run.state} after {timeout:g} s")
