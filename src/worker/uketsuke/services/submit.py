"""Take a job in: decide where its input lies, write it durably, tell the queue."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.idempotency import fingerprint
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.job import InputForm, InputPlace, Job, JobKey, NewJob, Redriving, RunStart
from uketsuke.domain.lifecycle import Engine, Origin
from uketsuke.domain.price import Expected
from uketsuke.domain.trace import SPAN_BYTES, TRACE_BYTES, Span, read_traceparent
from uketsuke.services.messages import message_for
from uketsuke.services.ports import (
    AcceptedNew,
    Admission,
    Ports,
    Unavailable,
)
from uketsuke.services.run import start_instance
from uketsuke.services.tell import tell_accepted, tell_taken, traced
from uketsuke.telemetry import event


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A valid request for a job. ``document`` is the body as it was sent, for the fingerprint.

    ``content`` is the input's text(s) for the forms text and texts; ``refs`` names uploads.
    ``input_bytes`` is the size of the content, or of the uploads together.
    """

    tenant_id: str
    kind: str
    engine: Engine
    form: InputForm
    content: str | Sequence[str] | None
    refs: tuple[str, ...]
    input_bytes: int
    params: Mapping[str, object]
    run_key: str | None
    max_attempts: int
    deadline: timedelta
    metadata: Mapping[str, str]
    idempotency_key: str | None
    document: Mapping[str, object]
    traceparent: str | None
    run_limit: timedelta
    origin: Origin = Origin.API
    max_cost_micros: int | None = None
    expected: Expected | None = None
    redriving: Redriving | None = None


async def submit(submission: Submission, *, ports: Ports) -> Admission:
    """Admit a submission, or say which job stands for it already.

    When this returns ``AcceptedNew`` the job is durable, whatever became of the message: the
    sweep sends again what nobody looked at. Raises ``Unavailable`` if the database or the
    storage did not answer; the caller may repeat the request under its idempotency key.
    """
    now_ms = int(ports.clock.now().timestamp() * 1000)
    job_id = time_sorted_id("job", now_ms=now_ms, entropy=ports.dice.entropy(RANDOM_BYTES))
    return await admit(
        submission, job_id=job_id, start=_start_of(submission, ports=ports), ports=ports
    )


async def admit(
    submission: Submission, *, job_id: str, start: RunStart | None, ports: Ports
) -> Admission:
    """Admit a submission as the job ``job_id``, and set it going. See ``submit``.

    Safe to repeat under the same id: the row is written once. With ``start`` it runs from the first
    moment, and whoever gave the token starts or is its instance.
    """
    new = _new_job(submission, job_id=job_id, start=start, ports=ports)
    await _store_large_content(new, submission, ports=ports)
    admission = await _accept(new, ports=ports)
    for outlived in admission.outlived:
        tell_taken(outlived)
    if isinstance(admission, AcceptedNew):
        await _set_going(admission, new, ports=ports)
    await _drop_unnamed(new, admission, ports=ports)
    return admission


async def _accept(new: NewJob, *, ports: Ports) -> Admission:
    limit = ports.settings.intake_database_timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            return await ports.jobs.accept(new)
    except TimeoutError:
        raise Unavailable("the database did not answer in time") from None


async def _set_going(admission: AcceptedNew, new: NewJob, *, ports: Ports) -> None:
    tell_accepted(admission.job)
    if new.start is None:
        await _tell_queue(admission.job, ports=ports)
    else:
        await start_instance(admission.job, token=new.start.token, ports=ports)


async def _tell_queue(job: Job, *, ports: Ports) -> None:
    """Send the message. A failure is noted and otherwise ignored: the row has its wake-up time."""
    limit = ports.settings.intake_send_timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            await ports.queue.send(message_for(job))
    except (TimeoutError, Unavailable):
        event(
            "send_failed",
            job_id=job.id,
            tenant_id=job.tenant_id,
            **traced(read_traceparent(job.traceparent)),
        )


async def _store_large_content(new: NewJob, submission: Submission, *, ports: Ports) -> None:
    if new.input.object_key is None:
        return
    content = encode_content(submission.content)
    await ports.blobs.put(new.input.object_key, content.encode(), content_type="application/json")


async def _drop_unnamed(new: NewJob, admission: Admission, *, ports: Ports) -> None:
    """Delete the content's object if another job, or an earlier try, stands for the submission."""
    object_key = new.input.object_key
    named = isinstance(admission, AcceptedNew) and admission.job.input.object_key == object_key
    if object_key is None or named:
        return
    try:
        await ports.blobs.delete([object_key])
    except Unavailable:
        event("orphan_left", error_class=ErrorClass.UNAVAILABLE)


def encode_content(content: str | Sequence[str] | None) -> str:
    """Return a text or texts as the JSON that is kept."""
    return json.dumps(content, ensure_ascii=False)


def _new_job(
    submission: Submission, *, job_id: str, start: RunStart | None, ports: Ports
) -> NewJob:
    settings = ports.settings
    key = JobKey(submission.tenant_id, job_id)
    place, inline = _place(submission, key, ports=ports)
    keyed = submission.idempotency_key is not None
    return NewJob(
        key=key,
        request_key=f"key:{submission.idempotency_key}" if keyed else job_id,
        kind=submission.kind,
        engine=submission.engine,
        origin=submission.origin,
        run_key=submission.run_key,
        max_attempts=submission.max_attempts,
        deadline=submission.deadline,
        first_wake=settings.first_wake,
        metadata=submission.metadata,
        params=submission.params,
        input=place,
        inline_input=inline,
        fingerprint=fingerprint(submission.document, secret=settings.key_hash_secret)
        if keyed
        else None,
        traceparent=submission.traceparent or _new_trace(ports),
        # An upload outlives every job that names it, and then the time to redrive that job.
        keep_uploads=submission.deadline + settings.keep_inputs,
        run_limit=submission.run_limit,
        start=start,
        max_cost_micros=submission.max_cost_micros,
        expected=submission.expected,
        redriving=submission.redriving,
    )


def _new_trace(ports: Ports) -> str:
    """Begin a trace for what nobody has asked for in one, as a schedule's job."""
    dice = ports.dice
    return Span.first(dice.entropy(TRACE_BYTES), dice.entropy(SPAN_BYTES)).traceparent


def _start_of(submission: Submission, *, ports: Ports) -> RunStart | None:
    """A run on a Workflow has its row and its lease before anybody is answered."""
    if submission.engine is not Engine.WORKFLOW:
        return None
    return RunStart(token=ports.dice.entropy(16).hex(), lease=ports.settings.lease)


def _place(submission: Submission, key: JobKey, *, ports: Ports) -> tuple[InputPlace, str | None]:
    """Decide where the input lies: uploads stay, small content goes beside the row."""
    form, size = submission.form, submission.input_bytes
    if submission.refs:
        return InputPlace(form=form, bytes=size, refs=submission.refs), None
    content = encode_content(submission.content)
    if len(content.encode()) <= ports.settings.inline_bytes:
        return InputPlace(form=form, bytes=size), content
    unguessable = ports.dice.entropy(16).hex()
    # A redrive's lies with its letter, whose next redrive finds it if nobody knows what became of
    # this one; see services.redrive.
    redriving = submission.redriving
    owner = redriving.letter_id if redriving else key.job_id
    object_key = f"{stored_under(key.tenant_id, owner)}input-{unguessable}"
    return InputPlace(form=form, bytes=size, object_key=object_key), None


def stored_under(tenant_id: str, owner: str) -> str:
    """Return what the names of the objects of a job, or of a letter's redrives, begin with."""
    return f"{tenant_id}/{owner}/"
