"""``uketsuke submit``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from uketsuke_client.command.ending import ExitCode, follow_hint, same_key_hint
from uketsuke_client.command.follow import follow
from uketsuke_client.command.look import answer_result
from uketsuke_client.command.option import DEFAULT_URL, Json, Key, Timeout, Url, pair
from uketsuke_client.command.session import Session, session
from uketsuke_client.command.source import Given, input_of
from uketsuke_client.job import Accepted
from uketsuke_client.request import new_idempotency_key


def submit(
    kind: Annotated[
        str, typer.Argument(metavar="KIND", help="summarize, transcribe, embed, report, …")
    ],
    text: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="The text; again for more texts.")
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="A file, - for stdin. Text to 512 KiB is sent as it is, all else is uploaded.",
        ),
    ] = None,
    texts_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Many texts: JSON Lines of strings, or one a line."),
    ] = None,
    ref: Annotated[
        list[str] | None,
        typer.Option(metavar="REF", help="An uploaded input, in_…, or a job's result, job_…."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A parameter of the kind, such as max_words=80. VALUE is JSON if it can be.",
        ),
    ] = None,
    metadata: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A note of yours on the job.")
    ] = None,
    run_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="A name of which only one job may be live."),
    ] = None,
    on_conflict: Annotated[
        str | None,
        typer.Option(
            metavar="reject|return", help="What to do when a job with that run key is live."
        ),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Your name for this submission: given again, it gives the same job. "
            "Otherwise one is made up.",
        ),
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(metavar="N")] = None,
    deadline_seconds: Annotated[int | None, typer.Option(metavar="N")] = None,
    max_cost_usd: Annotated[str | None, typer.Option(metavar="DECIMAL")] = None,
    wait: Annotated[
        bool,
        typer.Option("--wait", "--follow", help="Follow the job to its end and print its result."),
    ] = False,
    timeout: Timeout = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Submit a job and print its id; with --wait, follow it and print its result.

    With --json the document is the job, and after --wait also its "result".
    """
    given = Given(texts=text or (), file=file, texts_file=texts_file, refs=ref or ())
    params = dict(_param(p) for p in param or ())
    notes = dict(pair(m, option="--metadata") for m in metadata or ())
    with session(url=url, key=key, json_output=json_output) as here:
        own_key = idempotency_key or new_idempotency_key()
        job_input = input_of(given, kind=kind, session=here)
        here.aside.if_interrupted = [same_key_hint(own_key)]
        job = here.client.submit(
            kind,
            input=job_input,
            params=params or None,
            idempotency_key=own_key,
            run_key=run_key,
            on_conflict=on_conflict,
            max_attempts=max_attempts,
            deadline_seconds=deadline_seconds,
            max_cost_usd=max_cost_usd,
            metadata=notes or None,
        )
        here.aside.if_interrupted = ()
        _tell_accepted(here, job)
        if wait:
            _to_the_end(here, job_id=job.id, timeout=timeout)
        else:
            here.screen.note(follow_hint(job.id), style="dim")
            here.screen.answer(job.id)
            here.screen.document(job.raw)


def _tell_accepted(here: Session, job: Accepted) -> None:
    here.aside.job_id = job.id
    known = " (made before by a submission with this key)" if job.replayed else ""
    here.screen.note(f"{job.kind} job {job.id}: {job.state}{known}")


def _to_the_end(here: Session, *, job_id: str, timeout: float | None) -> None:
    job = follow(here, job_id=job_id, timeout=timeout)
    if not job.succeeded:
        here.screen.document(job.raw)
        raise typer.Exit(ExitCode.JOB_FAILED)
    result = here.client.result(job.id)
    answer_result(here.screen, result)
    here.screen.document({**job.raw, "result": result})


def _param(given: str) -> tuple[str, Any]:
    """Return NAME=VALUE with its value as JSON if it is JSON, and else as the words it is."""
    name, value = pair(given, option="--param")
    try:
        return name, json.loads(value, parse_constant=_no_number)
    except ValueError:
        return name, value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
