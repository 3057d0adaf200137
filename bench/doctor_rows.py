"""What the doctor reads: ``python -m bench.doctor_rows``, on the local stack's D1, two minutes.

D1 bills rows read at a thousandth of what it asks for rows written. A check's stretch is 10,000
jobs; each costs a row of its index, its own, and those that it is held against.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from tests.contract.conftest import RemoteD1
from tests.contract.factories import RETENTION
from tests.contract.full_store import filling
from tests.support.running import running

from uketsuke.adapters.sql.doctor import CHECKS, SqlDoctor
from uketsuke.adapters.sql.doctor_check import Patience

SIZES = (0, 100_000, 200_000)
PATIENCE = Patience(
    retention=RETENTION,
    sweep_every=timedelta(seconds=60),
    released=timedelta(days=37),
    letters=timedelta(days=90),
)


async def measure(database: RemoteD1) -> dict[str, tuple[int, float]]:
    """Return the rows read and the milliseconds that each check takes."""
    doctor, found = SqlDoctor(database, PATIENCE), {}
    for name in CHECKS:
        before, started = database.rows_read, time.perf_counter()
        await doctor.ask([name])
        spent = (time.perf_counter() - started) * 1000
        found[name] = (database.rows_read - before, spent)
    return found


async def fill(database: RemoteD1, *, start: int, jobs: int) -> None:
    for statement in filling("bench", jobs, start=start):
        await database.batch([statement])


async def grow(database: RemoteD1) -> list[dict[str, tuple[int, float]]]:
    measured = []
    for before, size in zip((0, *SIZES), SIZES, strict=False):
        await fill(database, start=before + 1, jobs=size - before)
        measured.append(await measure(database))
    return measured


def main() -> None:
    with tempfile.TemporaryDirectory() as state, running(Path(state)) as stack:
        measured = asyncio.run(grow(RemoteD1(stack)))
    print("rows read (ms)              " + "".join(f"{size:>18,} jobs" for size in SIZES))  # noqa: T201
    for name in CHECKS:
        cells = [each[name] for each in measured]
        print(f"{name:28}" + "".join(f"{rows:>14,} ({ms:5.0f})" for rows, ms in cells))  # noqa: T201
    sums = [[sum(column) for column in zip(*each.values(), strict=True)] for each in measured]
    print(f"{'all':28}" + "".join(f"{rows:>14,} ({ms:5.0f})" for rows, ms in sums))  # noqa: T201


if __name__ == "__main__":
    main()
