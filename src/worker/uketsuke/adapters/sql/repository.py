"""The store of jobs: the statements, their parameters, and what their rows mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from uketsuke.adapters.sql import accept_statements as accept
from uketsuke.adapters.sql import expiry, lane_rows, rows
from uketsuke.adapters.sql import run_statements as runs
from uketsuke.adapters.sql import statements as sql
from uketsuke.adapters.sql.database import Database, Row, Statement
from uketsuke.adapters.sql.lane_statements import SELECT_LANES, TAKE_PROBES
from uketsuke.adapters.sql.resolving import resolving
from uketsuke.domain.ids import JOB_ID
from uketsuke.domain.job import (
    Attempt,
    Ending,
    Job,
    JobKey,
    LeasedJob,
    NewJob,
    Progress,
    Redriving,
    SeenJob,
)
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.price import NO_TARIFF, Tariff
from uketsuke.services.ports import (
    NO_LANES,
    AcceptedNew,
    Admission,
    Delivery,
    InputVanished,
    KnownKey,
    LanesOfKinds,
    LeaseState,
    RunInProgress,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long what is written is kept, and how soon somebody must look at it.

    ``lease`` is what a run may take beyond its limit, to stop, before it counts as stale.
    """

    keep_results: timedelta
    triage_within: timedelta
    grace: timedelta
    longest_knock: timedelta
    lease: timedelta


class SqlJobs:
    """``services.ports.Jobs`` on any ``Database``."""

    def __init__(
        self, database: Database, retention: Retention, tariff: Tariff = NO_TARIFF
    ) -> None:
        self._database = database
        self._retention = retention
        self._tariff = rows.from_tariff(tariff)

    async def accept(self, new: NewJob) -> Admission:
        guarding = _failing_outlived(new, self._retention)
        answers = await self._database.batch([*guarding, *_accepting(new)])
        found = answers[-1]
        outlived = list(map(rows.to_job, answers[len(guarding) - 1])) if guarding else ()
        if not found:
            return InputVanished(outlived=outlived)
        (row,) = found
        match row["how"]:
            case "new":
                return AcceptedNew(job=rows.to_job(row), outlived=outlived)
            case "known_key":
                return replace(_known_key(row), outlived=outlived)
            case _:
                return RunInProgress(job=rows.to_job(row), outlived=outlived)

    async def find(self, job_id: str, *, tenant_id: str | None) -> Job | None:
        if tenant_id is None:
            found = await self._select(sql.SELECT_JOB_OF_ANY_TENANT, job_id)
        else:
            found = await self._select(sql.SELECT_JOB, tenant_id, job_id)
        return rows.to_job(found[0]) if found else None

    async def look(self, key: JobKey) -> SeenJob | None:
        # No lease has this token: the job is nobody's here, and its input does not come along.
        found = await self._select(sql.LOOK, rows.from_keys([key]), "", *self._tariff)
        return rows.to_seen_job(found[0]) if found else None

    async def find_by_request(self, *, tenant_id: str, request_key: str) -> KnownKey | None:
        found = await self._select(sql.SELECT_BY_REQUEST, tenant_id, request_key)
        return _known_key(found[0]) if found else None

    async def attempts_of(self, key: JobKey) -> Sequence[Attempt]:
        return [rows.to_attempt(row) for row in await self._select(sql.SELECT_ATTEMPTS, *key)]

    async def inline_input(self, key: JobKey) -> str | None:
        found = await self._select(sql.SELECT_INLINE_INPUT, *key)
        return found[0]["input"] if found else None

    async def result_text(self, key: JobKey, *, attempt: int) -> str | None:
        found = await self._select(sql.SELECT_RESULT, *key, attempt)
        return found[0]["result"] if found else None

    async def lease(
        self,
        wave: Collection[JobKey],
        *,
        token: str,
        duration: timedelta,
        alone: bool,
        lanes: LanesOfKinds = NO_LANES,
    ) -> Mapping[JobKey, LeasedJob | SeenJob]:
        keys, asks = rows.from_keys(wave), lane_rows.from_asks(lanes)
        rates, budget = self._tariff
        lease = (keys, token, rows.to_ms(duration), int(alone), rates, budget, asks)
        leasing = [
            Statement(TAKE_PROBES, (keys, token, int(alone), asks, rates, budget)),
            Statement(sql.LEASE, lease),
            Statement(sql.LOOK, (keys, token, rates, budget)),
            Statement(SELECT_LANES),
        ]
        if alone:  # nobody else may take over what another one left
            leasing.insert(1, Statement(sql.RECORD_TAKEOVERS, (keys, token, budget, asks)))
        *_, looked, standing = await self._database.batch(leasing)
        await self._wake_after_lease(looked, token)
        found = (_leased_or_seen(row, token) for row in looked)
        return {one.job.key: _with_lanes(one, lanes, standing) for one in found}

    async def _wake_after_lease(self, looked: Sequence[Row], token: str) -> None:
        """Let the sweep look soon after the leases of jobs that it had put off for long."""
        grace = rows.to_ms(self._retention.grace)
        late = [_key(row) for row in looked if row["ours"] and row["wakes_after"] > grace]
        if late:
            await self._select(sql.WAKE_AFTER_LEASE, rows.from_keys(late), token)

    async def renew(
        self,
        holdings: Mapping[JobKey, str],
        *,
        duration: timedelta,
        progress: Mapping[JobKey, Progress],
    ) -> Mapping[JobKey, LeaseState]:
        held = [[*key, token, *_progress_of(progress.get(key))] for key, token in holdings.items()]
        found = await self._select(sql.RENEW, rows.dump(held), rows.to_ms(duration))
        return {
            _key(row): LeaseState(
                ends_in=rows.to_duration(row["ends_in"]),
                cancel_requested=row["cancel_requested_at"] is not None,
                overdue=bool(row["overdue"]),
            )
            for row in found
        }

    async def settle(self, endings: Sequence[Ending]) -> Mapping[JobKey, JobState]:
        kept = self._retention
        document = rows.dump(
            [rows.from_ending(ending, grace=self._grace(ending)) for ending in endings]
        )
        *_, settled = await self._database.batch(
            [
                Statement(sql.COUNT_LATE_WRITES, (document,)),
                Statement(sql.SETTLE_ATTEMPTS, (document,)),
                Statement(sql.SETTLE_DEAD_LETTERS, (document, rows.to_ms(kept.triage_within))),
                Statement(sql.SETTLE_JOBS, (document, rows.to_ms(kept.keep_results))),
            ]
        )
        return {_key(row): JobState(row["state"]) for row in settled}

    def _grace(self, ending: Ending) -> timedelta:
        """After a long wait nobody knocks but the sweep, so it looks when the job is due."""
        long = ending.wait > self._retention.longest_knock
        return timedelta() if long else self._retention.grace

    async def settled_under(self, endings: Sequence[Ending]) -> Mapping[JobKey, JobState]:
        asked = rows.dump([[*e.key, e.token, e.outcome, _code(e)] for e in endings])
        found = await self._select(sql.SELECT_SETTLED, asked)
        return {_key(row): JobState(row["state"]) for row in found}

    async def take_back(
        self, keys: Collection[JobKey], *, given_up: Delivery | None = None
    ) -> Sequence[Job]:
        taking = taking_back(keys, self._retention, given_up=given_up)
        _, back, overdue, _ = await self._database.batch(taking)
        return [rows.to_job(row) for row in (*back, *overdue)]

    async def fail_hopeless(self, key: JobKey, *, code: str) -> Job | None:
        kept = self._retention
        wave = rows.from_keys([key])
        failed, _ = await self._database.batch(
            [
                Statement(expiry.FAIL_HOPELESS, (wave, rows.to_ms(kept.keep_results), code)),
                burying_failed(wave, kept),
            ]
        )
        return rows.to_job(failed[0]) if failed else None

    async def request_cancel(self, key: JobKey) -> Job | None:
        keep = rows.to_ms(self._retention.keep_results)
        found = await self._select(sql.REQUEST_CANCEL, *key, keep)
        return rows.to_job(found[0]) if found else None

    async def _select(self, text: str, *params: str | int | None) -> Sequence[Row]:
        (found,) = await self._database.batch([Statement(text, params)])
        return found


def burying_failed(wave: str, kept: Retention, given_up: Delivery | None = None) -> Statement:
    """Return the statement that buries those of a wave that have just failed.

    ``given_up`` is the message that its queue gave up on, if that is how they were found.
    """
    brought_by = (given_up.queue, given_up.id) if given_up else (None, None)
    return Statement(expiry.BURY_FAILED, (wave, rows.to_ms(kept.triage_within), *brought_by))


def taking_back(
    keys: Collection[JobKey], kept: Retention, *, given_up: Delivery | None = None
) -> Sequence[Statement]:
    """Return the statements that end what expired or is overdue; the answers of the second and
    the third are the jobs that changed.
    """
    wave, keep = rows.from_keys(keys), rows.to_ms(kept.keep_results)
    return [
        Statement(expiry.RECORD_CRASHES, (wave,)),
        Statement(expiry.TAKE_BACK, (wave, keep, rows.to_ms(kept.grace))),
        Statement(expiry.FAIL_OVERDUE, (wave, keep)),
        burying_failed(wave, kept, given_up),
    ]


def _failing_outlived(new: NewJob, kept: Retention) -> Sequence[Statement]:
    """Return the guard of a run key; the answer of the last statement is what has outlived."""
    if new.run_key is None:
        return ()
    holder = (new.key.tenant_id, new.run_key, rows.to_ms(kept.lease))
    return [
        Statement(runs.RECORD_OUTLIVED, holder),
        Statement(runs.BURY_OUTLIVED, (*holder, rows.to_ms(kept.triage_within))),
        Statement(runs.DOOM_OUTLIVED, holder),
        Statement(runs.END_OUTLIVED, (*holder, rows.to_ms(kept.keep_results))),
    ]


def _accepting(new: NewJob) -> Sequence[Statement]:
    tenant, job = new.key
    named = rows.dump(list(new.input.refs))
    insert = (
        tenant, job, new.request_key, new.kind, new.engine, new.origin, new.run_key,
        rows.dump(dict(new.params)), rows.dump(dict(new.metadata)),
        rows.from_input_place(new.input), new.traceparent, new.max_attempts,
        rows.to_ms(new.deadline), rows.to_ms(new.first_wake), named, rows.to_ms(new.run_limit),
        f"{new.start.token}.{job}" if new.start else None,
        rows.to_ms(new.start.lease) if new.start else None,
        new.max_cost_micros, rows.from_expected(new.expected), *_origin(new.redriving),
    )  # fmt: skip
    fingerprint = None if new.fingerprint is None else rows.dump(dict(new.fingerprint))
    accepting = [
        Statement(accept.INSERT_JOB, insert),
        Statement(accept.INSERT_SUBMISSION, (tenant, job, fingerprint, new.inline_input)),
    ]
    if new.input.refs:
        pin = (tenant, job, named, rows.to_ms(new.keep_uploads))
        accepting.append(Statement(accept.PIN_UPLOADS, pin))
        if any(map(JOB_ID.fullmatch, new.input.refs)):
            accepting.append(Statement(accept.PIN_RESULTS, pin))
    if new.redriving:
        accepting += resolving(new.key, new.redriving)
    winner = (tenant, job, new.request_key, new.run_key)
    return [*accepting, Statement(accept.SELECT_ADMITTED, winner)]


def _origin(redriving: Redriving | None) -> tuple[str | None, str | None, int, str | None]:
    if redriving is None:
        return None, None, 0, None
    return redriving.job_id, redriving.letter_id, redriving.redrives, redriving.redrive_id


def _known_key(row: Row) -> KnownKey:
    kept = row["fingerprint"]
    return KnownKey(job=rows.to_job(row), fingerprint=rows.load(kept) if kept else {})


def _code(ending: Ending) -> str | None:
    return ending.failure.code if ending.failure else None


def _key(row: Row) -> JobKey:
    return JobKey(row["tenant_id"], row["id"])


def _with_lanes(
    found: LeasedJob | SeenJob, lanes: LanesOfKinds, standing: Sequence[Row]
) -> LeasedJob | SeenJob:
    """Add what the parked lanes mean for a job, if there are any."""
    if isinstance(found, LeasedJob):
        return replace(found, probes=lane_rows.probes_of(found.token, standing))
    asked = lanes.get(found.job.kind, ())
    return replace(found, park=lane_rows.park_before(found.job.key, asked, standing))


def _progress_of(progress: Progress | None) -> tuple[int | None, int | None]:
    return (progress.done, progress.total) if progress else (None, None)


def _leased_or_seen(row: Row, token: str) -> LeasedJob | SeenJob:
    if not row["ours"]:
        return rows.to_seen_job(row)
    return rows.to_leased_job(row, token=f"{token}.{row['id']}")
