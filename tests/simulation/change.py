"""One row before and after one transaction, held against the rules of the lifecycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.simulation.isolate import Isolate
from tests.simulation.ledger import Ledger
from tests.simulation.rows import LEGAL, JobRow, changed_at_the_end, read_lanes
from tests.simulation.runs import RunChange, is_outlived
from tests.simulation.trace import name_of
from tests.simulation.wire import LONGEST_DRAG
from uketsuke.adapters.sql.database import Statement

_MS = timedelta(milliseconds=1)


def check_wake(ledger: Ledger, new: JobRow) -> None:
    """Somebody must look at a live job in time to end it soon after its deadline."""
    latest = max(new.deadline_at, ledger.watched.now_ms()) + ledger.slack // _MS
    in_time = new.wake_at is not None and new.wake_at <= latest
    late = (
        f"{name_of(new.id)}: {((new.wake_at or 0) - new.deadline_at) / 1000} s after the deadline"
    )
    ledger.trace.require(in_time, "somebody-will-look-in-time", late)


def how_it_ended(ending: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return by what an attempt's ending is told from another one of the same attempt."""
    return ending["o"], ending.get("d")


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after one transaction."""

    ledger: Ledger
    statements: Sequence[Statement]
    ending: Mapping[str, Any] | None
    isolate: Isolate
    old: JobRow
    new: JobRow

    def check(self) -> None:
        old, new = self.old, self.new
        self._tell()
        if old.terminal:
            spoiled = changed_at_the_end(old, new)
            self._require(not spoiled, "an-end-is-final", f"{old.state}: {spoiled} changed")
            return
        self._check_move()
        self._check_counts()
        self._check_fence()
        if new.lease_token is not None and new.lease_token != old.lease_token:
            self._check_lease()
        if new.leased_until is not None and new.leased_until != old.leased_until:
            self.ledger.watch_lease(new)
        if old.lease_token is not None and new.lease_token != old.lease_token:
            self._check_handover()
        if old.engine == "workflow" and old.state == "running":
            settled = self.ending is not None
            RunChange(self.ledger, self.statements, settled, self.isolate, old, new).check()
        if new.terminal:
            self._check_end()

    def _tell(self) -> None:
        old, new = self.old, self.new
        told = (
            [f"{old.state}→{new.state}"]
            if (old.state, old.lease_token)
            != (
                new.state,
                new.lease_token,
            )
            else []
        )
        if new.attempts != old.attempts:
            told.append(f"attempts {old.attempts}→{new.attempts}/{new.max_attempts}")
        if new.error_class and new.state != "running":
            told.append(f"{new.error_class}/{new.error_code}")
        if new.cancel_requested_at and not old.cancel_requested_at:
            told.append("cancel wished")
        if told:
            self.ledger.trace.note(
                f"{self.isolate.name}: {name_of(new.id)} {' '.join(told)} (no. {new.attempt_no})"
            )

    def _require(self, condition: object, rule: str, text: str) -> None:
        if not condition:
            self.ledger.trace.breach(rule, f"{self.isolate.name}, {name_of(self.new.id)}: {text}")

    def _check_move(self) -> None:
        old, new = self.old, self.new
        moved = old.state == new.state or (old.state, new.state) in LEGAL
        self._require(moved, "legal-moves", f"{old.state}→{new.state}")
        if not new.terminal:
            check_wake(self.ledger, new)
        unwanted = new.state == "retrying" and new.cancel_requested_at is not None
        self._require(not unwanted, "a-wish-is-heeded", f"{old.state}→{new.state}")
        if new.state == "retrying" and old.state == "running":
            # Decided before it is written: that is tried while the lease holds, and takes a while.
            late = new.due_at - new.deadline_at
            most = self.ledger.slack // _MS + LONGEST_DRAG * 1000
            self._require(late < most, "next-try-before-deadline", f"{late} ms after")

    def _check_counts(self) -> None:
        old, new = self.old, self.new
        leased = new.attempt_no - old.attempt_no
        fits = new.attempts <= new.max_attempts and leased in (0, 1)
        self._require(fits, "attempts-are-bounded", f"{new.attempts}, {leased}")
        if new.call_epoch != old.call_epoch:
            self._check_epoch()

    def _check_epoch(self) -> None:
        """The key of the provider's calls moves only once the provider itself has said no."""
        calls = [
            call
            for call in self.ledger.provider.calls
            if call.job_id == self.new.id and call.epoch == self.old.call_epoch
        ]
        # A run may be worked by two lives at once, if one of them has lost its lease.
        of_a_run = self.new.engine == "workflow" and any(call.definite for call in calls)
        said_no = of_a_run or (bool(calls) and calls[-1].definite)
        self._require(said_no, "epoch-moves-after-a-definite-no", f"{len(calls)} calls")

    def _check_fence(self) -> None:
        """A lease that runs is touched by its holder only, or by a wish to cancel."""
        old, new = self.old, self.new
        if self.ending is not None and self.ending["k"] != old.lease_token:
            self._require(False, "old-tokens-write-nothing", f"{self.ending['s']}")
        if old.lease_token is None or self._carries(old.lease_token):
            return
        wished = new._replace(cancel_requested_at=old.cancel_requested_at, wake_at=old.wake_at)
        assert old.leased_until is not None
        free = old.leased_until <= self.ledger.watched.now_ms()
        if old.engine == "workflow":
            # What a silent run is worth, only its instance can tell: by its token, or too late.
            now, lease_ms = self.ledger.watched.now_ms(), self.ledger.lease_ms
            free = is_outlived(old, now, lease_ms=lease_ms)
        self._require(free or wished == old, "leases-are-respected", f"{old} {new}")
        extended = new.lease_token == old.lease_token and new.leased_until != old.leased_until
        self._require(not extended, "only-the-holder-renews", f"{old.leased_until}")

    def _carries(self, token: str) -> bool:
        bare = token.partition(".")[0]
        return any(
            isinstance(param, str) and bare in param
            for statement in self.statements
            for param in statement.params
        )

    def _check_lease(self) -> None:
        old, new, ledger = self.old, self.new, self.ledger
        token = str(new.lease_token)
        now = ledger.watched.now_ms()
        waiting = old.state in ("accepted", "retrying")
        self._require(not waiting or old.due_at <= now, "due-before-leased", str(old.due_at - now))
        self._require(old.deadline_at > ledger.began_ms, "never-leased-past-the-deadline", "")
        self._require(old.cancel_requested_at is None, "never-leased-when-unwanted", "")
        self._require(new.attempts == old.attempts + 1, "leasing-counts", str(new.attempts))
        self._check_poison()
        self._check_lanes(token)
        if old.state == "running":
            ledger.trace.count("takeover")
        if old.crashes or old.state == "running":
            ledger.trace.count("quarantine")
        ledger.note_holder(new.key, token, self.isolate)
        self.isolate.holds[new.key] = (new.attempt_no, token)

    def _check_lanes(self, token: str) -> None:
        """While a lane is parked, nobody is leased for it but its one probe."""
        ledger, now = self.ledger, self.ledger.watched.now_ms()
        for lane in read_lanes(ledger.connection):
            if lane.forget_at <= now:
                continue
            probes = lane.probe_token == token and lane.parked_until <= now
            self._require(probes, "no-lease-in-a-parked-lane", f"{lane} at {now}")
            before = [
                row
                for row in ledger.rows.values()
                if (lane.parked_at, row.lease_token) == ledger.probe
            ]
            # One that was turned away has made the park longer: its lease may outlast that.
            failed = (lane.parked_at, lane.failed_token) == ledger.probe
            # Or it is the same one, whose first claim came late, after the second was answered.
            again = (lane.parked_at, token) == ledger.probe
            free = failed or again or all((row.leased_until or 0) <= now for row in before)
            self._require(free, "one-probe-a-lane", f"{ledger.probe} lives")
            ledger.probe = (lane.parked_at, token)
            ledger.trace.count("lane probed")

    def _check_poison(self) -> None:
        """What kills its Worker twice in a row, with nobody else to blame, gets no third one.

        The product may take it for company that others waited in the same batch: once.
        """
        key, blames = self.new.key, self.ledger.blames
        lone = 0
        while (blame := blames.get((key, self.new.attempt_no - 1 - lone))) is not None:
            if blame.company or blame.death.poison != key:
                break
            lone += 1
        self._require(lone < 3, "poison-is-stopped", f"{lone} lone crashes in a row")

    def _check_handover(self) -> None:
        """Whoever held it before must have stopped."""
        token = str(self.old.lease_token)
        if self.ending is not None:
            self.ledger.settled[token] = how_it_ended(self.ending)
            if (self.old.leased_until or 0) <= self.ledger.began_ms:
                self.ledger.trace.count("settled after its lease, untaken")
        holder = self.ledger.holders.get(token)
        if holder is None:
            return
        if holder.holds.get(self.new.key, (0, ""))[1] == token:
            del holder.holds[self.new.key]

    def _check_end(self) -> None:
        new = self.new
        self.ledger.trace.count(f"end:{new.state}")
        (letters,) = self.ledger.connection.execute(
            "SELECT count(*) FROM dead_letters WHERE tenant_id = ? AND job_id = ?", new.key
        ).fetchone()
        self._require(letters == (new.state == "failed"), "failed-means-dead-letter", str(letters))
        if new.state == "failed" and new.error_class == "crashed":
            self._check_crash()

    def _check_crash(self) -> None:
        """Only what was alone, or had used up its attempts itself, may end as crashed."""
        new, ledger = self.new, self.ledger
        if new.engine == "workflow":
            spent = new.attempts >= new.max_attempts
            self._require(spent, "crashed-runs-had-their-attempts", str(new.attempts))
            return
        if new.key in ledger.provider.poison_jobs:
            ledger.trace.count("poison ended")
            return
        blame = ledger.blames.get((new.key, new.attempt_no))
        if blame is None:
            ledger.trace.count("crashed without a death")
            return
        neighbour = blame.death.poison is not None and blame.death.poison != new.key
        self._require(not neighbour, "no-failure-by-a-neighbour", str(blame))
        # A lease that was lost to a silent database counts like a crash: none can tell them apart.
        others = {
            number for (key, number), b in ledger.blames.items() if key == new.key and b.company
        }
        crashed = ledger.connection.execute(
            "SELECT number FROM attempts WHERE job_id = ? AND error_class = 'crashed'", (new.id,)
        )
        alone = [number for (number,) in crashed if number not in others]
        spent = new.attempts >= new.max_attempts
        self._require(spent or len(alone) >= 2, "two-lone-crashes", str(len(alone)))
