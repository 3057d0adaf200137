"""``GET /v1/key``: what the key that asks is, so that whoever holds it knows what it opens."""

from __future__ import annotations

from uketsuke.http.answer import PRIVATE, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response


async def get_key(request: Request, context: Context) -> Response:
    """Tell whose the caller's key is and what it may do; its secret is told by nobody."""
    caller = context.caller
    document = {
        "key_id": caller.key_id,
        "tenant_id": caller.tenant_id,
        "scopes": sorted(caller.scopes),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)
