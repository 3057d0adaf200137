"""``uketsuke cancel`` and ``upload``."""

from __future__ import annotations

from typing import Annotated

import typer

from uketsuke_client.command.option import DEFAULT_URL, JobId, Json, Key, Url
from uketsuke_client.command.session import session
from uketsuke_client.command.source import opened


def cancel(
    job_id: JobId, url: Url = DEFAULT_URL, key: Key = None, json_output: Json = False
) -> None:
    """Cancel a job. One that runs ends at its next pause, if its work is not done before."""
    with session(url=url, key=key, json_output=json_output, job_id=job_id) as here:
        job = here.client.cancel(job_id)
        told = job.state if job.terminal else "cancel requested; it ends at its next pause"
        here.screen.answer(f"{job.id}: {told}")
        here.screen.document(job.raw)


def upload(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, - for stdin.")],
    content_type: Annotated[
        str | None, typer.Option(metavar="TYPE", help="What it is, if its name does not say.")
    ] = None,
    url: Url = DEFAULT_URL,
    key: Key = None,
    json_output: Json = False,
) -> None:
    """Upload a file and print its ref, to submit with --ref."""
    with session(url=url, key=key, json_output=json_output) as here:
        with opened(file) as stream:
            found = here.client.upload(stream, content_type=content_type)
        here.screen.note(f"uploaded {found.bytes} bytes as {found.content_type}")
        here.screen.answer(found.ref)
        here.screen.document(found.raw)
