"""The ``Idempotency-Key`` header: a Structured Field string (RFC 9651), or the bare key.

Both forms of the same characters are the same key. Beyond a Structured Field's tokens the bare
form takes all visible ASCII but quotes, commas, semicolons and backslashes, since UUIDs and
base64 are what people send; a header sent twice arrives joined by a comma and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from uketsuke.http.problem import Fault, FaultCode, Refused, refuse

# With the answer of a request that was known under its key already.
REPLAYED: Final = (("idempotency-replayed", "true"),)
_QUOTED: Final = re.compile(r'"((?:[ !#-\[\]-~]|\\["\\])*)"')
_BARE: Final = re.compile(r"[!#-+\--:<-\[\]-~]*")
_ESCAPED: Final = re.compile(r"\\(.)")
_MOST: Final = 200


def read_key(headers: Mapping[str, str]) -> tuple[str | None, tuple[Fault, ...]]:
    """Return the key, None if there is none, and what is wrong with it.

    The fault's pointer is empty, since the key is not in the body; its detail names the header.
    """
    sent = headers.get("idempotency-key")
    if sent is None:
        return None, ()
    key = _unquote(sent.strip())
    if key is None:
        return None, _fault("bad_value", "takes a quoted string or a token of printable ASCII")
    if not key:
        return None, _fault("empty", f"takes 1 to {_MOST} characters")
    if len(key) > _MOST:
        return None, _fault("too_long", f"takes 1 to {_MOST} characters")
    return key, ()


def refuse_mismatch(pointer: str) -> Refused:
    """Make the refusal of another request under a known key, which differs at ``pointer``."""
    fault = Fault(pointer=pointer, code="bad_value", detail="This differs from the first request.")
    return refuse("idempotency_mismatch", errors=(fault,), members={"pointer": pointer})


def _unquote(text: str) -> str | None:
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return _ESCAPED.sub(r"\1", quoted[1])
    return text if _BARE.fullmatch(text) else None


def _fault(code: FaultCode, what: str) -> tuple[Fault]:
    return (Fault(pointer="", code=code, detail=f"The header Idempotency-Key {what}."),)
