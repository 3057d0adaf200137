"""``POST /v1/dead-letters/{id}/redrive``: a dead letter's work once more, as a new job."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import DeadLetter, LetterStatus
from uketsuke.domain.job import Job
from uketsuke.domain.merge_patch import names_nothing
from uketsuke.http.answer import json_answer
from uketsuke.http.context import Context
from uketsuke.http.job_view import job_path, poll_after, show_job
from uketsuke.http.letter_acts import RedriveBody, find_letter, read_act
from uketsuke.http.message import Request, Response
from uketsuke.http.patched_work import first_document, patched_submission
from uketsuke.http.problem import Refused, refuse
from uketsuke.kinds.plan import rework
from uketsuke.services.redrive import (
    AlreadyResolved,
    InputGone,
    NotReplayable,
    Redriven,
    Refusal,
    input_gone,
    new_act,
    redrive,
    redrive_as_it_was,
    refusal_of,
    stored_input,
)


async def redrive_letter(request: Request, context: Context, *, letter_id: str) -> Response:
    """Start the new job: 202. The letter is the key under which nothing starts twice."""
    asked = await read_act(request, context, RedriveBody)
    letter = await find_letter(letter_id, context)
    patch, forced = _patch_in(asked), asked.get("force", False)
    act = new_act(
        context.caller.key_id,
        reason=asked["reason"],
        request_id=context.request_id,
        ports=context.ports,
        detail=_detail(patch, forced=forced),
    )
    if patch:
        outcome = await _redrive_patched(letter, patch, act=act, forced=forced, context=context)
    else:
        outcome = await redrive_as_it_was(
            letter,
            act=act,
            planner=partial(rework, kinds=context.kinds, settings=context.settings),
            ports=context.ports,
            forced=forced,
            traceparent=context.traceparent,
        )
    return _answer(outcome, context)


def _patch_in(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the patch; empty if it names nothing.

    Whether what it names is other than before is not asked: the answer would tell what was there.
    """
    patch: Mapping[str, Any] = asked.get("patch", {})
    return {} if names_nothing(patch) else patch


def _detail(patch: Mapping[str, Any], *, forced: bool) -> dict[str, object]:
    """What of the work was changed, by name: what it was changed to is content."""
    detail: dict[str, object] = {"patched": sorted(patch)} if patch else {}
    return {**detail, "forced": True} if forced else detail


async def _redrive_patched(
    letter: DeadLetter, patch: Mapping[str, Any], *, act: Act, forced: bool, context: Context
) -> Redriven | Refusal:
    ports = context.ports
    refusal = refusal_of(letter, patched=True, forced=forced)
    if refusal is not None:
        return refusal
    job = await ports.jobs.find(letter.job_id or "", tenant_id=letter.tenant_id)
    if job is None:
        return input_gone(letter)
    given = await stored_input(job, ports=ports) if letter.replayable_until else None
    if given is None and "input" not in patch:
        return input_gone(letter)
    wanted = await patched_submission(job, first_document(job, given), patch, context)
    return await redrive(letter, wanted, act=act, ports=ports)


def _answer(outcome: Redriven | Refusal, context: Context) -> Response:
    match outcome:
        case Redriven(job=job):
            wait = poll_after(job, now=context.ports.clock.now())
            headers = (("location", job_path(job)), ("retry-after", str(wait)))
            return json_answer(202, show_job(job, caller=context.caller), headers=headers)
        case AlreadyResolved(letter=letter):
            raise refuse_resolved(letter)
        case NotReplayable(why=why, needs_force=needs_force):
            raise refuse("not_replayable", why, members={"needs_force": needs_force})
        case InputGone(why=why):
            raise refuse("input_gone", why)
        case held:
            raise _in_progress(held.job)


def refuse_resolved(letter: DeadLetter) -> Refused:
    """Make the refusal of a redrive that came too late."""
    if letter.status is LetterStatus.REDRIVEN and letter.redriven_to:
        location = ("location", f"/v1/jobs/{letter.redriven_to}")
        members = {"id": letter.redriven_to}
        return refuse("already_redriven", members=members, headers=(location,))
    return refuse("already_resolved")


def _in_progress(job: Job) -> Refused:
    return refuse(
        "run_in_progress",
        "A live job holds the run key of the job that this would repeat. The dead letter stays "
        "open: redrive it once the job at Location has ended.",
        members={"id": job.id},
        headers=(("location", job_path(job)),),
    )
