"""Thousands of histories under faults of every kind: no invariant breaks, and none goes untried."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.simulation.conftest import Played
from tests.simulation.history import play
from tests.simulation.world import SharedDatabase

_LOTS = 20
_LOT = int(os.environ.get("SIMULATED_HISTORIES", "2000")) // _LOTS

# What must happen how often in the first 400 histories: the simulator must not go blind.
_MUST_BE_SEEN = {
    "admission:KnownKey": 100,
    "admission:RunInProgress": 80,
    "database:lose": 100,
    "database:mute": 100,
    "database:refuse": 100,
    "death:at a call": 50,
    "death:poison": 80,
    "end:canceled": 40,
    "end:failed": 200,
    "end:succeeded": 400,
    "event:lease_lost": 5,
    "event:lane_opened": 40,
    "event:lane_parked": 60,
    "lane probed": 40,
    "late write refused": 5,
    "paid result kept": 5,
    "poison ended": 40,
    "provider:hang": 10,
    "provider:throttle": 10,
    "quarantine": 60,
    "run born": 200,
    "run ended as crashed": 30,
    "run ended as stale": 5,
    "run nudged": 15,
    "run outlived at a start": 3,
    "queue:dlq": 40,
    "queue:duplicate": 80,
    "queue:lose": 20,
    "settled after its lease, untaken": 5,
    "takeover": 40,
    "workflow:is deaf": 3,
    "workflow:is gone": 3,
    "workflow:outcome lost": 15,
    "workflow:restarts": 60,
    "workflow:sleeps": 8,
    "workflow:terminated": 20,
    "workflow:told absent": 50,
    "workflow:told live": 20,
    "workflow:woken": 8,
    "workflows:lose": 15,
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
