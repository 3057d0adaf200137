"""``PUT /v1/inputs``."""

from __future__ import annotations

import re
from typing import Final

from uketsuke.http.answer import json_answer, rfc3339
from uketsuke.http.context import Context
from uketsuke.http.json_body import declared_length, refuse_encoding
from uketsuke.http.message import Request, Response
from uketsuke.http.problem import refuse
from uketsuke.services.ports import TooLarge
from uketsuke.services.upload import upload

# A type as RFC 9110 section 8.3.1 writes it, with what parameters there may be.
_TYPE: Final = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+ *(;[ -~]*)?", re.ASCII)
_LONGEST_TYPE: Final = 200
_UNTYPED: Final = "application/octet-stream"


async def put_input(request: Request, context: Context) -> Response:
    """Stream the body to storage and give it a name. Any type will do: the kind judges it."""
    content_type = _content_type(request)
    refuse_encoding(request)
    length = declared_length(request)
    most = context.settings.max_upload_bytes
    if length is None:
        raise refuse("length_required")
    if length > most:
        raise refuse("too_large", f"An input may have at most {most} bytes. Split it.")
    try:
        stored = await upload(
            request.body.stream,
            tenant_id=context.tenant_id,
            content_type=content_type,
            length=length,
            ports=context.ports,
        )
    except TooLarge:
        raise refuse("too_large", "The body is longer than its Content-Length says.") from None
    document = {
        "ref": stored.ref,
        "bytes": stored.bytes,
        "sha256": stored.sha256,
        "content_type": stored.content_type,
        "expires_at": rfc3339(stored.expires_at),
    }
    return json_answer(201, document)


def _content_type(request: Request) -> str:
    given = request.headers.get("content-type", "").strip() or _UNTYPED
    if len(given) > _LONGEST_TYPE or not _TYPE.fullmatch(given):
        raise refuse("unsupported_media_type", "Send a Content-Type like text/plain, or none.")
    return given
