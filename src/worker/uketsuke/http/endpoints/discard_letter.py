"""``POST /v1/dead-letters/{id}/discard``: nothing will be done about it, and why."""

from __future__ import annotations

from uketsuke.http.answer import json_answer
from uketsuke.http.context import Context
from uketsuke.http.dead_letter_view import show_letter
from uketsuke.http.letter_acts import DiscardBody, find_letter, read_act
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import refuse
from uketsuke.services.discard import discard
from uketsuke.services.redrive import AlreadyResolved, new_act


async def discard_letter(request: Request, context: Context, *, letter_id: str) -> Response:
    """Discard an open dead letter, and answer with it."""
    asked = await read_act(request, context, DiscardBody)
    letter = await find_letter(letter_id, context)
    act = new_act(
        context.caller.key_id,
        reason=asked["reason"],
        request_id=context.request_id,
        ports=context.ports,
    )
    outcome = await discard(letter, act=act, ports=context.ports)
    if isinstance(outcome, AlreadyResolved):
        redriven_to = outcome.letter.redriven_to
        raise refuse("already_resolved", members={"id": redriven_to} if redriven_to else {})
    return json_answer(200, show_letter(outcome))
