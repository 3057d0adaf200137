"""A request's body as JSON, strictly: what two parsers could read in two ways is refused."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, Final, NoReturn

from uketsuke.domain.nesting import MOST_DEPTH, too_deep
from uketsuke.http.message import Request
from uketsuke.http.pointer import shown
from uketsuke.http.problem import refuse
from uketsuke.services.ports import TooLarge

_JSON_TYPE: Final = re.compile(r'application/json *(; *charset="?utf-8"?)? *', re.IGNORECASE)


async def read_json(request: Request, *, limit: int) -> Any:
    """Return the body as a JSON value. Raises ``Refused`` for a wrong type, size or text."""
    if not _JSON_TYPE.fullmatch(request.headers.get("content-type", "")):
        raise refuse("unsupported_media_type")
    refuse_encoding(request)
    return parse(await _read(request, limit=limit))


async def read_json_or_nothing(request: Request, *, limit: int) -> Any:
    """Return the body as ``read_json`` does; without a body, an empty object."""
    refuse_encoding(request)
    raw = await _read(request, limit=limit)
    if not raw.strip():
        return {}
    if not _JSON_TYPE.fullmatch(request.headers.get("content-type", "")):
        raise refuse("unsupported_media_type")
    return parse(raw)


async def read_nothing(request: Request, *, limit: int) -> None:
    """Refuse a body that says something: here is nobody who would listen."""
    raw = await _read(request, limit=limit)
    if raw.strip() and parse(raw) != {}:
        raise refuse("invalid_json", "This request takes no body. Send none, or an empty object.")


def refuse_encoding(request: Request) -> None:
    """Refuse a body that was compressed: it would be taken for what it is not."""
    if request.headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise refuse("unsupported_media_type", "Send the body without a Content-Encoding.")


def declared_length(request: Request) -> int | None:
    """Return the body's length as its header says, or None if that says nothing."""
    text = request.headers.get("content-length", "").strip()
    # More digits than any body has bytes; int() would refuse some thousands of them.
    return int(text[:20]) if text.isascii() and text.isdigit() else None


async def _read(request: Request, *, limit: int) -> bytes:
    if (declared_length(request) or 0) > limit:
        raise _too_large(limit)
    try:
        return await request.body.read(limit)
    except TooLarge:
        raise _too_large(limit) from None


def _too_large(limit: int) -> Exception:
    return refuse(
        "too_large",
        f"The body may have at most {limit} bytes. Send a larger input by PUT /v1/inputs and "
        "name its ref here.",
    )


def parse(raw: bytes) -> Any:
    """Parse strict JSON of bounded depth. Raises ``Refused``; total otherwise.

    Beyond the grammar it refuses names that come twice in an object, and numbers that no
    program would read back.
    """
    if too_deep(raw):
        raise refuse(
            "invalid_json", f"Nest at most {MOST_DEPTH} arrays and objects, and close each."
        )
    try:
        return json.loads(
            raw.decode("utf-8-sig"),
            parse_float=_finite,
            parse_constant=_no_constant,
            object_pairs_hook=_once,
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise refuse("invalid_json", f"The body is not JSON: look at {where}.") from None
    except UnicodeDecodeError:
        raise refuse("invalid_json", "The body is not UTF-8.") from None
    except ValueError:
        # Python bounds the digits of an integer, since reading them takes quadratic time.
        raise refuse("invalid_json", "A number in the body has too many digits.") from None


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise refuse("invalid_json", "A number in the body is too large for any program to hold.")
    return number


def _no_constant(name: str) -> NoReturn:
    raise refuse("invalid_json", f"JSON has no {name.lstrip('-')}.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise refuse("invalid_json", f"An object has two members named {shown(twice)}.")
    return members
