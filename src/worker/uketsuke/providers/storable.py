"""A model's text as it may be stored."""

from __future__ import annotations

from uketsuke.providers.meaning import Fault, fault


def storable(text: str, *, otherwise: Fault) -> str:
    """Refuse what no UTF-8 can hold; drop NUL, at which a database may end a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise fault(otherwise) from None
    return text.replace("\0", "").strip()
