"""What a person sends to redrive a dead letter, or to discard it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from uketsuke.domain.dead_letter import LETTER_ID, DeadLetter
from uketsuke.domain.money import USD_PATTERN
from uketsuke.http.characters import bad_characters
from uketsuke.http.context import Context
from uketsuke.http.json_body import read_json
from uketsuke.http.message import Request
from uketsuke.http.problem import MOST_FAULTS, Fault, refuse, refuse_faults
from uketsuke.http.reason import Reason, reason_faults
from uketsuke.http.walk import find_faults


class RedrivePatch(msgspec.Struct, frozen=True, kw_only=True):
    """A merge patch (RFC 7396) over what the job was asked with: null removes a member.

    What comes out is held against the same rules as a submission, under the job's tenant.
    """

    input: dict[str, Any] | UnsetType | None = UNSET
    params: dict[str, Any] | UnsetType | None = UNSET
    max_attempts: Annotated[int, Meta(ge=1, le=20)] | UnsetType | None = UNSET
    deadline_seconds: Annotated[int, Meta(ge=1, le=604_800)] | UnsetType | None = UNSET
    max_cost_usd: Annotated[str, Meta(pattern=USD_PATTERN)] | UnsetType | None = UNSET


class RedriveBody(msgspec.Struct, frozen=True, kw_only=True):
    """``force`` is for a letter whose line was redriven three times already."""

    reason: Reason
    patch: RedrivePatch | UnsetType = UNSET
    force: bool = False


class DiscardBody(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing will be done about it."""

    reason: Reason


async def read_act(
    request: Request, context: Context, body: type[RedriveBody | DiscardBody]
) -> dict[str, Any]:
    """Return the body as a document that ``body`` takes. Raises ``Refused`` with all its faults."""
    document = await read_json(request, limit=context.settings.max_body_bytes)
    faults = list(islice(_faults(document, body), MOST_FAULTS + 1))
    if faults:
        raise refuse_faults(faults)
    sound: dict[str, Any] = document
    return sound


def _faults(document: object, body: type[RedriveBody | DiscardBody]) -> Iterator[Fault]:
    yield from bad_characters(document)
    yield from find_faults(document, body)
    yield from reason_faults(document)


async def find_letter(letter_id: str, context: Context) -> DeadLetter:
    """Return the dead letter that a path names. Raises ``Refused`` if there is none."""
    well_formed = LETTER_ID.fullmatch(letter_id)
    letter = await context.ports.dead_letters.find(letter_id) if well_formed else None
    if letter is None:
        raise refuse("not_found")
    return letter
