"""``POST /v1/jobs``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, islice
from typing import Any

from uketsuke.domain.idempotency import fingerprint, first_difference
from uketsuke.domain.job import Job
from uketsuke.http.answer import Headers, json_answer
from uketsuke.http.asked_work import look_around, vanished
from uketsuke.http.context import Context
from uketsuke.http.idempotency_key import REPLAYED, read_key, refuse_mismatch
from uketsuke.http.job_view import job_path, poll_after, show_job
from uketsuke.http.json_body import read_json
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import (
    MOST_FAULTS,
    Fault,
    Refused,
    refuse,
    refuse_faults,
)
from uketsuke.http.submission import Sender, submission_faults, to_submission
from uketsuke.services.ports import AcceptedNew, Admission, KnownKey, RunInProgress
from uketsuke.services.submit import submit


async def submit_job(request: Request, context: Context) -> Response:
    """Take a job in: 202 once it is durable, or with the job that stands for it already."""
    document = await read_json(request, limit=context.settings.max_body_bytes)
    key, key_faults = read_key(request.headers)
    around = await look_around(document, context, tenant_id=context.tenant_id)
    found = chain(key_faults, submission_faults(document, around))
    faults = list(islice(found, MOST_FAULTS + 1))
    if faults:
        return await _replay(document, key, context) or _refuse(faults)
    sender = Sender(
        tenant_id=context.tenant_id, idempotency_key=key, traceparent=context.traceparent
    )
    admission = await submit(to_submission(document, around, sender), ports=context.ports)
    return answer_admission(admission, document, context)


def _refuse(faults: list[Fault]) -> Response:
    raise refuse_faults(faults)


async def _replay(document: object, key: str | None, context: Context) -> Response | None:
    """Answer with the job of a request that was sound when it first came.

    Its upload may be gone by now, or its kind: the key is honored all the same.
    """
    if key is None or not isinstance(document, dict):
        return None
    # The name under which services.submit files a key.
    known = await context.ports.jobs.find_by_request(
        tenant_id=context.tenant_id, request_key=f"key:{key}"
    )
    if known is None or _difference(known, document, context) is not None:
        return None
    return _accepted(known.job, context, headers=REPLAYED)


def answer_admission(
    admission: Admission, document: Mapping[str, Any], context: Context
) -> Response:
    """Answer with the job that stands for a request. Raises ``Refused`` if none may."""
    match admission:
        case AcceptedNew(job=job):
            return _accepted(job, context)
        case KnownKey(job=job):
            pointer = _difference(admission, document, context)
            if pointer is not None:
                raise refuse_mismatch(pointer)
            return _accepted(job, context, headers=REPLAYED)
        case RunInProgress(job=job):
            if document.get("on_conflict") != "return":
                raise _in_progress(job)
            return _accepted(job, context)
        case _:
            raise refuse_faults(vanished(document))


def _difference(known: KnownKey, document: Mapping[str, object], context: Context) -> str | None:
    now = fingerprint(document, secret=context.settings.key_hash_secret)
    return first_difference(known.fingerprint, now)


def _accepted(job: Job, context: Context, *, headers: Headers = ()) -> Response:
    wait = poll_after(job, now=context.ports.clock.now())
    return json_answer(
        202,
        show_job(job, caller=context.caller),
        headers=(("location", job_path(job)), ("retry-after", str(wait)), *headers),
    )


def _in_progress(job: Job) -> Refused:
    return refuse("run_in_progress", members={"id": job.id}, headers=(("location", job_path(job)),))
