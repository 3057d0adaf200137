"""The rules of dead letters: who may write what of one, and what must be written with it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from tests.simulation.isolate import Isolate
from tests.simulation.ledger import Ledger
from tests.simulation.rows import ActRow, JobRow, LetterRow, read_acts, read_letters
from tests.simulation.trace import name_of
from uketsuke.adapters.sql.accept_statements import INSERT_JOB
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.dead_letter import REDRIVES_BEFORE_FORCE
from uketsuke.domain.job import JobKey

# What of a job its redrive has too.
_WORK: Final = "kind, engine, run_key, params, metadata, max_attempts, max_cost_micros"
_SAME_WORK: Final = f"""
SELECT count(*) FROM (SELECT {_WORK} FROM jobs WHERE id = ? UNION SELECT {_WORK} FROM jobs WHERE id = ?)
"""  # noqa: E501, S608 - names of our own
_MISSED: Final = """
SELECT j.id, named.value FROM jobs AS j, json_each(j.input, '$.refs') AS named
 WHERE j.finished_at IS NULL AND j.deadline_at > ?
   AND NOT EXISTS (SELECT 1 FROM inputs AS i WHERE i.id = named.value)
"""
_NAMED: Final = 14  # where INSERT_JOB has the names
_EXPIRED: Final = """
SELECT id FROM inputs WHERE id IN (SELECT value FROM json_each(?)) AND expires_at <= ?
"""


def check_purged_inputs(ledger: Ledger, isolate: Isolate) -> None:
    """No upload goes that a job names which may yet be worked."""
    ledger.trace.count("input purged")
    for job, ref in ledger.connection.execute(_MISSED, (ledger.began_ms,)):
        told = f"{isolate.name}: {ref} of {name_of(job)}"
        ledger.trace.breach("what-a-live-job-needs-is-not-purged", told)


def find_expired_uploads(ledger: Ledger, statements: Sequence[Statement]) -> Sequence[str]:
    """Return what a start names though its time is over: the purge may have begun with it."""
    starts = [one.params for one in statements if one.sql == INSERT_JOB]
    if not starts or starts[0][_NAMED] == "[]":
        return ()
    asked = (starts[0][_NAMED], ledger.began_ms)
    return [name for (name,) in ledger.connection.execute(_EXPIRED, asked)]


@dataclass(slots=True)
class LetterCheck:
    """All dead letters, and the acts on them, before and after one transaction."""

    ledger: Ledger
    isolate: Isolate
    old_rows: Mapping[JobKey, JobRow]
    old: Mapping[str, LetterRow] = field(init=False)
    old_acts: Mapping[str, ActRow] = field(init=False)

    def check(self) -> None:
        ledger = self.ledger
        self.old, self.old_acts = ledger.letters, ledger.acts
        ledger.letters, ledger.acts = read_letters(ledger.connection), read_acts(ledger.connection)
        for key in ledger.rows.keys() - self.old_rows.keys():
            if ledger.rows[key].redriven_from is not None:
                self._check_birth(ledger.rows[key])
        if ledger.letters != self.old:
            self._check_letters()
        if ledger.acts != self.old_acts:
            self._check_acts()

    def _require(self, condition: object, rule: str, told: object) -> None:
        self.ledger.trace.require(condition, rule, f"{self.isolate.name}: {told}")

    def _check_letters(self) -> None:
        new = self.ledger.letters
        for name in self.old.keys() - new.keys():
            self._check_gone(self.old[name])
        for letter in new.values():
            was = self.old.get(letter.id)
            if was is None:
                self._check_burial(letter)
                continue
            if was.last_failed_at != letter.last_failed_at:
                self._require(letter.road == "undecodable", "only-messages-come-again", letter)
                was = was._replace(last_failed_at=letter.last_failed_at)
            if was != letter:
                self._check_resolved(was, letter)

    def _check_gone(self, letter: LetterRow) -> None:
        """Only what was resolved long ago."""
        ledger, keep_ms = self.ledger, self.ledger.keep_letters // timedelta(milliseconds=1)
        old = (letter.resolved_at or math.inf) + keep_ms <= ledger.watched.now_ms()
        self._require(old and letter.status != "open", "no-letter-vanishes", letter)

    def _check_burial(self, letter: LetterRow) -> None:
        """A letter is written with its job's end, or for a message that is no job's."""
        self._require(letter.status == "open", "letters-begin-open", letter)
        row, before = self.ledger.rows.get(letter.key), self.old_rows.get(letter.key)
        if letter.road == "undecodable":
            self.ledger.trace.count("letter of a message")
            self._require(row is None, "a-message-is-no-jobs", letter)
            return
        fails = row is not None and row.state == "failed" and not (before and before.terminal)
        self._require(fails, "a-letter-comes-with-the-end", letter)
        if row is not None:
            ended = (row.error_class, row.error_code, row.redrives)
            told = (letter.error_class, letter.code, letter.redrives)
            self._require(ended == told, "a-letter-tells-of-the-end", f"{ended} {told}")
        there = letter.code != "input_gone"
        self._require(there, "a-live-job-has-its-input", letter)
        by_queue = self.isolate.name.startswith("dlq-consumer")
        fits = letter.road != "queue_dlq" or by_queue
        self._require(fits, "the-road-is-true", letter)
        self.ledger.trace.count(f"letter:{letter.road}")

    def _check_resolved(self, was: LetterRow, now: LetterRow) -> None:
        """An open letter is resolved once, by somebody, who is on record."""
        once = was.status == "open" and now.status != "open" and was.record == now.record
        self._require(once, "a-letter-is-resolved-once", f"{was} {now}")
        told = now.resolved_by and now.resolved_at and now.reason
        self._require(told, "the-resolved-say-who-when-and-why", now)
        acts = [act for act in self._new_acts() if act.target == now.id]
        meant = f"dead_letter.{now.status}"
        on_record = [(act.actor, act.reason, act.action) for act in acts]
        right = on_record == [(now.resolved_by, now.reason, meant)]
        self._require(right, "an-act-is-on-record-once", f"{now} {acts}")
        self.ledger.trace.count(f"letter {now.status}")
        if now.status == "redriven":
            self._check_links(now)
        else:
            self._require(now.redriven_to is None, "the-discarded-stay", now)

    def _check_links(self, letter: LetterRow) -> None:
        key = JobKey(letter.tenant_id or "", letter.redriven_to or "")
        new, parent = self.ledger.rows.get(key), self.ledger.rows.get(letter.key)
        born = new is not None and key not in self.old_rows
        there = born and new is not None and new.redriven_from == letter.job_id
        back = parent is None or parent.redriven_to == key.job_id
        self._require(there and back, "links-agree", f"{letter} {parent} {new}")

    def _check_birth(self, new: JobRow) -> None:
        """A redrive is the same work with a new budget, and its letter's only one."""
        ledger = self.ledger
        origin = JobKey(new.tenant_id, new.redriven_from or "")
        first = ledger.successors.setdefault(origin, new.id)
        self._require(first == new.id, "redriven-once", f"{origin} to {first}, {new.id}")
        ledger.origins[new.key] = ledger.origins.get(origin, origin)
        letter = ledger.letters.get(f"dl_{origin.job_id[4:]}")
        ours = letter is not None and letter.redriven_to == new.id
        self._require(ours, "a-redrive-resolves-its-letter", f"{new} {letter}")
        if letter is not None:
            counted = new.redrives == letter.redrives + 1
            self._require(counted, "a-line-is-counted", f"{letter.redrives}, {new.redrives}")
        self._require(new.attempts == (new.state == "running"), "the-budget-is-new", new)
        missed = [ref for job, ref in ledger.connection.execute(_MISSED, (0,)) if job == new.id]
        self._require(not missed, "a-redrive-has-its-input", f"{new} {missed}")
        self._check_force(new)
        self._check_work(ledger.rows.get(origin), new)
        ledger.trace.count("redriven" if new.redrives == 1 else "redriven again")

    def _check_force(self, new: JobRow) -> None:
        meant = self.ledger.forced & {act.id for act in self._new_acts()}
        short = new.redrives <= REDRIVES_BEFORE_FORCE
        self._require(short or meant, "long-lines-need-force", new)
        if not short:
            self.ledger.trace.count("redriven with force")

    def _check_work(self, parent: JobRow | None, new: JobRow) -> None:
        if parent is None:
            self.ledger.trace.count("redriven past the purge")
            return
        given = (parent.deadline_at - parent.created_at, new.deadline_at - new.created_at)
        # The statements of one transaction do not share one now, but those of a row do.
        self._require(given[0] == given[1], "the-time-is-the-same", given)
        (works,) = self.ledger.connection.execute(_SAME_WORK, (parent.id, new.id)).fetchone()
        self._require(works == 1, "the-work-is-the-same", f"{parent} {new}")

    def _new_acts(self) -> Sequence[ActRow]:
        acts = self.ledger.acts
        return [acts[name] for name in acts.keys() - self.old_acts.keys()]

    def _check_acts(self) -> None:
        """Nothing is on record that was not done, and nothing leaves the record."""
        kept = self.old_acts.items() <= self.ledger.acts.items()
        self._require(kept, "the-audit-only-grows", self.old_acts)
        for act in self._new_acts():
            if not act.action.startswith("dead_letter."):
                continue
            was, now = self.old.get(act.target), self.ledger.letters.get(act.target)
            done = was is not None and now is not None and was.status == "open" != now.status
            self._require(done, "no-act-is-on-record-that-was-not", f"{act} {now}")
            if now is not None and now.redriven_to is not None:
                told = json.loads(act.detail).get("job")
                self._require(told == now.redriven_to, "an-act-names-its-job", f"{act} {now}")
