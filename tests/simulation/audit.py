"""Holds every single write against the rules: it stands beside the database, so none passes it."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulation.bulk_rules import BulkCheck
from tests.simulation.change import Change, check_wake, how_it_ended
from tests.simulation.isolate import Isolate
from tests.simulation.ledger import Ledger
from tests.simulation.letters import LetterCheck, check_purged_inputs, find_expired_uploads
from tests.simulation.rows import JobRow, read_duties, read_rows
from tests.simulation.runs import check_birth, check_refusal
from tests.simulation.trace import name_of
from uketsuke.adapters.sql import purging, sweeping
from uketsuke.adapters.sql import run_statements as runs
from uketsuke.adapters.sql import statements as sql
from uketsuke.adapters.sql.accept_statements import SELECT_ADMITTED
from uketsuke.adapters.sql.cost_statements import TODAY
from uketsuke.adapters.sql.database import Row, Statement
from uketsuke.domain.job import JobKey
from uketsuke.services.ports import Unavailable

_HELD = f"""
SELECT tenant_id, sum(micros)
  FROM (SELECT tenant_id, charged_micros AS micros FROM usage_days WHERE day = {TODAY}
        UNION ALL
        SELECT tenant_id, reserved_micros FROM jobs WHERE reserved_micros IS NOT NULL)
 GROUP BY tenant_id
"""  # noqa: S608 - a piece of our own


@dataclass(slots=True)
class Audit:
    """Runs transactions, and looks at what each one changed."""

    ledger: Ledger

    def apply(self, statements: Sequence[Statement], *, isolate: Isolate) -> list[list[Row]]:
        """Run a transaction for ``isolate`` and hold what it changed against the rules."""
        connection, rows = self.ledger.connection, self.ledger.rows
        before = connection.total_changes
        endings = _endings_of(statements)
        self._expect_late_writes(endings)
        self.ledger.began_ms = self.ledger.watched.now_ms()
        expired = find_expired_uploads(self.ledger, statements)
        try:
            answers = self.ledger.watched.database.run(statements)
        except sqlite3.IntegrityError as error:
            self.ledger.trace.breach("constraints-hold", f"{isolate.name}: {error}")
            raise Unavailable("the database refused") from error
        if connection.total_changes != before:
            self._look_at_changes(statements, endings, isolate)
        self._look_at_answers(statements, answers, rows, isolate)
        accepted = expired and answers[-1] and answers[-1][0]["how"] == "new"
        self.ledger.trace.require(not accepted, "the-expired-is-named-by-nobody", str(expired))
        return answers

    def _look_at_changes(
        self,
        statements: Sequence[Statement],
        endings: Mapping[JobKey, Mapping[str, Any]],
        isolate: Isolate,
    ) -> None:
        match statements[0].sql:
            case sweeping.CLAIM_DUTY | sweeping.FINISH_DUTY:
                self._compare_duties(isolate)
            case runs.KEEP_CHECKPOINT:
                tenant, job, step, digest, *_ = map(str, statements[0].params)
                self.ledger.note_checkpoint(JobKey(tenant, job), step, digest)
            case purging.DELETE_INPUTS:
                check_purged_inputs(self.ledger, isolate)
            case _:
                self._compare(statements, endings, isolate)

    def _look_at_answers(
        self,
        statements: Sequence[Statement],
        answers: Sequence[Sequence[Row]],
        rows: Mapping[JobKey, JobRow],
        isolate: Isolate,
    ) -> None:
        """See what a life that begins was told, and why a start was refused."""
        if statements[0].sql == runs.RESUME and any(row["ours"] for row in answers[1]):
            ((tenant, job, token),) = json.loads(str(statements[0].params[0]))
            self.ledger.note_resumed(JobKey(tenant, job), token, isolate)
        if statements[-1].sql == SELECT_ADMITTED and answers[-1]:
            (row,) = answers[-1]
            refused = row["how"] == "live_run"
            check_refusal(self.ledger, rows.get(_key(row)) if refused else None)

    def _compare_duties(self, isolate: Isolate) -> None:
        """A duty is one sweep's until it is finished or its lease ends."""
        ledger = self.ledger
        old, ledger.duties = ledger.duties, read_duties(ledger.connection)
        for name, (token, _) in ledger.duties.items():
            before, until = old.get(name, (None, 0))
            stolen = None not in (before, token) and before != token
            in_time = not stolen or until <= ledger.watched.now_ms()
            ledger.trace.require(in_time, "one-sweep-a-duty", f"{isolate.name}, {name}")

    def _expect_late_writes(self, endings: Mapping[JobKey, Mapping[str, Any]]) -> None:
        for key, ending in endings.items():
            row, token = self.ledger.rows.get(key), ending["k"]
            # The same ending again is no late write: an answer was lost.
            written = self.ledger.settled.get(token) == how_it_ended(ending)
            if row is not None and row.lease_token != token and not written:
                self.ledger.late_writes += 1
                self.ledger.trace.count("late write refused")
                self.ledger.trace.note(f"late write for {name_of(key.job_id)}: {ending['s']}")

    def _compare(
        self,
        statements: Sequence[Statement],
        endings: Mapping[JobKey, Mapping[str, Any]],
        isolate: Isolate,
    ) -> None:
        old_rows, self.ledger.rows = self.ledger.rows, read_rows(self.ledger.connection)
        for key in old_rows.keys() - self.ledger.rows.keys():
            gone = old_rows[key]
            expired = (gone.expires_at or math.inf) <= self.ledger.watched.now_ms()
            self.ledger.trace.require(expired, "nothing-vanishes", f"{isolate.name}: {gone}")
        for key, new in self.ledger.rows.items():
            old = old_rows.get(key)
            if old == new:
                continue
            if old is None:
                self.ledger.trace.note(f"{isolate.name}: {name_of(new.id)} accepted")
                check_birth(self.ledger, new, isolate)
                check_wake(self.ledger, new)
            else:
                Change(self.ledger, statements, endings.get(key), isolate, old, new).check()
        old_letters = self.ledger.letters
        LetterCheck(self.ledger, isolate, old_rows).check()
        BulkCheck(self.ledger, isolate, old_letters).check()
        self._check_keys()
        self._check_budgets()

    def _check_budgets(self) -> None:
        """What is spent today and what is reserved lies within the budget, after every write."""
        if self.ledger.budget is None:
            return
        for tenant, held in self.ledger.connection.execute(_HELD):
            told = f"{tenant}: {held} of {self.ledger.budget}"
            self.ledger.trace.require(held <= self.ledger.budget, "budgets-hold", told)

    def _check_keys(self) -> None:
        live = [
            (r.tenant_id, r.run_key)
            for r in self.ledger.rows.values()
            if r.run_key and not r.terminal
        ]
        self.ledger.trace.require(len(live) == len(set(live)), "one-live-job-a-run-key", str(live))
        asked = [(row.tenant_id, row.request_key) for row in self.ledger.rows.values()]
        self.ledger.trace.require(
            len(asked) == len(set(asked)), "one-job-an-idempotency-key", str(asked)
        )


def _key(row: Row) -> JobKey:
    return JobKey(row["tenant_id"], row["id"])


def _endings_of(statements: Sequence[Statement]) -> dict[JobKey, Mapping[str, Any]]:
    for statement in statements:
        if statement.sql == sql.SETTLE_JOBS:
            endings = json.loads(str(statement.params[0]))
            return {JobKey(ending["t"], ending["i"]): ending for ending in endings}
    return {}
