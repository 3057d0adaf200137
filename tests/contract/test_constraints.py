"""Rows that say something impossible cannot be written, whatever a statement forgets."""

from __future__ import annotations

import pytest

from tests.contract.factories import Store
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.lifecycle import JobState

pytestmark = pytest.mark.anyio

IMPOSSIBLE = [
    (JobState.ACCEPTED, "state = 'done'"),
    (JobState.ACCEPTED, "state = 'running'"),
    (JobState.ACCEPTED, "lease_token = 't', leased_until = 1"),
    (JobState.ACCEPTED, "wake_at = NULL"),
    (JobState.ACCEPTED, "finished_at = 1, wake_at = NULL, expires_at = 2"),
    (JobState.ACCEPTED, "state = 'succeeded'"),
    (JobState.ACCEPTED, "result = '{}'"),
    (JobState.ACCEPTED, "attempts = -1"),
    (JobState.ACCEPTED, "attempts = 1"),
    (JobState.ACCEPTED, "max_attempts = 21"),
    (JobState.ACCEPTED, "reserved_micros = 1"),
    (JobState.RETRYING, "reserved_micros = 0"),
    (JobState.SUCCEEDED, "reserved_micros = 1"),
    (JobState.ACCEPTED, "max_cost_micros = 0"),
    (JobState.ACCEPTED, "max_attempts = 0"),
    (JobState.ACCEPTED, "engine = 'cart'"),
    (JobState.ACCEPTED, "origin = 'nowhere'"),
    (JobState.ACCEPTED, "due_at = 'soon'"),
    (JobState.RUNNING, "lease_token = NULL"),
    (JobState.RUNNING, "lease_token = NULL, leased_until = NULL"),
    (JobState.RUNNING, "attempts = 6, attempt_no = 6"),
    (JobState.RUNNING, "finished_at = 1"),
    (JobState.RETRYING, "state = 'failed'"),
    (JobState.SUCCEEDED, "result = NULL"),
    (JobState.SUCCEEDED, "wake_at = 1"),
    (JobState.SUCCEEDED, "live_run_key = 'k'"),
    (JobState.SUCCEEDED, "expires_at = NULL"),
    (JobState.SUCCEEDED, "state = 'retrying'"),
    (JobState.FAILED, "error_class = NULL"),
    (JobState.CANCELED, "finished_at = NULL"),
]


@pytest.mark.parametrize(("state", "change"), IMPOSSIBLE)
async def test_an_impossible_row_is_refused(store: Store, state: JobState, change: str) -> None:
    key, _ = await store.in_state(state)
    before = await store.row(key)
    sql = f"UPDATE jobs SET {change} WHERE tenant_id = ?1 AND id = ?2"  # noqa: S608

    # SQLite raises its own error; D1's comes through the control server as a refused request.
    with pytest.raises(Exception, match=r"constraint|cannot store"):
        await store.database.batch([Statement(sql, tuple(key))])

    assert await store.row(key) == before


async def test_two_live_jobs_with_one_run_key_are_refused(store: Store) -> None:
    first, second = await store.accepted(run_key="one"), await store.accepted(run_key="two")
    sql = "UPDATE jobs SET live_run_key = 'one' WHERE tenant_id = ?1 AND id = ?2"

    with pytest.raises(Exception, match="UNIQUE constraint"):
        await store.database.batch([Statement(sql, tuple(second))])

    assert (await store.row(first))["live_run_key"] == "one"
