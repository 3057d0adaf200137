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
    """Read the database once. A database that hangs is as bad as one that is away."""
    limit = context.settings.intake_database_timeout.total_seconds()
    try:
        async with asyncio.timeout(limit):
            await context.ports.jobs.find(_NO_JOB, tenant_id="")
    except TimeoutError:
        raise unavailable() from None
    return json_answer(200, {"status": "ready"})
