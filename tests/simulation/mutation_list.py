"""The mutations: each takes one guard out of the product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_ACCEPT = "src/worker/uketsuke/adapters/sql/accept_statements.py"
_SQL = "src/worker/uketsuke/adapters/sql/statements.py"
_EXPIRY = "src/worker/uketsuke/adapters/sql/expiry.py"
_SWEEPING = "src/worker/uketsuke/adapters/sql/sweeping.py"
_PURGING = "src/worker/uketsuke/adapters/sql/purging.py"
_STORE = "src/worker/uketsuke/adapters/sql/repository.py"
_LANES = "src/worker/uketsuke/adapters/sql/lane_statements.py"
_LANE_TERMS = "src/worker/uketsuke/adapters/sql/lane_terms.py"
_RUNS = "src/worker/uketsuke/adapters/sql/run_statements.py"
_RUN_STORE = "src/worker/uketsuke/adapters/sql/runs.py"
_COSTS = "src/worker/uketsuke/adapters/sql/cost_statements.py"
_SERVICES = "src/worker/uketsuke/services"


@dataclass(frozen=True, slots=True)
class Mutation:
    """Text of a file that is replaced; it occurs there once."""

    name: str
    file: str
    old: str
    new: str


MUTATIONS: Final = (
    Mutation(
        "a settle is not fenced by its lease token",
        _SQL,
        "   AND jobs.lease_token = e.value ->> 'k'\nRETURNING",
        "\nRETURNING",
    ),
    Mutation(
        "a lease does not wait until the job is due",
        _SQL,
        "(state IN ('accepted', 'retrying') AND due_at <= {NOW})",
        "state IN ('accepted', 'retrying')",
    ),
    Mutation(
        "a lease takes over what has not expired",
        _SQL,
        "        OR ({EXPIRED} AND {RECORDED}))\n",
        "        OR state = 'running')\n",
    ),
    Mutation(
        "attempts are counted when they fail, not when they are leased",
        _SQL,
        "SET attempts = attempts + ({_OURS} IS FALSE)",
        "SET attempts = attempts",
    ),
    Mutation(
        "an accepted job has no wake-up time to speak of",
        _ACCEPT,
        "{NOW} + min(coalesce(?18, ?14), ?13), {NOW} + ?13",
        "{NOW} + 864000000 + min(?14, 0), {NOW} + ?13",
    ),
    Mutation(
        "the sweep's grace grows past the deadline",
        _SWEEPING,
        "ELSE min({NOW} + min(?2 * (1 << min(wakes, 20)), ?3), deadline_at) END",
        "ELSE {NOW} + min(?2 * (1 << min(wakes, 20)), ?3) END",
    ),
    Mutation(
        "the sweep sends nothing again",
        f"{_SERVICES}/sweep.py",
        "            await _send(woken.to_send, ports)\n",
        "            pass\n",
    ),
    Mutation(
        "expired leases are not taken back",
        _EXPIRY,
        "leased_until = NULL\n WHERE {IN_WAVE} AND {EXPIRED} AND {RECORDED}\nRETURNING",
        "leased_until = NULL\n WHERE {IN_WAVE} AND false\nRETURNING",
    ),
    Mutation(
        "quarantine is off",
        _SQL,
        "   AND (?4 OR engine = 'workflow' OR (crashes = 0 AND (state <> 'running' OR {_OURS})))\n",
        "",
    ),
    Mutation(
        "a poison job may crash as often as it has attempts",
        _EXPIRY,
        "LONE_CRASHES_ALLOWED: Final = 2",
        "LONE_CRASHES_ALLOWED: Final = 20",
    ),
    Mutation(
        "a last attempt is not given back though a neighbour killed it",
        _EXPIRY,
        "OR (attempts >= max_attempts AND leased_alone)",
        "OR attempts >= max_attempts",
    ),
    Mutation(
        "a renewal is not fenced by its lease token",
        _SQL,
        "   AND jobs.lease_token = held.value ->> 2\n",
        "",
    ),
    Mutation(
        "work goes on when the leases cannot be renewed",
        f"{_SERVICES}/leases.py",
        "if held.stop is None and held.ends_at < horizon:",
        "if False:",
    ),
    Mutation(
        "a renewal may take longer than the lease",
        f"{_SERVICES}/leases.py",
        "min(self.settings.renew_every, timedelta(seconds=left) - _MARGIN)",
        "self.settings.renew_every",
    ),
    Mutation(
        "a duty is taken from the sweep that is at it",
        _SWEEPING,
        " WHERE duties.leased_until <= {NOW}\n",
        " WHERE true\n",
    ),
    Mutation(
        "the purge looks for stray objects of later attempts only",
        _PURGING,
        'if row["attempt_no"] else None',
        'if row["attempt_no"] > 1 else None',
    ),
    Mutation(
        "a settle whose answer was lost is not asked about",
        f"{_SERVICES}/settle.py",
        "written = await self.jobs.settled_under(missing)",
        "written: dict[JobKey, JobState] = {}",
    ),
    Mutation(
        "late writes are not counted",
        _STORE,
        "                Statement(sql.COUNT_LATE_WRITES, (document,)),\n",
        "",
    ),
    Mutation(
        "a settle buries its dead letter later",
        _STORE,
        "                Statement(sql.SETTLE_DEAD_LETTERS, (document, "
        "rows.to_ms(kept.triage_within))),\n",
        "",
    ),
    Mutation(
        "an overdue job ends without a dead letter",
        _EXPIRY,
        "jobs WHERE {IN_WAVE} AND state = 'failed'",
        "jobs WHERE {IN_WAVE} AND state = 'failed' AND error_class <> 'deadline'",
    ),
    Mutation(
        "a retry ignores the deadline",
        "src/worker/uketsuke/domain/settlement.py",
        "if wait >= time_left:",
        "if False:",
    ),
    Mutation(
        "a throttled attempt counts",
        _SQL,
        "attempts = attempts - coalesce(e.value ->> 'g', 0)",
        "attempts = attempts",
    ),
    Mutation(
        "a wish to cancel does not end a retry",
        _SQL,
        "WHEN e.value ->> 's' = 'retrying' AND {j}.cancel_requested_at IS NOT NULL",
        "WHEN false",
    ),
    Mutation(
        "the idempotency key is not looked up",
        _ACCEPT,
        "WHERE NOT EXISTS (SELECT 1 FROM submissions WHERE tenant_id = ?1 AND request_key = ?3)",
        "WHERE true",
    ),
    Mutation(
        "the run key is not unique",
        "migrations/0001_jobs.sql",
        "CREATE UNIQUE INDEX jobs_live_run_key",
        "CREATE INDEX jobs_live_run_key",
    ),
    Mutation(
        "a result that was paid for is not adopted",
        f"{_SERVICES}/adopt.py",
        "    if not leased.taken_over:\n",
        "    if True:\n",
    ),
    Mutation(
        "an adopted result keeps its old attempt's number",
        f"{_SERVICES}/adopt.py",
        'replace(ResultPlace(**_known(kept["result"], ResultPlace)), attempt=attempt)',
        'ResultPlace(**kept["result"])',
    ),
    Mutation(
        "every failure moves the key of the provider's calls",
        "src/worker/uketsuke/domain/failure.py",
        "self.error_class in DEFINITE and",
        "True or",
    ),
    Mutation(
        "a message carries what belongs to the job's row",
        f"{_SERVICES}/messages.py",
        '"kind": job.kind,\n',
        '"kind": job.kind,\n        "about": dict(job.metadata),\n',
    ),
    Mutation(
        "a life goes on with a run whatever its token says",
        _RUN_STORE,
        'if row["ours"]), None)',
        "), None)",
    ),
    Mutation(
        "a run is ended or nudged though it was heard of",
        _RUNS,
        '_SILENT: Final = f"{_NAMED} AND leased_until <= {NOW}"',
        "_SILENT: Final = _NAMED",
    ),
    Mutation(
        "nudges are not counted",
        _RUNS,
        "wakes = wakes + ?3\n WHERE {_SILENT}",
        "wakes = wakes\n WHERE {_SILENT}",
    ),
    Mutation(
        "a run is given up at the first silence",
        f"{_SERVICES}/silence.py",
        "_NUDGES: Final = 2",
        "_NUDGES: Final = 0",
    ),
    Mutation(
        "a silent run is taken back as if its worker had been the queue's",
        _EXPIRY,
        "f\"state = 'running' AND engine = 'queue' AND leased_until <= {NOW}\"",
        "f\"state = 'running' AND leased_until <= {NOW}\"",
    ),
    Mutation(
        "a checkpoint is written over",
        _RUNS,
        "?2 AND finished_at IS NULL\nON CONFLICT DO NOTHING\n",
        "?2 AND finished_at IS NULL\nON CONFLICT DO UPDATE SET attempt = excluded.attempt,"
        " content = excluded.content, object_key = excluded.object_key\n",
    ),
    Mutation(
        "a checkpoint is written after the job's end",
        _RUNS,
        "?2 AND finished_at IS NULL\nON",
        "?2\nON",
    ),
    Mutation(
        "the purge leaves the checkpoints",
        _PURGING,
        "                Statement(DELETE_CHECKPOINTS, wave),\n",
        "",
    ),
    Mutation(
        "a life does not look at what was kept before it began",
        f"{_SERVICES}/run.py",
        "    await _patiently(durable.load)\n",
        "",
    ),
    Mutation(
        "a step is not kept",
        f"{_SERVICES}/steps.py",
        "                await self._keep(step, digest, done)\n",
        "                self._note(Checkpoint(step=step, digest=digest, usage=done.usage,\n"
        "                           attempt=1, content=json.dumps(done.value)))\n",
    ),
    Mutation(
        "a start fails for a run key whose holder has outlived its time",
        _STORE,
        "    if new.run_key is None:\n",
        "    if True:\n",
    ),
    Mutation(
        "a start ends whoever has its run key",
        _RUNS,
        "?2 AND ({_STALE} OR {OVERDUE})",
        "?2",
    ),
    Mutation(
        "the instance of a run that is ended is not noted",
        _RUNS,
        " WHERE {_SILENT} AND {RECORDED}\nON CONFLICT",
        " WHERE false\nON CONFLICT",
    ),
    Mutation(
        "the instance of an outlived run is not noted",
        _RUNS,
        "engine = 'workflow' AND {_ON_RECORD}\n",
        "engine = 'workflow' AND false\n",
    ),
    Mutation(
        "doomed instances are forgotten, not ended",
        f"{_SERVICES}/silence.py",
        "            await ports.workflows.terminate(name)\n",
        "            pass\n",
    ),
    Mutation(
        "an instance that is missing is not made",
        f"{_SERVICES}/silence.py",
        "ports.workflows.create(run.instance_id, order_for(run.job, token=run.token))",
        "ports.workflows.state(run.instance_id)",
    ),
    Mutation(
        "an instance that sleeps is not woken",
        f"{_SERVICES}/silence.py",
        "        await ports.workflows.wake(run.instance_id)\n",
        "        pass\n",
    ),
    Mutation(
        "the row of a run waits until a consumer leases it",
        _ACCEPT,
        "CASE WHEN ?17 IS NULL THEN 'accepted' ELSE 'running' END",
        "CASE WHEN coalesce(?17, '') = ?17 AND 0 THEN 'running' ELSE 'accepted' END",
    ),
    Mutation(
        "a lease does not look at parked lanes",
        _SQL,
        '   AND ({_OURS} OR {LANES_OPEN.format(asks="?7")})\n',
        "",
    ),
    Mutation(
        "any number of jobs may probe a lane",
        _LANE_TERMS,
        "(parked.parked_until > {NOW} OR parked.probe_token <> ?2 || '.' || jobs.id)",
        "parked.parked_until > {NOW}",
    ),
    Mutation(
        "a lane is probed again though its probe lives",
        _LANES,
        "parked_until <= {NOW} AND NOT {PROBED}",
        "parked_until <= {NOW}",
    ),
    Mutation(
        "a rotated key fails whoever meets it",
        "src/worker/uketsuke/domain/settlement.py",
        "if park.opened and not failure.retryable:",
        "if not failure.retryable:",
    ),
    Mutation(
        "what waits for a lane is woken long after its time",
        _LANES,
        "       wake_at = min({NOW} + (put.value ->> 2) + (put.value ->> 3), deadline_at),\n",
        "       wake_at = deadline_at + 864000000,\n",
    ),
    Mutation(
        "a step that failed leaves its text with the engine",
        f"{_SERVICES}/steps.py",
        '        "code": failure.code,\n',
        '        "code": failure.code,\n        "text": "CONTENT",\n',
    ),
    Mutation(
        "what a lost attempt had reserved is not charged",
        _COSTS,
        "max(coalesce(jobs.reserved_micros, 0),",
        "max(0,",
    ),
    Mutation(
        "a job forgets what its lost attempts were charged",
        _COSTS,
        "(state = 'running') * coalesce((SELECT a.usage",
        "0 * coalesce((SELECT a.usage",
    ),
    Mutation(
        "a reservation outlives its attempt",
        _SQL,
        "       reserved_micros = NULL,\n       result =",
        "       result =",
    ),
    Mutation(
        "a call that may have been made all the same counts as none",
        "src/worker/uketsuke/providers/funds.py",
        "    refused = failure is not None and (",
        "    refused = True or (",
    ),
    Mutation(
        "what a kept step has used counts in every attempt",
        f"{_SERVICES}/steps.py",
        "return checkpoint.usage if checkpoint.attempt == self.leased.attempt else None",
        "return checkpoint.usage",
    ),
    Mutation(
        "a takeover leaves what was reserved unsaid",
        _SQL,
        '   AND reserved_micros IS NULL AND NOT {costs.bound("jobs", default="?3")}\n',
        "",
    ),
)
