"""The API's own description. Open: it tells what the code says."""

from __future__ import annotations

from uketsuke.http.answer import tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response


async def get_openapi(request: Request, context: Context) -> Response:
    """Describe the routes and kinds of this deployment."""
    # Imported when it is asked for: no other request should wait for it in a cold isolate.
    from uketsuke.http.openapi import describe
    from uketsuke.http.routes import ROUTES

    document = describe(ROUTES, context.kinds)
    return tagged_answer(document, asked=request.headers, headers=_CACHE)


_CACHE = (("cache-control", "public, max-age=300"),)
