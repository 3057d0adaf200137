"""Bulk redrives: what one would touch, start one, look at them, stop one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice
from typing import Final

import msgspec

from uketsuke.domain.bulk_redrive import REDRIVE_ID, RedriveState
from uketsuke.http.answer import PRIVATE, json_answer, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.idempotency_key import REPLAYED, read_key, refuse_mismatch
from uketsuke.http.json_body import read_json, read_json_or_nothing
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import next_page, page_limit, read_list_query
from uketsuke.http.problem import MOST_FAULTS, Fault, refuse, refuse_faults
from uketsuke.http.redrive_document import (
    RedriveOrder,
    StopOrder,
    order_faults,
    redrive_path,
    show_estimate,
    show_redrive,
    stop_faults,
    to_filter,
)
from uketsuke.services.redrive import new_act
from uketsuke.services.redrives import WantedRedrive, start_redrive

LIST_QUERY: Final = frozenset({"limit", "cursor"})


async def submit_redrive(request: Request, context: Context) -> Response:
    """Say what a bulk redrive would touch, 200, or start it, 202; the sweep drives it on."""
    document = await read_json(request, limit=context.settings.max_body_bytes)
    key, key_faults = read_key(request.headers)
    _refuse(chain(key_faults, order_faults(document)))
    order = msgspec.convert(document, RedriveOrder)
    wanted = to_filter(order.filter)
    if order.dry_run:
        return json_answer(200, show_estimate(await context.ports.redrives.estimate(wanted)))
    asked = WantedRedrive(
        wanted=wanted,
        reason=document["reason"],
        rate_per_minute=order.rate_per_minute,
        canary=order.canary,
        actor=context.caller.key_id,
        request_id=context.request_id,
        idempotency_key=key,
    )
    started = await start_redrive(asked, ports=context.ports)
    if started.difference is not None:
        raise refuse_mismatch(started.difference)
    location = ("location", redrive_path(started.shown.redrive.id))
    headers = (location, *(REPLAYED if started.known else ()))
    return json_answer(202, show_redrive(started.shown), headers=headers)


async def list_redrives(request: Request, context: Context) -> Response:
    """Answer a page, newest first."""
    asked, faults = read_list_query(request.query, caller=context.caller)
    if faults:
        raise refuse_faults(faults)
    if "cursor" in asked and not REDRIVE_ID.fullmatch(asked["cursor"]):
        raise refuse("invalid_cursor")
    page = await context.ports.redrives.page(before=asked.get("cursor"), limit=page_limit(asked))
    document = {
        "items": [show_redrive(shown) for shown in page.redrives],
        "next": next_page(request.path, asked, page.cursor),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


async def get_redrive(request: Request, context: Context, *, redrive_id: str) -> Response:
    """Show one, with its figures of now."""
    known = REDRIVE_ID.fullmatch(redrive_id)
    shown = await context.ports.redrives.find(redrive_id) if known else None
    if shown is None:
        raise refuse("not_found")
    return tagged_answer(show_redrive(shown), asked=request.headers, headers=PRIVATE)


async def stop_redrive(request: Request, context: Context, *, redrive_id: str) -> Response:
    """Stop one before its next letter; again: the same. What it has started goes on."""
    document = await read_json_or_nothing(request, limit=context.settings.max_body_bytes)
    _refuse(stop_faults(document))
    reason = msgspec.convert(document, StopOrder).reason
    act = new_act(
        context.caller.key_id, reason=reason, request_id=context.request_id, ports=context.ports
    )
    known = REDRIVE_ID.fullmatch(redrive_id)
    shown = await context.ports.redrives.stop(redrive_id, act=act) if known else None
    if shown is None:
        raise refuse("not_found")
    if shown.redrive.state is RedriveState.DONE:
        told = {"id": redrive_id, "state": shown.redrive.state}
        raise refuse("already_finished", _WAS_DONE, members=told)
    return json_answer(200, show_redrive(shown))


def _refuse(found: Iterable[Fault]) -> None:
    faults = list(islice(found, MOST_FAULTS + 1))
    if faults:
        raise refuse_faults(faults)


_WAS_DONE: Final = "The bulk redrive was done already: there is nothing to stop."
