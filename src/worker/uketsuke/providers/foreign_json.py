"""JSON that a provider wrote."""

from __future__ import annotations

import json
from typing import Any

from uketsuke.domain.nesting import too_deep


def read_foreign(content: bytes) -> Any:
    """Return the document in ``content``. Raises ``ValueError`` for all that cannot be read."""
    if too_deep(content):
        raise ValueError("the document nests too deep")
    return json.loads(content.decode("utf-8-sig"))
