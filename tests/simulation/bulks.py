"""Bulk redrives: people who ask for one and perhaps stop it. The sweep drives them on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

from tests.simulation.world import World
from uketsuke.domain.bulk_redrive import LetterFilter
from uketsuke.services.ports import Unavailable
from uketsuke.services.redrive import new_act
from uketsuke.services.redrives import WantedRedrive, start_redrive

_PATIENCE: Final = 60.0  # seconds until a person gives a request up


@dataclass(slots=True)
class Bulks:
    """People who redrive all that fits at once."""

    world: World
    left: int = 0

    def start(self) -> None:
        for number in range(self.world.profile.bulks):
            self.left += 1
            self.world.spawn(self._live(f"key_bulk{number}"))

    async def _live(self, actor: str) -> None:
        world, rng = self.world, self.world.rng
        await asyncio.sleep(world.profile.heals_at * rng.uniform(0.2, 1.2))
        await self._ask_for_one(actor)
        if rng.random() < 0.3:
            await asyncio.sleep(rng.choice((0.1, 30, 90)) * rng.random())
            await self._stop_one(actor)
        self.left -= 1

    async def _ask_for_one(self, actor: str) -> None:
        world, rng = self.world, self.world.rng
        letters = list(world.ledger.letters.values())
        like = rng.choice(letters) if letters and rng.random() < 0.3 else None
        asked = WantedRedrive(
            wanted=LetterFilter(
                error_class=like.error_class if like else None,
                kind=rng.choice((None, None, None, "summarize")),
            ),
            reason="the weather is better",
            rate_per_minute=rng.choice((1, 5, 60, 600)),
            canary=rng.choice((0, 1, 3)),
            actor=actor,
            request_id="r",
        )
        isolate = world.isolate("operator")
        starting = start_redrive(asked, ports=world.ports(isolate))
        ended = await world.run(isolate, starting, wall=_PATIENCE)
        self._expect_answer(ended.error)
        if ended.value is not None:
            world.trace.count("bulk:asked for")
            there = ended.value.redrive.id in world.ledger.bulks
            world.trace.require(there, "accepted-means-durable", ended.value.redrive.id)

    async def _stop_one(self, actor: str) -> None:
        world = self.world
        if not world.ledger.bulks:
            return
        name = world.rng.choice(sorted(world.ledger.bulks))
        isolate = world.isolate("operator")
        ports = world.ports(isolate)
        act = new_act(actor, reason="enough", request_id="r", ports=ports)
        ended = await world.run(isolate, ports.redrives.stop(name, act=act), wall=_PATIENCE)
        self._expect_answer(ended.error)
        if ended.value is not None:
            going = world.ledger.bulks[name].going
            world.trace.require(not going, "what-is-stopped-does-not-go-on", name)

    def _expect_answer(self, error: BaseException | None) -> None:
        if error is not None and not isinstance(error, Unavailable):
            self.world.trace.breach("operators-are-answered", repr(error))
