"""Holds every single write against the rules: it stands beside the database, so none passes it."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulation.change import Change, check_wake
from tests.simulation.isolate import Isolate
from tests.simulation.ledger import Ledger
from tests.simulation.rows import read_duties, read_rows
from tests.simulation.trace import name_of
from uketsuke.adapters.sql import statements as sql
from uketsuke.adapters.sql.database import Row, Statement
from uketsuke.adapters.sql.sweeping import CLAIM_DUTY, FINISH_DUTY
from uketsuke.domain.job import JobKey
from uketsuke.services.ports import Unavailable


@dataclass(slots=True)
class Audit:
    """Runs transactions, and looks at what each one changed."""

    ledger: Ledger

    def apply(self, statements: Sequence[Statement], *, isolate: Isolate) -> list[list[Row]]:
        """Run a transaction for ``isolate`` and hold what it changed against the rules."""
        connection = self.ledger.connection
        before = connection.total_changes
        endings = _endings_of(statements)
        self._expect_late_writes(endings)
        self.ledger.began_ms = self.ledger.watched.now_ms()
        try:
            answers = self.ledger.watched.database.run(statements)
        except sqlite3.IntegrityError as error:
            self.ledger.trace.breach("constraints-hold", f"{isolate.name}: {error}")
            raise Unavailable("the database refused") from error
        if connection.total_changes == before:
            return answers
        if statements[0].sql in (CLAIM_DUTY, FINISH_DUTY):
            self._compare_duties(isolate)
        else:
            self._compare(statements, endings, isolate)
        return answers

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
            if row is not None and row.lease_token != token and token not in self.ledger.settled:
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
                self.ledger.trace.require(new.state == "accepted", "born-accepted", new.state)
                check_wake(self.ledger, new)
            else:
                Change(self.ledger, statements, endings.get(key), isolate, old, new).check()
        self._check_keys()

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


def _endings_of(statements: Sequence[Statement]) -> dict[JobKey, Mapping[str, Any]]:
    for statement in statements:
        if statement.sql == sql.SETTLE_JOBS:
            endings = json.loads(str(statement.params[0]))
            return {JobKey(ending["t"], ending["i"]): ending for ending in endings}
    return {}
