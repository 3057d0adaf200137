"""Many histories under faults of every kind: no invariant breaks, and none goes untried."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.simulation.conftest import Played
from tests.simulation.history import play
from tests.simulation.world import SharedDatabase

_LOTS = 20
_LOT = int(os.environ.get("SIMULATED_HISTORIES", "1500")) // _LOTS

# What must happen how often in the first 400 histories: the simulator must not go blind. At most
# half of the fewest that three times 400 had; the more kinds of weather, the rarer is each.
_MUST_BE_SEEN = {
    "admission:KnownKey": 100,
    "admission:RunInProgress": 80,
    "charged in doubt": 100,
    "database:lose": 100,
    "database:mute": 100,
    "database:refuse": 100,
    "death:at a call": 50,
    "death:poison": 80,
    "end:canceled": 40,
    "end:failed": 200,
    "end:succeeded": 400,
    "event:duty_failed": 200,
    "event:lease_lost": 5,
    "event:lane_opened": 30,
    "event:lane_not_told": 15,
    "event:lane_parked": 50,
    "event:run_not_asked": 5,
    "lane probed": 40,
    "late write refused": 5,
    "paid result kept": 4,
    "poison ended": 35,
    "provider:deny": 20,
    "provider:hang": 10,
    "provider:quota": 10,
    "provider:throttle": 10,
    "quarantine": 60,
    "run born": 200,
    "run ended as crashed": 20,
    "run ended as deadline": 25,
    "run ended as stale": 5,
    "run nudged": 15,
    "run outlived at a start": 2,
    "queue:dlq": 40,
    "queue:duplicate": 80,
    "queue:lose": 20,
    "settled after its lease, untaken": 5,
    "takeover": 15,
    "workflow:is deaf": 3,
    "workflow:is gone": 2,
    "workflow:outcome lost": 12,
    "workflow:restarts": 50,
    "workflow:sleeps": 7,
    "workflow:step given up": 20,
    "workflow:terminated": 18,
    "workflow:told absent": 45,
    "workflow:told broken": 9,
    "workflow:told live": 20,
    "workflow:woken": 8,
    "workflows:lose": 13,
}


@pytest.mark.parametrize("lot", range(_LOTS))
def test_every_history_keeps_the_invariants(lot: int, played: Played) -> None:
    for seed in range(1 + lot * _LOT, 1 + (lot + 1) * _LOT):
        story = played.story(seed)
        assert not story, story


def test_a_seed_gives_the_same_history_each_time(shared: SharedDatabase) -> None:
    first, again = play(7, shared=shared), play(7, shared=shared)

    assert first.trace.render() == again.trace.render()


def test_no_kind_of_trouble_goes_untried(played: Played) -> None:
    met: Counter[str] = Counter()
    for seed in range(1, 401):
        met.update(played.seen(seed))

    rare = {what: met[what] for what, least in _MUST_BE_SEEN.items() if met[what] < least}
    assert not rare
