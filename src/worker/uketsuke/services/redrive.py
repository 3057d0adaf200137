"""Redrive a dead letter: the same work as a new, linked job with a new budget of attempts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import (
    REDRIVES_BEFORE_FORCE,
    DeadLetter,
    LetterStatus,
    is_of_a_job,
    replay_of,
)
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.domain.job import InputForm, Job, Redriving, Rework
from uketsuke.domain.lifecycle import Origin
from uketsuke.services.ports import AcceptedNew, Ports, RunInProgress, Unavailable
from uketsuke.services.submit import Submission, stored_under, submit
from uketsuke.services.tell import tell_redriven
from uketsuke.telemetry import event

# Given a kind, the form and the bytes of an input, and parameters: how would it be worked today?
Planner = Callable[[str, InputForm, int, Mapping[str, object]], Rework | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Redriven:
    """The new job is durable, and the letter is resolved."""

    job: Job


@dataclass(frozen=True, slots=True, kw_only=True)
class AlreadyResolved:
    """Somebody was quicker: the letter is redriven or discarded."""

    letter: DeadLetter


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReplayable:
    """The letter stays open. ``why`` is our sentence; ``needs_force``: force would redrive it."""

    why: str
    needs_force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InputGone:
    """The letter stays open; what its job worked on is not there any more. ``why`` is ours."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHeld:
    """The letter stays open: a live job holds its job's run key."""

    job: Job


Refusal = AlreadyResolved | NotReplayable | InputGone | RunHeld


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInput:
    """What a job was given: the text(s) of a text form, or the names of what was uploaded."""

    form: InputForm
    content: str | Sequence[str] | None
    refs: tuple[str, ...]
    bytes: int


def new_act(
    actor: str,
    *,
    reason: str | None,
    request_id: str,
    ports: Ports,
    detail: Mapping[str, object] | None = None,
) -> Act:
    """Return an act of now, under an id of its own."""
    now_ms = int(ports.clock.now().timestamp() * 1000)
    name = time_sorted_id("au", now_ms=now_ms, entropy=ports.dice.entropy(RANDOM_BYTES))
    return Act(id=name, actor=actor, reason=reason, request_id=request_id, detail=detail or {})


def refusal_of(letter: DeadLetter, *, patched: bool, forced: bool) -> Refusal | None:
    """Say why a letter cannot be redriven, as far as the letter itself tells.

    A patch helps a job that can be read and is still there, whatever became of its input.
    """
    if letter.status is not LetterStatus.OPEN:
        return AlreadyResolved(letter=letter)
    replay = replay_of(letter)
    if not replay.replayable and not (patched and is_of_a_job(letter) and letter.job_there):
        gone = is_of_a_job(letter) and letter.replayable_until is None
        return InputGone(why=replay.reason) if gone else NotReplayable(why=replay.reason)
    if letter.redrives >= REDRIVES_BEFORE_FORCE and not forced:
        return NotReplayable(why=_TOO_OFTEN, needs_force=True)
    return None


def input_gone(letter: DeadLetter) -> InputGone:
    """Return the refusal for an input, or a job, that was not found when it was looked for."""
    replay = replay_of(letter)
    return InputGone(why=_GONE if replay.replayable else replay.reason)


async def stored_input(job: Job, *, ports: Ports) -> StoredInput | None:
    """Return what a job was given; None if it is gone."""
    place = job.input
    if place.refs:
        return StoredInput(form=place.form, content=None, refs=place.refs, bytes=place.bytes)
    if place.object_key is not None:
        kept = await ports.blobs.get(place.object_key)
        text = None if kept is None else kept.decode()
    else:
        text = await ports.jobs.inline_input(job.key)
    if text is None:
        return None
    return StoredInput(form=place.form, content=json.loads(text), refs=(), bytes=place.bytes)


def resubmission(job: Job, given: StoredInput, work: Rework) -> Submission:
    """Return the submission that asks for a job's work again, as it was asked for at first."""
    return Submission(
        tenant_id=job.tenant_id,
        kind=job.kind,
        engine=work.engine,
        form=given.form,
        content=given.content,
        refs=given.refs,
        input_bytes=given.bytes,
        params=job.params,
        run_key=job.run_key,
        max_attempts=job.max_attempts,
        deadline=time_given(job),
        metadata=job.metadata,
        idempotency_key=None,
        document={},
        traceparent=None,
        run_limit=work.run_limit,
        origin=Origin.REDRIVE,
        max_cost_micros=job.max_cost_micros,
        expected=work.expected,
    )


def time_given(job: Job) -> timedelta:
    """Return how long the job had from its acceptance to its deadline."""
    return job.deadline_at - job.created_at


async def redrive_as_it_was(
    letter: DeadLetter,
    *,
    act: Act,
    planner: Planner,
    ports: Ports,
    forced: bool = False,
    redrive_id: str | None = None,
    traceparent: str | None = None,
) -> Redriven | Refusal:
    """Redrive a letter with its job's own input. Whoever comes second gets ``AlreadyResolved``."""
    refusal = refusal_of(letter, patched=False, forced=forced)
    if refusal is not None:
        return refusal
    job = await ports.jobs.find(letter.job_id or "", tenant_id=letter.tenant_id)
    given = await stored_input(job, ports=ports) if job else None
    if job is None or given is None:
        return input_gone(letter)
    work = planner(job.kind, given.form, given.bytes, job.params)
    if work is None:
        return NotReplayable(why=_NOT_TAKEN)
    wanted = replace(resubmission(job, given, work), traceparent=traceparent)
    return await redrive(letter, wanted, act=act, redrive_id=redrive_id, ports=ports)


async def redrive(
    letter: DeadLetter,
    wanted: Submission,
    *,
    act: Act,
    ports: Ports,
    redrive_id: str | None = None,
) -> Redriven | Refusal:
    """Submit ``wanted`` as the redrive of an open letter: its row, the links and the audit at once.

    Of any number of redrives at the same time one has a job, the others get ``AlreadyResolved``.
    Raises ``Unavailable`` if it is not known whether this one has: then the letter tells.
    """
    assert letter.job_id is not None
    origin = Redriving(
        letter_id=letter.id,
        job_id=letter.job_id,
        redrives=letter.redrives + 1,
        act=act,
        redrive_id=redrive_id,
    )
    admission = await submit(replace(wanted, origin=Origin.REDRIVE, redriving=origin), ports=ports)
    if isinstance(admission, AcceptedNew):
        tell_redriven(admission.job, redrive_id=redrive_id)
        if admission.job.input.object_key is not None:
            await drop_strays(letter, kept=admission.job.input.object_key, ports=ports)
        return Redriven(job=admission.job)
    now = await ports.dead_letters.find(letter.id)
    if now is not None and now.status is not LetterStatus.OPEN:
        return AlreadyResolved(letter=now)
    if isinstance(admission, RunInProgress):
        return RunHeld(job=admission.job)
    # It has no idempotency key under which another job could be known: an input has vanished.
    return InputGone(why=_GONE)


async def drop_strays(letter: DeadLetter, *, kept: str | None, ports: Ports) -> None:
    """Delete what tries that got no answer stored for a letter, once it is resolved.

    Until then one of them may still turn out to be the redrive; from now on none can.
    """
    if letter.tenant_id is None:
        return
    try:
        found = await ports.blobs.names(stored_under(letter.tenant_id, letter.id))
        strays = [name for name in found if name != kept]
        if strays:
            await ports.blobs.delete(strays)
    except Unavailable:
        event("orphan_left", error_class=ErrorClass.UNAVAILABLE)


_TOO_OFTEN = (
    f"Its line was redriven {REDRIVES_BEFORE_FORCE} times already and failed again. "
    'Send "force": true if you mean it.'
)
_GONE = "Its input, or what that names, was deleted just now. A patch may bring another."
_NOT_TAKEN = "This deployment would not take the job any more: its kind, input or params changed."
