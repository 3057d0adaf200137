"""``uketsuke status``, ``result`` and ``events``: they change nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from uketsuke_client.client import Client
from uketsuke_client.command.ending import BadInput, ExitCode
from uketsuke_client.command.follow import follow
from uketsuke_client.command.option import DEFAULT_URL, JobId, Json, Key, Timeout, Url
from uketsuke_client.command.screen import Screen, as_json
from uketsuke_client.command.session import session
from uketsuke_client.command.show import (
    event_lines,
    event_table,
    job_lines,
    job_table,
    result_rendered,
    result_text,
)


def status(
    job_id: JobId,
    following: Annotated[
        bool, typer.Option("--follow", "--wait", help="Follow the job to its end.")
    ] = False,
    timeout: Timeout = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Show a job, or follow it to its end. Exits 1 if it failed or was canceled."""
    with session(url=url, key=key, json_output=json_output, job_id=job_id) as here:
        job = follow(here, job_id=job_id, timeout=timeout) if following else here.client.job(job_id)
        here.screen.answer(job_lines(job), rendered=job_table(job))
        here.screen.document(job.raw)
        if job.terminal and not job.succeeded:
            raise typer.Exit(ExitCode.JOB_FAILED)


def result(
    job_id: JobId,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write it to FILE: its words, or all of it as JSON if FILE ends in .json; "
            "vectors as 32-bit floats if it ends in .f32.",
        ),
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Print a succeeded job's result, or write it to a file."""
    with session(url=url, key=key, json_output=json_output, job_id=job_id) as here:
        if output is None:
            found = here.client.result(job_id)
            answer_result(here.screen, found)
            here.screen.document(found)
            return
        body = _file_content(here.client, job_id, path=output)
        _write(body, path=output)
        here.screen.note(f"wrote {len(body)} bytes to {output}")
        here.screen.document({"written": str(output), "bytes": len(body)})


def events(
    job_id: JobId, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False
) -> None:
    """List what happened to a job, oldest first."""
    with session(url=url, key=key, json_output=json_output, job_id=job_id) as here:
        found = here.client.events(job_id)
        here.screen.answer(event_lines(found), rendered=event_table(found))
        here.screen.document({"items": [event.raw for event in found]})


def answer_result(screen: Screen, found: Mapping[str, Any]) -> None:
    words = result_text(found)
    screen.answer(
        screen.as_json(found) if words is None else words, rendered=result_rendered(found)
    )


def _file_content(client: Client, job_id: str, *, path: Path) -> bytes:
    """Return the result in the form that the file's name asks for."""
    form = path.suffix.lower()
    if form == ".f32":
        return client.vectors(job_id).packed
    found = client.result(job_id)
    words = result_text(found)
    if words is None or form == ".json":
        words = as_json(found)
    ending = "" if words.endswith("\n") else "\n"
    return (words + ending).encode(errors="backslashreplace")


def _write(body: bytes, *, path: Path) -> None:
    """Write the whole file or none of it."""
    try:
        handle, half = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(body)
            os.replace(half, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(half)
            raise
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror or error}") from None
