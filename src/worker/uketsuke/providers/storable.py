"""A model's text as it may be stored."""

from __future__ import annotations

from uketsuke.providers.meaning import Fault, fault


def storable_answer(text: object) -> str:
    """Return a model's answer. Raises ``AttemptFailed`` if nothing is left of it to be stored."""
    kept = storable(text, otherwise=Fault.NO_TEXT) if isinstance(text, str) else ""
    if not kept:
        raise fault(Fault.NO_TEXT)
    return kept


def storable(text: str, *, otherwise: Fault) -> str:
    """Refuse what no UTF-8 can hold; drop NUL, at which a database may end a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise fault(otherwise) from None
    return text.replace("\0", "").strip()
