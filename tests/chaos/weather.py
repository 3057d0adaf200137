"""How the provider misbehaves in a storm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from tests.chaos.load import CANARY
from tests.support.running import Stack

# Some pass, some are the job's end, some leave open whether the provider did the work.
_FAULTS: Final[Sequence[Mapping[str, Any]]] = (
    {"status": 429, "retry_after": 1},
    {"status": 429, "retry_after": 2},
    {"status": 500},
    {"status": 503, "retry_after": 1},
    {"status": 529},
    {"status": 500, "body": "garbage"},
    {"hang": True},
    {"drop": "before"},
    {"drop": "middle"},
    {"body": "garbage"},
    {"body": "truncated"},
    {"body": "empty"},
    {"body": "length"},
    {"body": "refusal"},
    {"status": 400, "code": CANARY},
    {"status": 500, "code": CANARY},
    {"seconds": 1},
    {"seconds": 2},
)
_ORDERS: Final = 6


def order_faults(stack: Stack, draw: Random) -> None:
    """Order some faults, in between calls that go well."""
    for _ in range(_ORDERS):
        stack.order(count=draw.randint(1, 3))
        stack.order(count=draw.randint(1, 2), **draw.choice(_FAULTS))
