"""Load a job's input from where it lies, and make sure that it is what its kind expects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import LeasedJob
from uketsuke.services.ports import Ports, Unavailable


async def load_text(leased: LeasedJob, *, ports: Ports) -> str:
    """Return the input as one text that is not blank. Raises ``AttemptFailed`` otherwise."""
    if leased.job.input.refs:
        text = _decode(await _uploaded(leased, ports=ports))
    else:
        text = await _kept(leased, ports=ports)
    if not text.strip():
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_empty")
    return text


async def load_texts(leased: LeasedJob, *, ports: Ports) -> Sequence[str]:
    """Return the input as texts, none of them blank; an upload is JSON Lines of strings."""
    if leased.job.input.refs:
        lines = _decode(await _uploaded(leased, ports=ports)).splitlines()
        texts = [_line(line) for line in lines if line.strip()]
    else:
        texts = await _kept(leased, ports=ports)
    if not texts or not all(text.strip() for text in texts):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_empty")
    return texts


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
    try:
        uploads = await ports.inputs.find([ref], tenant_id=leased.job.tenant_id)
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
    if ref not in uploads:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    return await _object(uploads[ref].object_key, ports=ports)


async def _object(key: str, *, ports: Ports) -> bytes:
    try:
        content = await ports.blobs.get(key)
    except Unavailable:
        raise AttemptFailed(ErrorClass.UNAVAILABLE, "storage_unavailable") from None
    if content is None:
        raise AttemptFailed(ErrorClass.NOT_FOUND, "input_gone")
    return content


def _decode(content: bytes) -> str:
    try:
        # A byte order mark is no part of the text.
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text") from None
    if "\0" in text:
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text")
    return text


def _line(line: str) -> str:
    try:
        text = json.loads(line)
    except (ValueError, RecursionError):
        text = None
    if not isinstance(text, str):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_json_lines")
    # JSON can spell what no UTF-8 text holds: half a character, and NUL.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise AttemptFailed(ErrorClass.INVALID_INPUT, "input_not_text")
    return text
