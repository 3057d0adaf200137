"""Whether this Worker lives, and whether it can work. Open: nothing here tells about a tenant."""

from __future__ import annotations

import asyncio
from typing import Final

from uketsuke.domain.ids import RANDOM_BYTES, time_sorted_id
from uketsuke.http.answer import json_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import unavailable

# No job has it: ids are random. Looked up by primary key, it costs the database no row.
_NO_JOB: Final = time_sorted_id("job", now_ms=0, entropy=bytes(RANDOM_BYTES))


async def get_health(_request: Request, _context: Context) -> Response:
    """Answer without asking anybody: the process runs and its code loaded."""
    return json_answer(200, {"status": "ok"})


async def get_readiness(_request: Request, context: Context) -> Response:
    """Read the database. One that hangs is as bad as one that is away.

    Whether the sweep lives is told, and is no refusal: without it jobs are still accepted. Who
    watches from outside learns here that nobody is left to send an alert.
    """
    limit = context.settings.intake_database_timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            await context.ports.jobs.find(_NO_JOB, tenant_id="")
            silent = await context.ports.sweeping.silent_for()
    except TimeoutError:
        raise unavailable() from None
    seconds = None if silent is None else int(silent.total_seconds())
    return json_answer(200, {"status": "ready", "sweep_silent_seconds": seconds})
