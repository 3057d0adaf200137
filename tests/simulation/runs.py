"""The rules of runs on Workflows: who may write what of a run's row, and when.

Each statement of the product's that touches a run has its own; what none of them explains is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tests.simulation.isolate import Isolate
from tests.simulation.ledger import Ledger
from tests.simulation.rows import JobRow
from tests.simulation.trace import name_of
from uketsuke.adapters.sql import run_statements as sql
from uketsuke.adapters.sql.database import Statement
from uketsuke.domain.job import instance_id
from uketsuke.services.ports import InstanceState
from uketsuke.services.run import RESULT

_ROUSED_IN_VAIN: Final = 2  # so often a run is woken or made before it counts as crashed


def check_birth(ledger: Ledger, new: JobRow, isolate: Isolate) -> None:
    """A run is running from its first moment, with a lease; all else waits."""
    if new.engine == "queue":
        ledger.trace.require(new.state == "accepted", "born-accepted", new.state)
        return
    born = (new.state, new.attempts, new.attempt_no) == ("running", 1, 1)
    ledger.trace.require(born and new.lease_token, "born-running", str(new))
    ledger.trace.count("run born")
    ledger.note_holder(new.key, str(new.lease_token), isolate)
    ledger.watch_lease(new)


def is_outlived(row: JobRow, at_ms: int, *, lease_ms: int) -> bool:
    """Whether a row must not stand in the way of a new start any more."""
    if row.state != "running":
        return not row.terminal and row.deadline_at <= at_ms
    assert row.leased_at is not None
    assert row.leased_until is not None
    stale = row.leased_at + row.run_limit_ms + lease_ms <= at_ms
    return stale or (row.deadline_at <= at_ms and row.leased_until <= at_ms)


def check_refusal(ledger: Ledger, holder: JobRow | None) -> None:
    """A start is refused for a run key only if its holder has not outlived its time."""
    if holder is not None:
        outlived = is_outlived(holder, ledger.began_ms, lease_ms=ledger.lease_ms)
        told = f"{name_of(holder.id)} since {holder.leased_at}, until {holder.deadline_at}"
        ledger.trace.require(not outlived, "an-outlived-run-blocks-nobody", told)


@dataclass(frozen=True, slots=True)
class RunChange:
    """A row that ran on a Workflow, before and after one transaction."""

    ledger: Ledger
    statements: Sequence[Statement]
    settled: bool
    isolate: Isolate
    old: JobRow
    new: JobRow

    def check(self) -> None:
        if self.new.lease_token == self.old.lease_token:
            self._check_progress()
            if self.new.leased_until != self.old.leased_until:
                self._check_longer()
        elif self.new.lease_token is not None:
            self._require(False, "runs-are-not-taken-over", f"{self.old.lease_token}")
        elif self.settled:
            self._check_settled()
        elif self._is(sql.END_SILENT):
            self._check_silent_end()
        elif self._is(sql.END_OUTLIVED):
            self._check_outlived_end()
        else:
            self._require(False, "runs-end-by-name", f"{self.old.state}→{self.new.state}")

    def _is(self, text: str) -> bool:
        return any(statement.sql == text for statement in self.statements)

    def _require(self, condition: object, rule: str, text: str) -> None:
        told = f"{self.isolate.name}, {name_of(self.new.id)}: {text}"
        self.ledger.trace.require(condition, rule, told)

    @property
    def _instance(self) -> str:
        return instance_id(self.old.id, self.old.attempt_no)

    def _check_progress(self) -> None:
        before, after = self.old.progress_done, self.new.progress_done
        forward = before is None or (after is not None and after >= before)
        self._require(forward, "progress-runs-forward", f"{before}→{after}")
        if (after or 0) > (before or 0):  # a life that brings nothing was roused in vain
            self.ledger.engine.heard_of(self._instance)

    def _check_longer(self) -> None:
        """The lease of a silent run goes on if its instance was roused, and each time is counted.

        Else it is a life that begins, or goes on, under its token.
        """
        if self._is(sql.NUDGE):
            self.ledger.trace.count("run nudged")
            self._require(self._silent(), "only-the-silent-are-nudged", str(self.old.leased_until))
            counted = self.new.wakes == self.old.wakes + 1 <= _ROUSED_IN_VAIN
            self._require(counted, "nudges-are-counted", f"{self.old.wakes}→{self.new.wakes}")

    def _silent(self) -> bool:
        return (self.old.leased_until or 0) <= self.ledger.watched.now_ms()

    def _wished(self) -> bool:
        return self.old.cancel_requested_at is not None

    def _past_its_limit(self) -> bool:
        limit = (self.old.leased_at or 0) + self.old.run_limit_ms
        return limit <= self.ledger.watched.now_ms()

    def _check_settled(self) -> None:
        """By its own life; or by the sweep, if the instance is over and has kept its result."""
        if self.isolate.name.startswith("sweep"):
            self.ledger.trace.count("run settled by the sweep")
            instance = self.ledger.engine.instances.get(self._instance)
            over = instance is None or instance.state is not InstanceState.LIVE
            self._require(over, "the-living-settle-for-themselves", self._instance)
            kept = (self.old.key, RESULT[0]) in self.ledger.kept
            self._require(kept, "only-kept-results-are-settled", self._instance)

    def _check_silent_end(self) -> None:
        self.ledger.trace.count(f"run ended as {self.new.error_class}")
        if (self.old.key, RESULT[0]) in self.ledger.kept:
            told = "thrown away" if self.new.state == "failed" else "put off"
            self.ledger.trace.count(f"kept result {told}")
        self._require(self._silent(), "only-the-silent-are-ended", str(self.old.leased_until))
        self._check_doomed()
        if self.new.error_class == "stale":
            self._require(self._past_its_limit(), "stale-means-past-the-limit", "")
        elif self.new.error_class != "deadline" and not (self._wished() or self._past_its_limit()):
            self._check_lost()

    def _check_lost(self) -> None:
        """Nobody lives there, or was roused often enough in vain; and no result lies there."""
        instance = self.ledger.engine.instances.get(self._instance)
        if instance is None or instance.state is InstanceState.LIVE:
            roused = self.ledger.engine.roused[self._instance]
            enough = roused >= _ROUSED_IN_VAIN
            self._require(enough, "a-live-run-is-not-given-up", f"roused {roused} times")
        elif instance.state is InstanceState.COMPLETE:
            kept_at = self.ledger.kept.get((self.old.key, RESULT[0]))
            kept = kept_at is not None and kept_at <= (instance.ended_at or 0)
            self._require(not kept, "a-complete-run-counts", self._instance)

    def _check_outlived_end(self) -> None:
        ledger = self.ledger
        ledger.trace.count("run outlived at a start")
        outlived = is_outlived(self.old, ledger.watched.now_ms(), lease_ms=ledger.lease_ms)
        self._require(outlived, "only-the-outlived-make-room", str(self.old))
        self._check_doomed()

    def _check_doomed(self) -> None:
        """Whatever became of its instance, somebody must see to it that it does not go on."""
        asked = "SELECT count(*) FROM doomed_instances WHERE id = ?"
        (noted,) = self.ledger.connection.execute(asked, (self._instance,)).fetchone()
        self._require(noted, "ended-means-doomed", self._instance)
        self.ledger.doomed[self._instance] = self.ledger.trace.now()
