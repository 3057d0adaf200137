"""Load a job's input from where it lies, and make sure that it is what its kind expects."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from uketsuke.domain.audio import HEAD_BYTES, sniff
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.job import LeasedJob, Upload
from uketsuke.domain.long_text import LongText, Text, is_blank
from uketsuke.domain.markdown import words
from uketsuke.providers.port import Audio
from uketsuke.services.ports import Ports, Unavailable

_Answer = TypeVar("_Answer")


async def load_text(leased: LeasedJob, *, ports: Ports) -> Text:
    """Return the input as one text that is not blank. Raises ``AttemptFailed`` otherwise."""
    if leased.job.input.refs:
        text = _decode(await _uploaded(leased, ports=ports))
    else:
        text = LongText((await _kept(leased, ports=ports)).encode())
    if is_blank(text):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_empty")
    return text


async def load_texts(leased: LeasedJob, *, ports: Ports) -> Sequence[str]:
    """Return the input as texts, none of them blank; an upload is JSON Lines of strings."""
    if leased.job.input.refs:
        # Lines end at LF alone: a string may hold what else ends lines of text, such as U+2028.
        lines = io.BytesIO(await _uploaded(leased, ports=ports))
        lines.seek(3 if lines.read(3) == codecs.BOM_UTF8 else 0)
        texts = [_line(_decode(line)[:]) for line in lines if line.strip()]
    else:
        texts = await _kept(leased, ports=ports)
    if not texts or not all(text.strip() for text in texts):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_empty")
    return texts


async def load_source(
    ref: str, *, tenant_id: str, members: Mapping[str, str], ports: Ports
) -> Text:
    """Return one of several inputs as a text that is not blank.

    ``members`` tells by a job's kind which member of its result is its text.
    """
    text: Text
    if JOB_ID.fullmatch(ref):
        text = await _text_of_job(ref, tenant_id=tenant_id, members=members, ports=ports)
    else:
        upload = await _upload(ref, tenant_id=tenant_id, ports=ports)
        text = _decode(await _object(upload.object_key, ports=ports))
    if is_blank(text):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_empty")
    return text


async def load_audio(leased: LeasedJob, *, ports: Ports) -> Audio:
    """Say where the recording lies and what it is. Its content stays there."""
    (ref,) = leased.job.input.refs
    upload = await _upload(ref, tenant_id=leased.job.tenant_id, ports=ports)
    length = min(HEAD_BYTES, upload.bytes)
    head = await _asked(ports.blobs.part(upload.object_key, offset=0, length=length))
    if head is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    form = sniff(head)
    if form is None:
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "audio_unsupported")
    return Audio(
        object_key=upload.object_key,
        bytes=upload.bytes,
        content_type=form.content_type,
        # Providers go by its ending.
        filename=f"audio.{form}",
    )


async def _text_of_job(
    job_id: str, *, tenant_id: str, members: Mapping[str, str], ports: Ports
) -> str:
    jobs = await _asked(ports.inputs.find_jobs([job_id], tenant_id=tenant_id))
    job = jobs.get(job_id)
    if job is None or job.result is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    if job.result.object_key is not None:
        document = json.loads(await _object(job.result.object_key, ports=ports))
    else:
        kept = await _asked(ports.jobs.result_text(job.key, attempt=job.result.attempt))
        if kept is None:
            raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
        document = json.loads(kept)
    member = members.get(job.kind, "")
    text = document.get(member)
    if not isinstance(text, str):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text")
    return words(text) if member == "markdown" else text


async def _kept(leased: LeasedJob, *, ports: Ports) -> Any:
    """Return what was submitted with the job itself."""
    place = leased.job.input
    if place.object_key is None:
        if leased.inline_input is None:
            raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
        return json.loads(leased.inline_input)
    return json.loads(await _object(place.object_key, ports=ports))


async def _uploaded(leased: LeasedJob, *, ports: Ports) -> bytes:
    (ref,) = leased.job.input.refs
    upload = await _upload(ref, tenant_id=leased.job.tenant_id, ports=ports)
    return await _object(upload.object_key, ports=ports)


async def _upload(ref: str, *, tenant_id: str, ports: Ports) -> Upload:
    uploads = await _asked(ports.inputs.find([ref], tenant_id=tenant_id))
    if ref not in uploads:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    return uploads[ref]


async def _object(key: str, *, ports: Ports) -> bytes:
    content = await _asked(ports.blobs.get(key))
    if content is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    return content


async def _asked(answer: Awaitable[_Answer]) -> _Answer:
    try:
        return await answer
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None


def _decode(content: bytes) -> LongText:
    if b"\0" in content:
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text")
    try:
        return LongText(content)
    except UnicodeDecodeError:
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text") from None


def _line(line: str) -> str:
    try:
        # Only a string is looked at: what nests deep would take the parser's stack.
        text = json.loads(line) if line.lstrip().startswith('"') else None
    except ValueError:
        text = None
    if not isinstance(text, str):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_json_lines")
    # JSON can spell what no UTF-8 text holds: half a character, and NUL.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text")
    return text
