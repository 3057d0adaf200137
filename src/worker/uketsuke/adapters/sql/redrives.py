"""The store of bulk redrives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from uketsuke.adapters.sql import bulk_standing as standing_sql
from uketsuke.adapters.sql import bulk_statements as sql
from uketsuke.adapters.sql import rows
from uketsuke.adapters.sql.audit import record
from uketsuke.adapters.sql.database import Database, Param, Row, Statement
from uketsuke.adapters.sql.dead_letters import to_dead_letter
from uketsuke.domain.audit import Act, Action
from uketsuke.domain.bulk_redrive import (
    BulkRedrive,
    Estimate,
    Figures,
    LetterFilter,
    NewRedrive,
    RedriveState,
    StoppedBecause,
    Stopping,
    Stretch,
    Turn,
)
from uketsuke.domain.job import Job, JobKey
from uketsuke.domain.price import Tariff
from uketsuke.services.ports import BulkPlace, Candidates, Decided, RedrivePage, ShownRedrive

_AFTER_ALL = "rd_~"  # sorts after every id
_FIGURES = ("started", "succeeded", "failed", "canceled")


class SqlRedrives:
    """``services.ports.Redrives`` on any ``Database``."""

    def __init__(self, database: Database, tariff: Tariff) -> None:
        self._database = database
        self._rates, _ = rows.from_tariff(tariff)

    async def estimate(self, wanted: LetterFilter) -> Estimate:
        (row,) = await self._select(sql.ESTIMATE, *_from_filter(wanted), self._rates)
        known = row["replayable"] == 0 or row["unpriced"] < row["replayable"]
        return Estimate(
            count=row["count"],
            replayable=row["replayable"],
            unpriced=row["unpriced"],
            cost_micros=row["cost_micros"] if known else None,
        )

    async def start(self, new: NewRedrive, *, act: Act) -> ShownRedrive:
        insert = (
            new.id, *_from_filter(new.wanted), act.reason, new.rate_per_minute, new.canary,
            act.actor, act.request_id, new.idempotency_key,
        )  # fmt: skip
        _, _, *shown = await self._database.batch(
            [
                Statement(sql.INSERT_REDRIVE, insert),
                record(
                    act,
                    action=Action.REDRIVE_STARTED,
                    target=new.id,
                    tenant_id=new.wanted.tenant_id,
                    text=sql.AUDIT_START,
                ),
                *_showing(f"{new.id}~", 1),
            ]
        )
        return _named(new.id, _shown(shown)) or await self._known(act.actor, new.idempotency_key)

    async def _known(self, actor: str, key: str | None) -> ShownRedrive:
        (row,) = await self._select(sql.SELECT_BY_KEY, actor, key)
        known = await self.find(row["id"])
        assert known is not None  # nothing deletes it
        return known

    async def find(self, redrive_id: str) -> ShownRedrive | None:
        shown = _shown(await self._database.batch(_showing(f"{redrive_id}~", 1)))
        return _named(redrive_id, shown)

    async def page(self, *, before: str | None, limit: int) -> RedrivePage:
        shown = _shown(await self._database.batch(_showing(before or _AFTER_ALL, limit)))
        full = len(shown) == limit
        return RedrivePage(redrives=shown, cursor=shown[-1].redrive.id if full else None)

    async def stop(self, redrive_id: str, *, act: Act) -> ShownRedrive | None:
        found = await self.find(redrive_id)
        if found is None:
            return None
        auditing = record(
            act,
            action=Action.REDRIVE_STOPPED,
            target=redrive_id,
            tenant_id=found.redrive.wanted.tenant_id,
            text=sql.AUDIT_STOP,
        )
        stopping = Statement(sql.STOP_REDRIVE, (redrive_id, act.reason, act.actor))
        _, _, *shown = await self._database.batch(
            [auditing, stopping, *_showing(f"{redrive_id}~", 1)]
        )
        return _named(redrive_id, _shown(shown))

    async def open_ones(self, *, limit: int) -> Sequence[str]:
        return [row["id"] for row in await self._select(sql.SELECT_OPEN_REDRIVES, limit)]

    async def take_turn(self, redrive_id: str, *, token: str) -> Turn | None:
        taken, ended, latest, standing = await self._database.batch(
            [
                Statement(sql.TAKE_TURN, (redrive_id, token)),
                Statement(standing_sql.SELECT_CANARIES_ENDED, (redrive_id,)),
                Statement(standing_sql.SELECT_LATEST, (redrive_id,)),
                Statement(standing_sql.SELECT_STANDING, (redrive_id,)),
            ]
        )
        if not taken:
            return None
        under_way = standing[0]["under_way"]
        return Turn(
            redrive=_to_redrive(taken[0]),
            token=token,
            now=rows.to_time(taken[0]["now"]),
            started=standing[0]["started"],
            failed_again=[bool(row["failed_again"]) for row in ended],
            latest=Stretch(**latest[0]) if latest else None,
            under_way=None if under_way is None else bool(under_way),
        )

    async def claim(self, turn: Turn, *, paced_at: datetime) -> bool:
        return await self._change(sql.CLAIM_TIME, turn, rows.from_time(paced_at))

    async def candidates(self, turn: Turn, *, limit: int) -> Candidates | None:
        ours = (turn.redrive.id, turn.token)
        still_ours, found, ends = await self._database.batch(
            [
                Statement(sql.SELECT_OURS, ours),
                Statement(sql.SELECT_CANDIDATES, (*ours, limit)),
                Statement(sql.SELECT_STRETCH_END, ours),
            ]
        )
        if not still_ours:
            return None
        letters = [to_dead_letter(row) for row in found]
        if len(letters) == limit:
            last = letters[-1]
            return Candidates(
                letters=letters, end=BulkPlace(at=last.last_failed_at, letter_id=last.id)
            )
        return Candidates(letters=letters, end=_to_place(ends[0]) if ends else None)

    async def jobs_of(self, keys: Sequence[JobKey]) -> Mapping[JobKey, tuple[Job, str | None]]:
        found = await self._select(sql.SELECT_JOBS_WITH_INPUT, rows.from_keys(keys))
        jobs = [(rows.to_job(row), row["inline_input"]) for row in found]
        return {job.key: (job, inline) for job, inline in jobs}

    async def decided(self, turn: Turn, done: Decided) -> bool:
        ours = (turn.redrive.id, turn.token)
        place = (rows.from_time(done.place.at), done.place.letter_id) if done.place else (None,) * 2
        moving = Statement(sql.MOVE_ON, (*ours, *place, int(done.all_seen), int(done.broke_off)))
        if not done.skipped:
            (moved,) = await self._database.batch([moving])
            return bool(moved)
        skips = rows.dump([list(pair) for pair in done.skipped.items()])
        _, moved = await self._database.batch([Statement(sql.INSERT_SKIPS, (*ours, skips)), moving])
        return bool(moved)

    async def run(self, turn: Turn) -> bool:
        return await self._change(sql.LEAVE_CANARIES, turn)

    async def stop_itself(self, turn: Turn, stopping: Stopping) -> bool:
        return await self._change(sql.STOP_ITSELF, turn, stopping.because, stopping.detail)

    async def finish(self, turn: Turn) -> bool:
        return await self._change(sql.FINISH_REDRIVE, turn)

    async def close(self, turn: Turn) -> bool:
        return await self._change(sql.CLOSE_REDRIVE, turn)

    async def _change(self, text: str, turn: Turn, *params: Param) -> bool:
        return bool(await self._select(text, turn.redrive.id, turn.token, *params))

    async def _select(self, text: str, *params: Param) -> Sequence[Row]:
        (found,) = await self._database.batch([Statement(text, params)])
        return found


def _showing(before: str, limit: int) -> Sequence[Statement]:
    """Return the statements that ``_shown`` reads the answers of."""
    page = (before, limit)
    return [Statement(text, page) for text in (sql.LIST_REDRIVES, sql.LIST_FIGURES, sql.LIST_SKIPS)]


def _shown(answers: Sequence[Sequence[Row]]) -> Sequence[ShownRedrive]:
    found, figures, skips = answers
    counted = {row["id"]: row for row in figures}
    skipped: dict[str, dict[str, int]] = {}
    for row in skips:
        skipped.setdefault(row["id"], {})[row["reason"]] = row["letters"]
    return [
        ShownRedrive(
            redrive=_to_redrive(row),
            figures=Figures(
                skipped=skipped.get(row["id"], {}),
                **_to_figures(row if row["closed_at"] is not None else counted.get(row["id"], {})),
            ),
        )
        for row in found
    ]


def _to_figures(row: Row) -> Mapping[str, int]:
    return {name: row.get(name, 0) for name in _FIGURES}


def _named(redrive_id: str, shown: Sequence[ShownRedrive]) -> ShownRedrive | None:
    """The list begins with it, if there is one of this name."""
    return next((one for one in shown if one.redrive.id == redrive_id), None)


def _from_filter(wanted: LetterFilter) -> tuple[Param, ...]:
    before = rows.from_time_or_none(wanted.before)
    return (wanted.error_class, wanted.kind, wanted.fingerprint, wanted.tenant_id, before)


def _to_place(row: Row) -> BulkPlace:
    return BulkPlace(at=rows.to_time(row["last_failed_at"]), letter_id=row["id"])


def _to_redrive(row: Row) -> BulkRedrive:
    return BulkRedrive(
        id=row["id"],
        state=RedriveState(row["state"]),
        wanted=LetterFilter(
            error_class=row["filter_class"],
            kind=row["filter_kind"],
            fingerprint=row["filter_fingerprint"],
            tenant_id=row["filter_tenant"],
            before=rows.to_time_or_none(row["filter_before"]),
        ),
        reason=row["reason"],
        rate_per_minute=row["rate_per_minute"],
        canary=row["canary"],
        total=row["total"],
        created_at=rows.to_time(row["created_at"]),
        created_by=row["created_by"],
        request_id=row["request_id"],
        all_seen=bool(row["all_seen"]),
        tries=row["tries"],
        paced_at=rows.to_time(row["paced_at"]),
        stopping=_to_stopping(row),
        stopped_by=row["stopped_by"],
        finished_at=rows.to_time_or_none(row["finished_at"]),
    )


def _to_stopping(row: Row) -> Stopping | None:
    if row["stopped_because"] is None:
        return None
    because = StoppedBecause(row["stopped_because"])
    return Stopping(because=because, detail=row["stopped_detail"])
