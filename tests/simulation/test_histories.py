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
    "bulk:asked": 20,
    "bulk:canaries_failed": 4,
    "bulk:done": 26,
    "bulk:running": 15,
    "charged in doubt": 100,
    "database:lose": 100,
    "database:mute": 100,
    "database:refuse": 100,
    "death:at a call": 50,
    "death:poison": 80,
    "dlq:echo": 150,
    "end:canceled": 40,
    "end:failed": 200,
    "end:succeeded": 400,
    "event:duty_failed": 200,
    "event:lane_not_told": 15,
    "event:lane_opened": 29,
    "event:lane_parked": 46,
    "event:lease_lost": 5,
    "event:run_not_asked": 4,
    "input purged": 55,
    "input uploaded": 165,
    "lane probed": 40,
    "late write refused": 3,
    "letter discarded": 145,
    "letter of a message": 90,
    "letter redriven": 125,
    "letter:queue_dlq": 17,
    "operator:AlreadyResolved": 100,
    "operator:InputGone": 165,
    "operator:NotReplayable": 130,
    "operator:RunHeld": 3,
    "operator:too late": 11,
    "paid result kept": 3,
    "poison ended": 35,
    "provider:deny": 20,
    "provider:hang": 10,
    "provider:quota": 10,
    "provider:throttle": 10,
    "quarantine": 60,
    "queue:dlq": 40,
    "queue:duplicate": 80,
    "queue:lose": 20,
    "redriven again": 25,
    "redriven in bulk": 40,
    "run born": 170,
    "run ended as crashed": 15,
    "run ended as deadline": 19,
    "run ended as stale": 5,
    "run nudged": 11,
    "run outlived at a start": 1,
    "settled after its lease, untaken": 4,
    "takeover": 15,
    "workflow:is deaf": 3,
    "workflow:is gone": 1,
    "workflow:outcome lost": 12,
    "workflow:restarts": 33,
    "workflow:sleeps": 5,
    "workflow:step given up": 8,
    "workflow:terminated": 18,
    "workflow:told absent": 35,
    "workflow:told broken": 8,
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
