"""A power cut, seen by the runs of schedules: under way, recorded, and due meanwhile."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tests.acceptance.clockwork import Clock
from tests.acceptance.runs import SUCCEEDED, Desk, slow
from tests.support.running import Stack, until


def test_a_power_cut_loses_no_scheduled_run_and_starts_none_twice(tmp_path: Path) -> None:
    """One is cut in the middle, one was recorded and never begun, one falls due meanwhile."""
    own = Stack(state=tmp_path).start()
    try:
        with Desk.open(own) as before:
            clock = Clock(desk=before, tenant=own.tenant_of(before.key))
            midway = clock.due({"piece-2.0": slow(60)})
            own.sweep()
            before.sees_call(midway, "piece-2.0")
            missed = clock.due()
            recorded = clock.due()
            record(clock, recorded)
        own.kill()
        own.start()
        with Desk.open(own, key=before.key) as after:
            for job in (midway, missed, recorded):
                until(partial(_is_there, after, job), within=60, every=0.5)
                assert after.end(job, within=60, sweeping=True) == SUCCEEDED
            assert after.steps(midway) == ["piece-2.0", "piece-3.0", "join.0"]
    finally:
        own.stop()


def record(clock: Clock, job: str) -> None:
    """Leave things as a cron does that dies right after it has recorded an occurrence."""
    sql = """
    INSERT INTO occurrences (tenant_id, schedule, generation, due_at, job_id, state, recorded_at)
    SELECT tenant_id, name, generation, next_at, ?2, 'recorded', next_at
      FROM schedules WHERE tenant_id = ?1 AND name = ?3
    """
    clock.desk.stack.d1(sql, clock.tenant, job, clock.names[job])
    clock.desk.stack.d1("UPDATE schedules SET next_at = NULL WHERE name = ?1", clock.names[job])


def _is_there(desk: Desk, job: str) -> bool:
    desk.stack.sweep()
    return desk.api.get(f"/v1/jobs/{job}").status_code == 200
