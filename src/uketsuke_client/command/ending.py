"""How a command ends: its exit code, what a person reads and what a program reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from uketsuke_client.error import (
    ApiError,
    NotFinished,
    StillRedriving,
    UnexpectedAnswer,
    Unreachable,
)
from uketsuke_client.problem import NOT_OURS
from uketsuke_client.request import Unsendable


class ExitCode(IntEnum):
    FINE = 0
    JOB_FAILED = 1
    NOT_SOUND = 1
    BAD_INPUT = 2
    UNREACHABLE = 3
    REFUSED = 4
    NOT_FINISHED = 5
    INTERRUPTED = 130


EXIT_CODES_HELP: Final = (
    "Exit codes: 0 fine; 1 the job failed or was canceled, the bulk redrive was stopped, or the "
    "store is not sound; "
    "2 usage or bad input; 3 the server cannot be reached or cannot answer; "
    "4 refused (key, scope, rate, quota); "
    "5 not finished, or the time to wait is over; 130 interrupted."
)


class BadInput(Exception):
    """What the user gave cannot be used; the message says why and what would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    exit_code: ExitCode
    lines: Sequence[str]
    document: Mapping[str, Any]


Ender = (
    ApiError | Unreachable | UnexpectedAnswer | NotFinished | StillRedriving | BadInput | Unsendable
)
_NO_HINTS: Final[Mapping[str, str]] = {}


def ending_of(error: Ender, *, job_id: str | None, hints: Mapping[str, str] = _NO_HINTS) -> Ending:
    """Say how ``error`` ends a command that was about ``job_id``.

    ``hints`` by code are the command's own, before those that are true of every command.
    """
    match error:
        case ApiError():
            return _refused(error, job_id=error.job_id or job_id, hints={**_HINTS, **hints})
        case Unreachable():
            return _unreachable(error)
        case UnexpectedAnswer():
            return Ending(
                exit_code=ExitCode.UNREACHABLE,
                lines=[str(error), "Check --url (or UKETSUKE_URL)."],
                document={"code": NOT_OURS, "detail": str(error)},
            )
        case NotFinished():
            return Ending(
                exit_code=ExitCode.NOT_FINISHED,
                lines=[f"{error}; it goes on.", follow_hint(error.job.id)],
                document=error.job.raw,
            )
        case StillRedriving():
            return Ending(
                exit_code=ExitCode.NOT_FINISHED,
                lines=[f"{error}; it goes on.", run_hint(error.run.id)],
                document=error.run.raw,
            )
        case BadInput() | Unsendable():
            return Ending(
                exit_code=ExitCode.BAD_INPUT,
                lines=[str(error)],
                document={"code": "bad_input", "detail": str(error)},
            )


def follow_hint(job_id: str) -> str:
    return f"Follow it: uketsuke status {job_id} --follow"


def run_hint(run_id: str) -> str:
    return f"Follow it: uketsuke redrives follow {run_id}; stop it: uketsuke redrives stop {run_id}"


def same_key_hint(idempotency_key: str) -> str:
    return (
        "Should it have arrived all the same: submitted again with "
        f"--idempotency-key {idempotency_key} it starts nothing twice."
    )


def _unreachable(error: Unreachable) -> Ending:
    lines = [
        str(error),
        "Is the server running, and is --url (or UKETSUKE_URL) right?",
        "A local one is started by: uketsuke dev",
    ]
    document = {"code": "unreachable", "detail": str(error)}
    if error.idempotency_key:
        lines.append(same_key_hint(error.idempotency_key))
        document["idempotency_key"] = error.idempotency_key
    return Ending(exit_code=ExitCode.UNREACHABLE, lines=lines, document=document)


def _refused(error: ApiError, *, job_id: str | None, hints: Mapping[str, str]) -> Ending:
    lines = [f"{error.status} {error.code}: {error.detail}"]
    lines += [f"  {f.pointer or '/'}: {f.detail or f.code} ({f.code})" for f in error.errors]
    if error.code in hints:
        lines.append(hints[error.code].replace("{job}", job_id or "ID"))
    if error.retry_after is not None and error.status in {429, 503}:
        lines.append(f"The server asks to try again in {error.retry_after:g} s.")
    if error.request_id and error.status >= 500:
        lines.append(f"The server's operator can look for request {error.request_id}.")
    return Ending(
        exit_code=_EXIT_CODES.get(error.code) or _exit_code_of(error.status),
        lines=lines,
        document=error.problem.raw or _as_problem(error),
    )


def _as_problem(error: ApiError) -> Mapping[str, Any]:
    return {"status": error.status, "code": error.code, "detail": error.detail}


_EXIT_CODES: Final[Mapping[str, ExitCode]] = {
    "job_failed": ExitCode.JOB_FAILED,
    "job_canceled": ExitCode.JOB_FAILED,
    "not_finished": ExitCode.NOT_FINISHED,
    "run_in_progress": ExitCode.NOT_FINISHED,
}


def _exit_code_of(status: int) -> ExitCode:
    if status in {401, 403, 429}:
        return ExitCode.REFUSED
    return ExitCode.UNREACHABLE if status >= 500 else ExitCode.BAD_INPUT


# What the server cannot know: how to go on with this command.
_HINTS: Final[Mapping[str, str]] = {
    "unauthenticated": "Give a key that this server knows with --key or UKETSUKE_KEY.",
    "not_found": "Check the id or the name, and that --url and the key are those it was made with.",
    "job_failed": "uketsuke status {job} says why; the job has no result.",
    "job_canceled": "The job was canceled and has no result.",
    "not_finished": "Follow it: uketsuke status {job} --follow",
    "run_in_progress": (
        "Follow the live one: uketsuke status {job} --follow; --on-conflict return gives it back."
    ),
    "already_redriven": "Follow its job: uketsuke status {job} --follow",
    "already_resolved": "uketsuke dlq show ID says by whom and why.",
    "not_replayable": "--patch brings another input; --force redrives a line once more.",
    "input_gone": "--patch can bring another input; uketsuke dlq discard closes the case.",
    "too_large": "Send large inputs by reference: uketsuke upload FILE, then submit with --ref.",
    "not_acceptable": "Only the vectors of an embed can be had so: name a file without .f32.",
    "expired": "Its time of keeping is over; submit the work again.",
    NOT_OURS: "That is no answer of Uketsuke's: check --url (or UKETSUKE_URL), and proxies.",
}
