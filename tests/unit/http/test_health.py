"""Whether the Worker says that it lives, and whether it says that it can work."""

from __future__ import annotations

from datetime import timedelta

from tests.unit.http.fakes import out_of_reach
from tests.unit.http.world import World, assert_problem
from uketsuke.settings import Settings


def test_health_asks_nobody(world: World) -> None:
    world.jobs.broken = out_of_reach()

    answer = world.send("GET", "/healthz?probe=1")

    assert (answer.status, answer.document) == (200, {"status": "ok"})


def test_readiness_reads_the_database(world: World) -> None:
    assert world.send("GET", "/readyz").document == {"status": "ready"}

    world.jobs.broken = out_of_reach()
    answer = world.send("GET", "/readyz")

    assert_problem(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "5"


def test_a_database_that_hangs_is_not_ready(world: World) -> None:
    world.settings = Settings(intake_database_timeout=timedelta(milliseconds=10))
    world.jobs.hangs = True

    assert_problem(world.send("GET", "/readyz"), 503, "unavailable")
