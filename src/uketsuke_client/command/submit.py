"""``uketsuke submit``."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import typer

from uketsuke_client.command.ending import ExitCode, follow_hint, same_key_hint
from uketsuke_client.command.follow import follow
from uketsuke_client.command.look import answer_result
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Timeout, Url, json_pair, pair
from uketsuke_client.command.session import Session, session
from uketsuke_client.command.source import Given, input_of
from uketsuke_client.job import Accepted
from uketsuke_client.request import new_idempotency_key


def _words(metavar: str, told: str) -> Any:
    """Return an option whose name is its parameter's."""
    return typer.Option(metavar=metavar, help=told)


Kind: TypeAlias = Annotated[
    str, typer.Argument(metavar="KIND", help="summarize, transcribe, embed, report, …")
]
Texts: TypeAlias = Annotated[list[str] | None, _words("TEXT", "The text; again for more texts.")]
File: TypeAlias = Annotated[
    str | None,
    _words("FILE", "A file, - for stdin. Text to 512 KiB is sent as it is, all else is uploaded."),
]
TextsFile: TypeAlias = Annotated[
    str | None, _words("FILE", "Many texts: JSON Lines of strings, or one a line.")
]
Refs: TypeAlias = Annotated[
    list[str] | None, _words("REF", "An uploaded input, in_…, or a job's result, job_….")
]
Params: TypeAlias = Annotated[
    list[str] | None,
    _words(
        "NAME=VALUE",
        "A parameter of the kind, such as max_words=80. VALUE is JSON if it can be.",
    ),
]
Metadata: TypeAlias = Annotated[
    list[str] | None, _words("NAME=VALUE", "A note of yours on the job.")
]
RunKey: TypeAlias = Annotated[
    str | None, _words("KEY", "A name of which only one job may be live.")
]
OnConflict: TypeAlias = Annotated[
    str | None, _words("reject|return", "What to do when a job with that run key is live.")
]
IdempotencyKey: TypeAlias = Annotated[
    str | None,
    _words(
        "KEY", "Your name for this submission: given again, it gives the same job. Else made up."
    ),
]
MaxAttempts: TypeAlias = Annotated[int | None, _words("N", "How often it is tried.")]
Deadline: TypeAlias = Annotated[int | None, _words("N", "When it is too late, from now.")]
MaxCost: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--max-cost",
        "--max-cost-usd",
        metavar="DECIMAL",
        help="What it may cost at most, in dollars, over all its attempts.",
    ),
]
Wait: TypeAlias = Annotated[
    bool,
    typer.Option("--wait", "--follow", help="Follow the job to its end and print its result."),
]


def submit(
    kind: Kind,
    text: Texts = None,
    file: File = None,
    texts_file: TextsFile = None,
    ref: Refs = None,
    param: Params = None,
    metadata: Metadata = None,
    run_key: RunKey = None,
    on_conflict: OnConflict = None,
    idempotency_key: IdempotencyKey = None,
    max_attempts: MaxAttempts = None,
    deadline_seconds: Deadline = None,
    max_cost_usd: MaxCost = None,
    wait: Wait = False,
    timeout: Timeout = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Submit a job and print its id; with --wait, follow it and print its result.

    With --json the document is the job, and after --wait also its "result".
    """
    given = Given(texts=text or (), file=file, texts_file=texts_file, refs=ref or ())
    asked = {
        "params": dict(json_pair(p, option="--param") for p in param or ()) or None,
        "metadata": dict(pair(m, option="--metadata") for m in metadata or ()) or None,
        "run_key": run_key,
        "on_conflict": on_conflict,
        "idempotency_key": idempotency_key or new_idempotency_key(),
        "max_attempts": max_attempts,
        "deadline_seconds": deadline_seconds,
        "max_cost_usd": max_cost_usd,
    }
    with session(url=url, key=key, json_output=json_output) as here:
        job = _submitted(here, kind=kind, given=given, asked=asked)
        if wait:
            _to_the_end(here, job_id=job.id, timeout=timeout)
        else:
            here.screen.note(_next_step(job), style="dim")
            here.screen.answer(job.id)
            here.screen.document(job.raw)


def _submitted(here: Session, *, kind: str, given: Given, asked: dict[str, Any]) -> Accepted:
    job_input = input_of(given, kind=kind, session=here)
    here.aside.if_interrupted = [same_key_hint(asked["idempotency_key"])]
    job = here.client.submit(kind, input=job_input, **asked)
    here.aside.if_interrupted = ()
    here.aside.job_id = job.id
    known = " (made before by a submission with this key)" if job.replayed else ""
    here.screen.note(f"{job.kind} job {job.id}: {job.state}{known}")
    return job


def _next_step(job: Accepted) -> str:
    return f"Its result: uketsuke result {job.id}" if job.succeeded else follow_hint(job.id)


def _to_the_end(here: Session, *, job_id: str, timeout: float | None) -> None:
    job = follow(here, job_id=job_id, timeout=timeout)
    if not job.succeeded:
        here.screen.document(job.raw)
        raise typer.Exit(ExitCode.JOB_FAILED)
    result = here.client.result(job.id)
    answer_result(here.screen, result)
    here.screen.document({**job.raw, "result": result})
