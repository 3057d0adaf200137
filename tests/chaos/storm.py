"""One storm over the real stack: load, a failing provider, dying isolates, power cuts, then calm.

What is known at its end is one value, the aftermath, which the tests judge.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx

from tests.chaos.crowd import Crowd
from tests.chaos.echo import Echo
from tests.chaos.load import TENANTS, Order, Plan
from tests.chaos.weather import order_faults
from tests.support.running import QUICK, Stack, until

SETTINGS: Final[Mapping[str, str]] = {
    **QUICK,
    "LEASE_SECONDS": "5",
    "RENEW_EVERY_SECONDS": "1.5",
    "ATTEMPT_LIMIT_SECONDS": "4",
    "FIRST_WAKE_SECONDS": "3",
}
ORDERS_A_ROUND: Final = 45
ROUNDS_UNTIL_CALM: Final = 5
ORDERS_AFTER_ROUNDS: Final = 12
# Sometimes the sweep is first to find what has expired, sometimes a message.
_SWEEP_EVERY_SECONDS: Final = (0.3, 3.0)

Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class View:
    """What a caller is shown of a job at the end."""

    job: Row
    result_status: int
    result: Row
    events: Sequence[Row]


@dataclass(frozen=True, kw_only=True)
class Aftermath:
    """All that is known when the storm is over."""

    crowd: Crowd
    power_cuts: int
    isolates_destroyed: int
    deaths: Sequence[int]
    echoed: int
    jobs: Mapping[str, Row]
    attempts: Mapping[str, Sequence[Row]]
    letters: Sequence[Row]
    calls: Sequence[Row]
    earlier_ends: Mapping[str, Row]
    views: Mapping[str, View]
    replays: Mapping[Order, httpx.Response]
    log: str
    secrets: Sequence[str]


@dataclass
class Storm:
    """Drives one stack through rounds of load, each ended by a power cut."""

    stack: Stack
    draw: Random
    calls: list[Row] = field(default_factory=list)
    ends: dict[str, Row] = field(default_factory=dict)
    power_cuts: int = 0
    isolates_destroyed: int = 0
    deaths: list[int] = field(default_factory=list)

    def rage(self, rounds: int) -> Aftermath:
        """Go through it all and return what is left."""
        self.stack.start()
        keys = [self.stack.tenant() for _ in range(TENANTS)]
        plan = Plan(draw=self.draw)
        crowd = Crowd(url=self.stack.ready["url"], keys=keys)
        echo = Echo(stack=self.stack, draw=Random(self.draw.random()))
        crowd.open()
        echo.start()
        for first in range(0, rounds, ROUNDS_UNTIL_CALM):
            started = time.monotonic()
            for _ in range(min(ROUNDS_UNTIL_CALM, rounds - first)):
                crowd.put(plan.batch(ORDERS_A_ROUND))
                self._round()
                self._power_cut()
            self.stack.order(count=ORDERS_AFTER_ROUNDS, seconds=1)
            crowd.put(plan.batch(ORDERS_AFTER_ROUNDS))
            crowd.wait_for_answers()
            self._destroy_and_leave_to_the_queue()
            self._wait_for_calm(raged_for=time.monotonic() - started)
        crowd.close()
        echo.stop()
        self._collect_calls()
        return self._aftermath(crowd, echoed=echo.batches)

    def _round(self) -> None:
        """Let it run for a while under faults, and perhaps destroy isolates in the middle."""
        order_faults(self.stack, self.draw)
        self._sweep_for(self.draw.uniform(0.3, 2.5))
        for worker, chance in (("uketsuke-consumer", 0.8), ("uketsuke-api", 0.3)):
            if self.draw.random() < chance:
                self._destroy(worker)
        self._sweep_for(self.draw.uniform(0.3, 2.5))

    def _destroy(self, worker: str) -> None:
        self.stack.post("/kill", {"worker": worker})
        self.isolates_destroyed += 1
        if worker == "uketsuke-consumer":
            self._note_death()

    def _destroy_and_leave_to_the_queue(self) -> None:
        """Destroy the isolate, not the queue: its messages alone find the expired leases."""
        sql = "SELECT id FROM jobs WHERE state = 'running' AND leased_at <= ?1"
        until(lambda: self.stack.d1(sql, int(time.time() * 1000)))
        self._destroy("uketsuke-consumer")
        until(lambda: not self.stack.d1(sql, self.deaths[-1]), within=60, every=0.5)

    def _note_death(self) -> None:
        """Keep when something died in the middle of its work; the database has the same clock."""
        self.deaths.append(int(time.time() * 1000))

    def _power_cut(self) -> None:
        self._note_ends()
        self._collect_calls()
        self.stack.kill()
        self.power_cuts += 1
        self._note_death()
        self.stack.start()

    def _sweep_for(self, seconds: float) -> None:
        """Sweep now and then until the time is over: the storm's moments are drawn, not met."""
        over_at = time.monotonic() + seconds
        while (left := over_at - time.monotonic()) > 0:
            self.stack.sweep()
            time.sleep(min(left, self.draw.uniform(*_SWEEP_EVERY_SECONDS)))

    def _wait_for_calm(self, *, raged_for: float) -> None:
        """Wait until nothing lives.

        The bound grows with the storm: the sweep sends what waits at doubling intervals, and the
        local queue forgets it at each power cut.
        """
        give_up_at = time.monotonic() + 60 + raged_for
        with self.stack.models() as models:
            models.delete("/faults")
        while living := self.stack.d1("SELECT * FROM jobs WHERE finished_at IS NULL"):
            late = time.monotonic() > give_up_at
            assert not late, f"these live: {living}\n{self.stack.log[-8000:]}"
            self.stack.sweep()
            time.sleep(self.draw.uniform(*_SWEEP_EVERY_SECONDS))

    def _note_ends(self) -> None:
        """Keep what has ended as it is now: nothing may change it any more."""
        sql = "SELECT * FROM jobs WHERE finished_at IS NOT NULL"
        for row in self.stack.d1(sql):
            self.ends.setdefault(row["id"], row)

    def _collect_calls(self) -> None:
        """Keep the provider's journal, which dies with it."""
        with self.stack.models() as models:
            self.calls += models.get("/requests").json()["items"]

    def _aftermath(self, crowd: Crowd, *, echoed: int) -> Aftermath:
        attempts: dict[str, list[Row]] = {}
        for row in self.stack.d1("SELECT * FROM attempts ORDER BY job_id, number"):
            attempts.setdefault(row["job_id"], []).append(row)
        return Aftermath(
            crowd=crowd,
            power_cuts=self.power_cuts,
            isolates_destroyed=self.isolates_destroyed,
            deaths=self.deaths,
            echoed=echoed,
            jobs={row["id"]: row for row in self.stack.d1("SELECT * FROM jobs")},
            attempts=attempts,
            letters=self.stack.d1("SELECT * FROM dead_letters"),
            calls=self.calls,
            earlier_ends=self.ends,
            views=self._views(crowd),
            replays=self._replays(crowd),
            log=self.stack.log,
            secrets=[key.rpartition("_")[2] for key in crowd.keys],
        )

    def _views(self, crowd: Crowd) -> Mapping[str, View]:
        clients = [self.stack.api(key) for key in crowd.keys]

        def look(job: str) -> View:
            api = clients[crowd.accepted[job].tenant]
            result = api.get(f"/v1/jobs/{job}/result")
            return View(
                job=api.get(f"/v1/jobs/{job}").json(),
                result_status=result.status_code,
                result=result.json(),
                events=api.get(f"/v1/jobs/{job}/events").json()["items"],
            )

        with ThreadPoolExecutor(4) as pool:
            views = dict(zip(crowd.accepted, pool.map(look, crowd.accepted), strict=True))
        for client in clients:
            client.close()
        return views

    def _replays(self, crowd: Crowd) -> Mapping[Order, httpx.Response]:
        """Send every request that had an idempotency key once more."""
        with httpx.Client(base_url=crowd.url, timeout=60) as http:
            return {
                order: http.post("/v1/jobs", json=order.document, headers=crowd.headers(order))
                for order in crowd.by_key
            }


def storm_over(state: Path, *, seed: int, rounds: int) -> Aftermath:
    """Run a storm on a stack of its own."""
    stack = Stack(state=state, settings=SETTINGS)
    try:
        return Storm(stack=stack, draw=Random(seed)).rage(rounds)
    finally:
        stack.stop()
