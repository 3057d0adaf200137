"""Look at what is worth an alert, and tell: once, again after a while, and when it is over.

One message says all that there is to say at a tick: who is woken at night is woken once. A receiver
that is broken is tried again, ever more seldom, and holds up nothing else. Delivery is at least
once: a step is noted before it is said and after; who dies between says it again, by the same id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from uketsuke.domain.alert import Patience, Standing, advance, to_tell
from uketsuke.domain.alert_message import message_of
from uketsuke.domain.objective import hold_of
from uketsuke.services.ports import Ports
from uketsuke.settings import Settings
from uketsuke.telemetry import Fields, event

# Between tries to say the same thing. A new one is said at the next tick, with all that is untold.
_FIRST_WAIT: Final = timedelta(seconds=50)  # less than a tick, lest it become two
_LONGEST_WAIT: Final = timedelta(hours=1)


async def look_after_alerts(ports: Ports) -> int:
    """Return how many alerts began to fire or were resolved."""
    objectives = ports.settings.objectives
    wanted = {name for name, bound in objectives.items() if bound is not None}
    found = await ports.alerts.standing()
    standings = [each for each in found if each.condition.name in wanted]
    off = [each.condition.name for each in found if each.alert and each not in standings]
    looked = [_looked_at(each, ports.settings) for each in standings]
    pairs = list(zip(standings, looked, strict=True))
    changed = [after.alert for before, after in pairs if after.alert and after != before]
    kept = await ports.alerts.keep(changed, forget=off) if changed or off else ()
    # What another look has overtaken is not ours to tell: it would be told anew each time.
    stands = [(was, now) for was, now in pairs if now == was or now.condition.name in kept]
    count = sum(_say(before, after) for before, after in stands)
    if standings:
        now = max(each.condition.computed_at for each in standings)
        await _tell([after for _, after in stands], now=now, ports=ports)
    return count


def _looked_at(standing: Standing, settings: Settings) -> Standing:
    condition, before = standing.condition, standing.alert
    patience = Patience(
        hold=hold_of(condition.name),
        clear=settings.alert_clear,
        remind_every=settings.alert_remind,
    )
    after = advance(before, condition, patience)
    if after == before:
        return standing
    return Standing(condition=condition, alert=replace(after, looked_at=condition.computed_at))


def _say(before: Standing, after: Standing) -> bool:
    """Log that an alert has begun to fire or is over; return whether it did."""
    alert, condition = after.alert, after.condition
    fired = before.alert is not None and before.alert.fires
    if alert is None or alert.fires == fired:
        return False
    fields: Fields = {"condition": alert.name, "limit": condition.bound}
    if condition.value is not None:
        fields["value"] = condition.value
    if condition.subject is not None:
        fields["subject"] = condition.subject
    event("alert_fired" if alert.fires else "alert_resolved", **fields)
    return True


async def _tell(standings: Sequence[Standing], *, now: datetime, ports: Ports) -> None:
    telling = to_tell(standings, now=now)
    if ports.receiver is None or not telling:
        return
    said = [each.alert for each in telling if each.alert]
    await ports.alerts.trying(said, first_wait=_FIRST_WAIT, longest_wait=_LONGEST_WAIT)
    fault = await ports.receiver.tell(message_of(telling))
    if fault is None:
        await ports.alerts.told(said)
    else:
        await ports.alerts.not_told(said, fault)
        event("alerts_not_told", count=len(said), error_code=fault)
