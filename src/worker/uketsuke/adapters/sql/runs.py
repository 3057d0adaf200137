"""The store's side of runs on Workflows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Final

from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql import run_statements as sql
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.repository import Retention, burying_failed
from uketsuke.adapters.sql.statements import LOOK
from uketsuke.domain.failure import ErrorClass
from uketsuke.domain.job import Checkpoint, Job, JobKey, LeasedJob, SilentRun
from uketsuke.domain.price import NO_TARIFF, Tariff

_PAGE: Final = 200


class SqlRuns:
    """``services.ports.Runs`` on any ``Database``."""

    def __init__(
        self, database: Database, retention: Retention, tariff: Tariff = NO_TARIFF
    ) -> None:
        self._database = database
        self._retention = retention
        self._tariff = rows.from_tariff(tariff)

    async def resume(self, key: JobKey, *, token: str, lease: timedelta) -> LeasedJob | None:
        whole = f"{token}.{key.job_id}"
        wave = rows.dump([[*key, whole]])
        _, looked = await self._database.batch(
            [
                Statement(sql.RESUME, (wave, rows.to_ms(lease), *self._tariff)),
                Statement(LOOK, (wave, token, *self._tariff)),
            ]
        )
        mine = next((row for row in looked if row["ours"]), None)
        return None if mine is None else rows.to_leased_job(mine, token=whole)

    async def nudge(self, run: SilentRun, *, lease: timedelta, counted: bool = True) -> bool:
        nudge = (_wave([run]), rows.to_ms(lease), int(counted))
        return bool(await self._select(sql.NUDGE, *nudge))

    async def end_silent(
        self, runs: Collection[SilentRun], *, error_class: ErrorClass
    ) -> Sequence[Job]:
        kept, wave, why = self._retention, _wave(runs), error_class.value
        end = (wave, why, rows.to_ms(kept.keep_results), rows.to_ms(kept.grace))
        _, _, ended, _ = await self._database.batch(
            [
                Statement(sql.RECORD_SILENT, (wave, why)),
                Statement(sql.DOOM_SILENT, (wave,)),
                Statement(sql.END_SILENT, end),
                burying_failed(wave, kept),
            ]
        )
        return [rows.to_job(row) for row in ended]

    async def doomed(self, *, limit: int) -> Sequence[str]:
        return [row["id"] for row in await self._select(sql.SELECT_DOOMED, limit)]

    async def forget_doomed(self, instance_ids: Collection[str]) -> None:
        await self._select(sql.FORGET_DOOMED, rows.dump(list(instance_ids)))

    async def keep(self, key: JobKey, checkpoint: Checkpoint) -> Checkpoint | None:
        named = (*key, checkpoint.step, checkpoint.digest)
        written = (
            *named, checkpoint.attempt, checkpoint.content, checkpoint.object_key,
            _from_usage(checkpoint),
        )  # fmt: skip
        _, found = await self._database.batch(
            [Statement(sql.KEEP_CHECKPOINT, written), Statement(sql.SELECT_CHECKPOINT, named)]
        )
        return _checkpoint(found[0]) if found else None

    async def checkpoints(self, key: JobKey) -> Sequence[Checkpoint]:
        found: list[Checkpoint] = []
        after = ("", "")
        while True:
            page = await self._select(sql.SELECT_CHECKPOINTS, *key, *after, _PAGE)
            found += map(_checkpoint, page)
            if len(page) < _PAGE:
                return found
            after = (found[-1].step, found[-1].digest)

    async def _select(self, text: str, *params: str | int | None) -> Sequence[Row]:
        (found,) = await self._database.batch([Statement(text, params)])
        return found


def _wave(runs: Collection[SilentRun]) -> str:
    return rows.dump([[*run.job.key, run.token] for run in runs])


def _checkpoint(row: Row) -> Checkpoint:
    return Checkpoint(
        step=row["step"],
        digest=row["digest"],
        attempt=row["attempt"],
        content=row["content"],
        object_key=row["object_key"],
        usage=rows.to_usage(row["usage"]),
        lost_lives=rows.load(row["usage"]).get("lost_lives", 0) if row["usage"] else 0,
    )


def _from_usage(checkpoint: Checkpoint) -> str | None:
    """Write what a step has used, and how many lives that are lost are in it."""
    text = rows.from_usage(checkpoint.usage)
    if text is None or not checkpoint.lost_lives:
        return text
    return rows.dump({**rows.load(text), "lost_lives": checkpoint.lost_lives})
