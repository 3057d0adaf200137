"""How redriven work is done in a history."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import msgspec

from tests.simulation.kind import SIMULATED
from tests.simulation.world import World
from uketsuke.domain.job import InputForm, Rework
from uketsuke.domain.lifecycle import Engine
from uketsuke.services.redrive import Planner


def planner_of(world: World) -> Planner:
    """Plan as ``kinds.plan`` does, with the times of this history."""

    def plan(name: str, form: InputForm, size: int, params: Mapping[str, object]) -> Rework | None:
        kind = SIMULATED[name]
        msgspec.convert(params, kind.params)
        engine = kind.engine(form, size)
        limit = world.profile.settings.attempt_limit
        if engine is Engine.WORKFLOW:
            limit = timedelta(seconds=world.rng.choice((30, 90, 400, 3600)))
        return Rework(engine=engine, run_limit=limit, expected=None)

    return plan
