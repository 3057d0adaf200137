"""The rules of bulk redrives: what one may touch, how fast, and that it tells of all it met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tests.simulation.isolate import Isolate
from tests.simulation.ledger import Ledger
from tests.simulation.rows import BulkRow, LetterRow, read_bulks
from uketsuke.domain.dead_letter import REDRIVES_BEFORE_FORCE
from uketsuke.domain.job import JobKey

_SKIPPED: Final = "SELECT letter_id FROM redrive_skips WHERE redrive_id = ?"


@dataclass(frozen=True, slots=True)
class BulkCheck:
    """All bulk redrives before and after one transaction, and what it redrove for them."""

    ledger: Ledger
    isolate: Isolate
    old_letters: Mapping[str, LetterRow]

    def check(self) -> None:
        ledger = self.ledger
        old, ledger.bulks = ledger.bulks, read_bulks(ledger.connection)
        for name, bulk in ledger.bulks.items():
            was = old.get(name)
            if was is None:
                self._check_beginning(bulk)
            elif was != bulk:
                self._check_move(was, bulk)
        if not ledger.bulks or ledger.letters == self.old_letters:
            return
        for letter in ledger.letters.values():
            was_open = (before := self.old_letters.get(letter.id)) and before.status == "open"
            if letter.redrive_id is not None and was_open:
                self._check_redriven(letter, ledger.bulks[letter.redrive_id])

    def _require(self, condition: object, rule: str, told: object) -> None:
        self.ledger.trace.require(condition, rule, f"{self.isolate.name}: {told}")

    def _check_beginning(self, bulk: BulkRow) -> None:
        acts = [(a.actor, a.action) for a in self.ledger.acts.values() if a.target == bulk.id]
        right = acts == [(bulk.created_by, "redrive.started")]
        self._require(right, "an-act-is-on-record-once", f"{bulk} {acts}")

    def _check_move(self, was: BulkRow, now: BulkRow) -> None:
        """What has stopped or is done stays so; its figures are kept once."""
        self._require(was.asked == now.asked, "a-bulk-is-what-was-asked", f"{was} {now}")
        if was.state != now.state:
            self.ledger.trace.count(f"bulk:{now.stopped_because or now.state}")
        if (was.state, now.state) == ("canary", "running"):
            live = [key for key in self._jobs_of(now) if not self.ledger.rows[key].terminal]
            self._require(not live, "canaries-end-first", f"{now} {live}")
        back = (was.state, now.state) == ("running", "canary")
        final = not was.going and (was.state, was.finished_at) != (now.state, now.finished_at)
        self._require(not back and not final, "a-bulks-end-is-final", f"{was} {now}")
        self._require(was.closed_at is None or was == now, "a-closed-bulk-rests", f"{was} {now}")
        if now.stopped_by is not None and was.stopped_by is None:
            acts = [a.action for a in self.ledger.acts.values() if a.target == now.id]
            right = acts.count("redrive.stopped") == 1
            self._require(right, "an-act-is-on-record-once", f"{now} {acts}")

    def _jobs_of(self, bulk: BulkRow) -> list[JobKey]:
        return [
            JobKey(letter.tenant_id or "", letter.redriven_to or "")
            for letter in self.ledger.letters.values()
            if letter.redrive_id == bulk.id
        ]

    def _check_redriven(self, letter: LetterRow, bulk: BulkRow) -> None:
        """Only what was meant, in time, with its person's words, and no faster than was asked."""
        self.ledger.trace.count("redriven in bulk")
        self._require(bulk.going, "what-is-stopped-does-not-go-on", f"{letter} {bulk}")
        before = letter.last_failed_at < bulk.created_at
        self._require(before, "a-bulk-is-bounded-by-its-start", f"{letter} {bulk}")
        self._require(_fits(letter, bulk), "a-bulk-keeps-to-its-filter", f"{letter} {bulk}")
        said = (letter.resolved_by, letter.reason) == (bulk.created_by, bulk.reason)
        self._require(said, "a-bulk-is-its-persons-act", f"{letter} {bulk}")
        few = letter.redrives < REDRIVES_BEFORE_FORCE
        self._require(few, "long-lines-need-force", letter)
        self._check_pace(bulk)

    def _check_pace(self, bulk: BulkRow) -> None:
        """The canaries come first, and end before all others; those keep to the rate."""
        ledger = self.ledger
        mine = self._jobs_of(bulk)
        if bulk.state == "canary":
            self._require(len(mine) <= bulk.canary, "so-many-canaries", f"{len(mine)} {bulk}")
            return
        minutes = (ledger.watched.now_ms() - bulk.created_at) / 60_000
        most = bulk.canary + bulk.rate_per_minute * minutes
        self._require(len(mine) <= most, "a-bulk-keeps-its-rate", f"{len(mine)} {bulk}")


def _fits(letter: LetterRow, bulk: BulkRow) -> bool:
    right_class = bulk.filter_class in (None, letter.error_class)
    return right_class and bulk.filter_kind in (None, letter.kind)


def judge_bulks(ledger: Ledger) -> None:
    """At the end each bulk redrive is over, has passed nothing over in silence, and adds up."""
    for bulk in ledger.bulks.values():
        over = bulk.closed_at is not None
        ledger.trace.require(over, "bulks-come-to-an-end", str(bulk))
        skipped = {name for (name,) in ledger.connection.execute(_SKIPPED, (bulk.id,))}
        meant = [
            letter
            for letter in ledger.letters.values()
            if _fits(letter, bulk) and letter.last_failed_at < bulk.created_at
        ]
        missed = [x for x in meant if x.status == "open" and x.id not in skipped]
        complete = bulk.state == "stopped" or not missed
        ledger.trace.require(complete, "a-bulk-passes-nothing-over", f"{bulk} {missed}")
        if over:
            _judge_figures(ledger, bulk)


def _judge_figures(ledger: Ledger, bulk: BulkRow) -> None:
    mine = [letter for letter in ledger.letters.values() if letter.redrive_id == bulk.id]
    jobs = [ledger.rows[JobKey(x.tenant_id or "", x.redriven_to or "")].state for x in mine]
    counted = tuple(jobs.count(state) for state in ("succeeded", "failed", "canceled"))
    told = (bulk.started, bulk.succeeded, bulk.failed, bulk.canceled)
    ledger.trace.require(told == (len(mine), *counted), "a-bulk-adds-up", f"{bulk} {jobs}")
