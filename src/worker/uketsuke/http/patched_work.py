"""A dead letter's job asked for anew, with a patch: rebuilt, merged, and checked as at intake.

Whoever patches may not see what the job was given. So a fault is pointed at where the patch names
its place; of one that lies elsewhere only the code is told, and which member it is about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from uketsuke.domain.job import InputForm, Job
from uketsuke.domain.merge_patch import decides, merged
from uketsuke.domain.money import show_usd
from uketsuke.http.asked_work import look_around
from uketsuke.http.context import Context
from uketsuke.http.problem import MOST_FAULTS, Fault, Refused, refuse, refuse_faults
from uketsuke.http.submission import Sender, submission_faults, to_submission
from uketsuke.services.redrive import StoredInput, time_given
from uketsuke.services.submit import Submission

# A kind's own parameter, or a form of the input; what lies deeper may bear names that are content.
_DEEPEST_TOLD: Final = 2


def first_document(job: Job, given: StoredInput | None) -> dict[str, Any]:
    """Return what the job was asked with; an input that is gone holds nothing."""
    document: dict[str, Any] = {
        "kind": job.kind,
        "input": _input(given) if given else {},
        "params": dict(job.params),
        "max_attempts": job.max_attempts,
        "deadline_seconds": math.ceil(time_given(job).total_seconds()),
    }
    if job.max_cost_micros is not None:
        document["max_cost_usd"] = show_usd(job.max_cost_micros)
    return document


def _input(given: StoredInput) -> dict[str, Any]:
    if given.form is InputForm.REF:
        return {given.form.value: given.refs[0]}
    return {given.form.value: list(given.refs) if given.refs else given.content}


async def patched_submission(
    job: Job, first: Mapping[str, Any], patch: Mapping[str, Any], context: Context
) -> Submission:
    """Return the submission of ``first`` after the patch; run key and metadata are the job's.

    Raises ``Refused``: 400 for what is wrong with the patch, 422 for what was sound when the job
    was accepted and is not any more.
    """
    document: Any = merged(first, patch)
    around = await look_around(document, context, tenant_id=job.tenant_id)
    faults = list(islice(submission_faults(document, around), MOST_FAULTS + 1))
    if faults:
        raise _refused(faults, patch)
    sender = Sender(tenant_id=job.tenant_id, idempotency_key=None, traceparent=context.traceparent)
    wanted = to_submission(document, around, sender)
    deadline = wanted.deadline if "deadline_seconds" in patch else time_given(job)
    return replace(
        wanted, run_key=job.run_key, metadata=job.metadata, document={}, deadline=deadline
    )


def _refused(faults: Sequence[Fault], patch: Mapping[str, Any]) -> Refused:
    own = [fault for fault in faults if decides(patch, _place(fault))]
    if own:
        return refuse_faults(map(_of_the_patch, own))
    if any(fault.code == "input_not_found" for fault in faults):
        return refuse("input_gone", "What its input names is gone. A patch may bring another.")
    told = tuple(dict.fromkeys(map(_without_content, faults[:MOST_FAULTS])))
    return refuse("not_replayable", _NOT_SOUND, errors=told)


def _of_the_patch(fault: Fault) -> Fault:
    told = replace(fault, pointer=f"/patch{fault.pointer}")
    two_forms = (fault.pointer, fault.code) == ("/input", "bad_value")
    return replace(told, detail=f"{fault.detail} {_OTHER_FORM}") if two_forms else told


def _place(fault: Fault) -> list[str]:
    """Return the way down to a fault, from its JSON Pointer."""
    tokens = fault.pointer.split("/")[1:]
    return [token.replace("~1", "/").replace("~0", "~") for token in tokens]


def _without_content(fault: Fault) -> Fault:
    return replace(fault, pointer="/".join(fault.pointer.split("/")[: _DEEPEST_TOLD + 1]))


# Who patches does not know which form that is, and need not: null for what is not there is sound.
_OTHER_FORM: Final = (
    "Another input stays beside this one until a null for its form takes it out: give null for "
    "each of the others."
)
_NOT_SOUND: Final = (
    "This deployment would not take the job any more. Patch the members that the errors are about."
)
