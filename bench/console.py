"""What the console's pages cost: ``python -m bench.console``, two minutes.

Each page in a headless browser, on a local stack whose database holds 100,000 jobs of the tenant
who looks: a tenth live, a tenth failed with their dead letters. The figures are those of the
Worker's own log: how many requests a page makes when it is opened, how long the Worker took over
them together and over the slowest, and the calls and rows that D1 counts.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tests.console.browser import browsing
from tests.console.furnished import furnish
from tests.console.places import Place, places
from tests.console.visitor import Visitor, visiting
from tests.contract.conftest import RemoteD1
from tests.contract.full_store import filling
from tests.support.running import Stack, running, until

JOBS: Final = 100_000
MOST_MS: Final = 300


async def fill(stack: Stack, tenant: str) -> None:
    database = RemoteD1(stack)
    for statement in filling(tenant, JOBS):
        await database.batch([statement])


def lines_since(stack: Stack, start: int) -> list[dict[str, Any]]:
    """Return the log's lines of answered requests after its first ``start`` characters."""
    told = (line for line in stack.log[start:].splitlines() if '"request_answered"' in line)
    return [json.loads(line[line.index("{") :]) for line in told]


def cost_of(place: Place, visitor: Visitor) -> Sequence[dict[str, Any]]:
    """Open a page, and return the lines of what it has asked for until it was quiet."""
    visitor.page.goto("about:blank")
    start = len(visitor.stack.log)
    asked = len(visitor.requests)
    visitor.open(place.address, key=place.key)
    visitor.settle()
    wanted = sum("/v1/" in request.url for request in visitor.requests[asked:])

    def all_of_them() -> list[dict[str, Any]] | None:
        lines = lines_since(visitor.stack, start)
        return lines if len(lines) >= wanted else None

    return until(all_of_them)


def show(place: Place, lines: Sequence[dict[str, Any]]) -> None:
    spent = [line["duration_ms"] for line in lines]
    calls, rows = (sum(line[name] for line in lines) for name in ("d1.calls", "d1.rows_read"))
    over = "  over" if sum(spent) > MOST_MS else ""
    times = f"{sum(spent):9,}  {max(spent):10,}"
    print(f"{place.name:16}  {len(lines):8}  {calls:8}  {rows:9,}  {times}{over}")  # noqa: T201


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as state,
        running(Path(state)) as stack,
    ):
        there = furnish(stack)
        asyncio.run(fill(stack, there.tenant))
        stack.sweep()
        print(f"{JOBS:,} jobs; a page may take {MOST_MS} ms of the Worker's time")  # noqa: T201
        print(f"{'':16}  requests  D1 calls  rows read  Worker ms  slowest ms")  # noqa: T201
        with browsing() as browser, visiting(browser, stack) as visitor:
            for place in places(there):
                show(place, cost_of(place, visitor))


if __name__ == "__main__":
    main()
