"""When an alert begins and ends, and what is to be said of it: one function over its condition.

An alert fires once its condition has held for a while, and resolves once it has not held for a
while: a value that dances about its bound is one alert, not many. Each thing that is to be said is
a step, numbered for good, so that whoever hears it twice can know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final

from uketsuke.domain.condition import Condition

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class AlertState(StrEnum):
    """How an alert stands."""

    OK = "ok"
    PENDING = "pending"  # the condition holds, but not for long enough yet
    FIRING = "firing"  # also while it holds no longer, but not for long enough yet


class DeliveryFault(StrEnum):
    """Why the receiver was not told."""

    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    REDIRECTED = "redirected"  # never followed: it would take our words elsewhere
    REFUSED = "refused"  # 4xx
    BROKEN = "broken"  # 5xx, or an answer that nobody could read


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a condition must hold, and then not hold; and how often its alert is said again."""

    hold: timedelta
    clear: timedelta
    remind_every: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One objective's alert. Its times are of the firing that lasts, or of the last one.

    ``since``: when the condition began to hold. ``step``: what is to be said last;
    ``told_step``: what was. ``fault``: why the last try failed.
    """

    name: str
    state: AlertState
    looked_at: datetime
    since: datetime | None = None
    fired_at: datetime | None = None
    cleared_at: datetime | None = None
    resolved_at: datetime | None = None
    step: int = 0
    step_at: datetime | None = None
    told_step: int = 0
    told_at: datetime | None = None
    tries: int = 0
    try_at: datetime | None = None
    fault: DeliveryFault | None = None

    @property
    def fires(self) -> bool:
        return self.state is AlertState.FIRING

    @property
    def id(self) -> str:
        """The name of what is to be said last; the same however often it is said.

        Not by ``since``: who is forgotten and fires anew while the condition still holds would say
        again what was heard before.
        """
        fired = (self.fired_at or _EPOCH) - _EPOCH
        return f"{self.name}:{fired // timedelta(milliseconds=1)}:{self.step}"

    @property
    def told_that_it_fires(self) -> bool:
        return bool(self.told_at and self.fired_at and self.told_at >= self.fired_at)

    @property
    def untold(self) -> bool:
        """Whether something is to be said. Of the end, only if the beginning was, or was tried."""
        heard_of = self.fires or self.told_that_it_fires or self.fault is not None
        return self.step > self.told_step and heard_of


def advance(alert: Alert | None, condition: Condition, patience: Patience) -> Alert:
    """Return how the alert stands after a look at its condition: an equal one if as before."""
    now = condition.computed_at
    alert = alert or Alert(name=condition.name, state=AlertState.OK, looked_at=now)
    if alert.fires:
        return _of_firing(alert, condition, patience)
    if condition.since is None:
        return replace(alert, state=AlertState.OK)
    if now - condition.since < patience.hold:
        return replace(alert, state=AlertState.PENDING)
    begun = replace(
        alert,
        state=AlertState.FIRING,
        since=condition.since,
        fired_at=now,
        cleared_at=None,
        resolved_at=None,
    )
    return _stepped(begun, now)


def _of_firing(alert: Alert, condition: Condition, patience: Patience) -> Alert:
    now = condition.computed_at
    if condition.holds:
        alert = replace(alert, cleared_at=None)
        again = now - (alert.step_at or now) >= patience.remind_every
        return _stepped(alert, now) if again else alert
    cleared_at = alert.cleared_at or now
    if now - cleared_at < patience.clear:
        return replace(alert, cleared_at=cleared_at)
    over = replace(alert, state=AlertState.OK, cleared_at=cleared_at, resolved_at=now)
    return _stepped(over, now)


def _stepped(alert: Alert, now: datetime) -> Alert:
    """Say something new: it is due at once, whatever became of what was to be said before."""
    return replace(alert, step=alert.step + 1, step_at=now, tries=0, try_at=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A condition and how its alert stands; None: it is no objective, or was not looked at yet."""

    condition: Condition
    alert: Alert | None


def to_tell(standings: Sequence[Standing], *, now: datetime) -> Sequence[Standing]:
    """Return what goes into one message: nothing if no part is due, else all that is untold."""
    untold = [(each, each.alert) for each in standings if each.alert and each.alert.untold]
    due = any(alert.try_at is None or alert.try_at <= now for _, alert in untold)
    return [each for each, _ in untold] if due else []
