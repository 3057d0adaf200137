"""The audit: written with its act or not at all, never changed, and read newest first."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Sequence
from typing import Any

import pytest

from tests.contract.factories import Store
from uketsuke.adapters.sql.audit import SqlAudit, record, recording
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.audit import Act, Action, AuditRow
from uketsuke.domain.ids import time_sorted_id
from uketsuke.services.ports import AuditFilter

pytestmark = pytest.mark.anyio
_numbers = itertools.count(1_900_000_000_000)


def an_act(**changes: Any) -> Act:
    name = time_sorted_id("au", now_ms=next(_numbers), entropy=secrets.token_bytes(10))
    values: dict[str, Any] = {
        "id": name, "actor": "k", "reason": "because", "request_id": "r", "detail": {"job": "j"}
    }  # fmt: skip
    return Act(**{**values, **changes})


async def recorded(store: Store, act: Act, *, target: str = "dl_1", mine: bool = True) -> None:
    tenant = store.tenant if mine else None
    statement = record(act, action=Action.LETTER_REDRIVEN, target=target, tenant_id=tenant)
    await store.database.batch([statement])


async def listed(store: Store, **wanted: Any) -> Sequence[AuditRow]:
    asked = AuditFilter(**{"tenant_id": store.tenant, **wanted})
    return (await SqlAudit(store.database).page(asked, before=None, limit=10)).rows


async def test_a_row_is_read_as_it_was_written(store: Store) -> None:
    act = an_act()

    await recorded(store, act)

    (row,) = await listed(store)
    assert (row.act, row.action, row.target) == (act, "dead_letter.redriven", "dl_1")
    assert row.tenant_id == store.tenant
    assert abs(row.at.timestamp() * 1000 - await store.now()) < 60_000


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE audit SET reason = 'x' WHERE id = ?1",
        "DELETE FROM audit WHERE id = ?1",
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE id = ?1",
    ],
)
async def test_a_row_is_never_changed_nor_deleted(store: Store, sql: str) -> None:
    act = an_act()
    await recorded(store, act)

    with pytest.raises(Exception, match="append-only"):
        await store.database.batch([Statement(sql, (act.id,))])

    (row,) = await listed(store)
    assert row.act == act


async def test_an_act_under_a_used_id_fails_as_a_whole(store: Store) -> None:
    act = an_act()
    await recorded(store, act)
    key = await store.accepted()
    end = Statement("UPDATE jobs SET wake_at = 1 WHERE tenant_id = ?1 AND id = ?2", tuple(key))
    again = record(act, action=Action.REDRIVE_STOPPED, target="rd_1", tenant_id=store.tenant)

    with pytest.raises(Exception, match="append-only"):
        await store.database.batch([end, again])

    assert (await store.row(key))["wake_at"] != 1


async def test_a_guarded_row_is_written_only_if_its_guard_holds(store: Store) -> None:
    guarded = recording("EXISTS (SELECT 1 FROM jobs WHERE tenant_id = ?5 AND id = ?9)")
    key = await store.accepted()

    for job in ("job_none", key.job_id):
        act = an_act(request_id=job)
        await store.database.batch(
            [
                record(
                    act,
                    action=Action.REDRIVE_STARTED,
                    target="rd_1",
                    tenant_id=store.tenant,
                    text=guarded,
                    guarded_by=(job,),
                )
            ]
        )

    assert [row.act.request_id for row in await listed(store)] == [key.job_id]


async def test_what_is_asked_for_is_found_and_nothing_else(store: Store) -> None:
    one, other = an_act(actor="k1"), an_act(actor="k2")
    await recorded(store, one, target="dl_1")
    await recorded(store, other, target="dl_2")

    for wanted, found in [
        ({"actor": "k1"}, [one.id]),
        ({"target": "dl_2"}, [other.id]),
        ({"action": "dead_letter.redriven"}, [other.id, one.id]),
        ({"action": "dead_letter.discarded"}, []),
        ({"actor": "k1", "target": "dl_2"}, []),
    ]:
        assert [row.act.id for row in await listed(store, **wanted)] == found


async def test_pages_follow_each_other_without_a_gap_or_a_repeat(store: Store) -> None:
    acts = [an_act() for _ in range(5)]
    for act in acts:
        await recorded(store, act)
    audit, before, seen = SqlAudit(store.database), None, []

    while True:
        asked = AuditFilter(tenant_id=store.tenant)
        page = await audit.page(asked, before=before, limit=2)
        seen += [row.act.id for row in page.rows]
        before = page.cursor
        if before is None:
            break

    assert seen == [act.id for act in reversed(acts)]


async def test_operators_see_the_rows_of_all_tenants_and_of_none(store: Store) -> None:
    mine, nobodys = an_act(actor=store.tenant), an_act(actor=store.tenant)
    await recorded(store, mine)
    await recorded(store, nobodys, mine=False)

    page = await SqlAudit(store.database).page(
        AuditFilter(actor=store.tenant), before=None, limit=10
    )

    assert [row.act.id for row in page.rows] == [nobodys.id, mine.id]
    assert [row.act.id for row in await listed(store)] == [mine.id]
