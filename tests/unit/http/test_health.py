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
    ready = world.send("GET", "/readyz").document
    assert ready == {"status": "ready", "sweep_silent_seconds": None}

    world.jobs.broken = out_of_reach()
    answer = world.send("GET", "/readyz")

    assert_problem(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "5"


def test_a_database_that_hangs_is_not_ready(world: World) -> None:
    world.settings = Settings(intake_database_timeout=timedelta(milliseconds=10))
    world.jobs.hangs = True

    assert_problem(world.send("GET", "/readyz"), 503, "unavailable")


def test_readiness_tells_how_long_ago_the_sweep_did_anything(world: World) -> None:
    for name, seconds in (("wake", 400), ("purge_jobs", 70)):
        world.database.connection.execute(
            "INSERT INTO duties (name, done_at)"
            " VALUES (?1, CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER) - ?2)",
            (name, seconds * 1000),
        )

    answer = world.send("GET", "/readyz")

    assert answer.status == 200
    assert 70 <= answer.document["sweep_silent_seconds"] < 100
