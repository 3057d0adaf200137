"""What sort of history a seed makes: which faults it knows, and how often each strikes.

Each family of faults is left out of half of the histories, so that a rare one is not drowned by
the others, and so that each is also met alone.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from tests.simulation.outage import Outage
from tests.simulation.wire import FAULTS, Faults
from uketsuke.domain.lane import parse_lane
from uketsuke.domain.price import Price
from uketsuke.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueHabits:
    """How the queue behaves in this history."""

    duplicate: float
    longest_delay: float  # best effort: what was sent may come this much later
    max_retries: int
    batch: int
    gathering: float  # seconds in which messages gather before they are delivered together
    consumers: int
    closed: Sequence[tuple[float, float]]  # when no consumer is there


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowHabits:
    """How the Workflow engine behaves in this history."""

    fates: Sequence[tuple[str, float]]  # of an instance whose life ended by a death; and weight
    restarts_within: float  # seconds
    lost_outcomes: float  # how likely a step's isolate is to die before its outcome is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Everything about a history that its seed decides at once."""

    settings: Settings
    jobs: int
    runs: float  # how many of them run on a Workflow
    heals_at: float
    database: Faults
    database_outages: Sequence[Outage]
    blobs: Faults
    blob_outages: Sequence[Outage]
    sends: Faults
    queue: QueueHabits
    workflows: Faults
    workflow_outages: Sequence[Outage]
    workflow: WorkflowHabits
    statement: float  # how many seconds one may take, at most
    doom: float  # how likely an event's isolate is to die
    freeze: float  # how likely an event's isolate is to stand still for a while
    cut: float  # how likely it alone is to lose the database for a while
    sharing: float  # how likely a consumer's event is to run in a process beside others
    skew: float  # how many seconds a Worker's clock may be off
    provider: Sequence[tuple[str, float]]  # manner and weight
    turned_away: Sequence[tuple[float, float, str]]  # from, to, manner: whoever calls meanwhile
    poison: float
    cancel: float
    sweep_skip: float
    sweep_twice: float
    garbage: int
    uploads: float  # how many inputs are uploaded ahead of their jobs
    operators: int
    bulks: int  # how many bulk redrives are asked for
    echoes: int  # messages of jobs that the dead-letter queue brings without cause


def draw_profile(rng: random.Random) -> Profile:
    """Draw a history's profile."""
    heals_at = rng.choice((90.0, 200.0, 400.0, 900.0))
    return Profile(
        settings=_settings(rng),
        jobs=rng.randint(2, 10),
        runs=_perhaps(rng, 0.8),
        heals_at=heals_at,
        database=_faults(rng, 0.06),
        database_outages=_outages(rng, heals_at),
        blobs=_faults(rng, 0.15),
        blob_outages=_outages(rng, heals_at),
        sends=_faults(rng, 0.3),
        queue=_queue(rng, heals_at),
        workflows=_faults(rng, 0.3),
        workflow_outages=_outages(rng, heals_at),
        workflow=_workflow(rng),
        statement=rng.choice((0.001, 0.02, 0.2)),
        doom=_perhaps(rng, 0.25),
        freeze=_perhaps(rng, 0.4),
        cut=_perhaps(rng, 0.4),
        # The product does not know of its process's other events: asked for by name only.
        sharing=0.0,
        skew=_perhaps(rng, 600.0),
        provider=_provider(rng),
        turned_away=_turned_away(rng, heals_at),
        poison=rng.choice((0.0, 0.0, 0.15, 0.4)),
        cancel=_perhaps(rng, 0.6),
        sweep_skip=_perhaps(rng, 0.4),
        sweep_twice=_perhaps(rng, 0.4),
        garbage=rng.choice((0, 0, 0, 2)),
        uploads=_perhaps(rng, 0.8),
        operators=rng.choice((0, 0, 0, 1, 3)),
        bulks=rng.choice((0, 0, 0, 0, 1, 2)),
        echoes=rng.choice((0, 0, 0, 4)),
    )


def _perhaps(rng: random.Random, most: float) -> float:
    return rng.uniform(0, most) if rng.random() < 0.5 else 0.0


def _faults(rng: random.Random, most: float) -> Faults:
    if rng.random() < 0.5:
        return Faults()
    return Faults(**{name: _perhaps(rng, most) for name in FAULTS})


def _outages(rng: random.Random, heals_at: float) -> Sequence[Outage]:
    if rng.random() < 0.5:
        return ()
    outages = []
    for _ in range(rng.randint(1, 3)):
        start = rng.uniform(0, heals_at)
        length = rng.choice((10.0, 30.0, 70.0, 150.0))
        outages.append(Outage(start, start + length, rng.choice(FAULTS)))
    return outages


def _queue(rng: random.Random, heals_at: float) -> QueueHabits:
    closed = []
    if rng.random() < 0.2:
        start = rng.uniform(0, heals_at)
        closed.append((start, start + rng.uniform(30, 2400)))
    return QueueHabits(
        duplicate=_perhaps(rng, 0.6),
        longest_delay=_perhaps(rng, 150.0),
        max_retries=rng.choice((100, 100, 10, 2, 1)),
        batch=rng.choice((1, 3, 6, 10)),
        gathering=rng.choice((0.001, 0.001, 5.0, 20.0)),
        consumers=rng.choice((1, 2, 5)),
        closed=closed,
    )


def _workflow(rng: random.Random) -> WorkflowHabits:
    usual = rng.choice(("restarts", "restarts", "sleeps"))
    fates = [(usual, 1.0)]
    fates += [(fate, _perhaps(rng, 1.0)) for fate in ("sleeps", "is deaf", "is gone", "breaks")]
    return WorkflowHabits(
        fates=fates,
        restarts_within=rng.choice((2.0, 30.0, 200.0)),
        lost_outcomes=_perhaps(rng, 0.15),
    )


def _settings(rng: random.Random) -> Settings:
    lease = rng.choice((60.0, 60.0, 30.0, 15.0))
    settings = Settings(
        lease=timedelta(seconds=lease),
        renew_every=timedelta(seconds=lease / 3),
        progress_every=timedelta(seconds=rng.choice((2, 5))),
        attempt_limit=timedelta(seconds=rng.choice((300, 40))),
        jobs_at_once=rng.choice((1, 2, 6, 6)),
        longest_knock=timedelta(seconds=rng.choice((900, 900, 30))),
        retry_base=timedelta(seconds=rng.choice((5, 1))),
        retry_cap=timedelta(seconds=rng.choice((600, 60))),
        inline_bytes=rng.choice((4096, 4096, 16)),
        keep_inputs=rng.choice((_MONTH, _MONTH, timedelta(minutes=2))),
        lane_spread=timedelta(seconds=rng.choice((60, 60, 10))),
        lane_memory=timedelta(seconds=rng.choice((3600, 3600, 20))),
        park_quota=timedelta(seconds=rng.choice((600, 30))),
        park_denied=timedelta(seconds=rng.choice((60, 10))),
        key_hash_secret=b"a secret of the simulation",
        model_base_url="http://provider/v1",
        model_api_key="k",
        prices={parse_lane("extractive-e5"): _PRICE},
    )
    # What a budget binds is reserved, and taken back before it is worked again. One that is never
    # used up leaves the jobs alone; one for four jobs at once makes them wait, and fails some.
    # (Told by other settings, so that it draws nothing of its own.)
    bound, tight = settings.retry_base < timedelta(seconds=5), settings.inline_bytes < 4096
    budget = 15_000 if tight else 10**12
    return replace(settings, daily_budget_micros=budget if bound else None)


_MONTH = timedelta(days=30)
# A micro-dollar a token.
_PRICE = Price(
    as_of=date(2026, 11, 29),
    source="the simulation",
    input_per_million=10**6,
    output_per_million=10**6,
)


def _turned_away(rng: random.Random, heals_at: float) -> Sequence[tuple[float, float, str]]:
    """Perhaps the model throttles all for a while, or our key is rotated and nobody knows."""
    if rng.random() < 0.7:
        return ()
    start = rng.uniform(0, heals_at)
    return ((start, start + rng.choice((10.0, 60.0, 200.0)), rng.choice(("throttle", "deny"))),)


_MANNERS = {
    "slow": 0.5,
    "hang": 0.25,
    "throttle": 0.3,
    "quota": 0.15,
    "fail": 0.4,
    "cut": 0.3,
    "cut_after": 0.3,
    "refuse": 0.1,
    "deny": 0.1,
    "nonsense": 0.1,
}


def _provider(rng: random.Random) -> Sequence[tuple[str, float]]:
    weights = [("ok", 1.0)]
    for manner, most in _MANNERS.items():
        if rng.random() < 0.4:
            weights.append((manner, rng.uniform(0, most)))
    return weights
