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
        await asyncio.sleep(world.profile.heals_at * rng.uniform(0.5, 1.4))
        name = await self._ask_for_one(actor)
        if name is not None and rng.random() < 0.4:
            await self._until_it_begins(name)
            await self._stop(name, actor)
        self.left -= 1

    async def _until_it_begins(self, name: str) -> None:
        """Wait until a letter is redriven, or for a while."""
        loop, ledger = asyncio.get_running_loop(), self.world.ledger
        until = loop.time() + self.world.rng.choice((1.0, 130.0))
        # Time is virtual: looking again costs less than being told.
        while loop.time() < until:
            if any(letter.redrive_id == name for letter in ledger.letters.values()):
                return
            await asyncio.sleep(0.1)

    async def _ask_for_one(self, actor: str) -> str | None:
        """Ask for a bulk redrive, and return its id if that was answered."""
        world, rng = self.world, self.world.rng
        letters = list(world.ledger.letters.values())
        like = rng.choice(letters) if letters and rng.random() < 0.3 else None
        asked = WantedRedrive(
            wanted=LetterFilter(
                error_class=like.error_class if like else None,
                kind=rng.choice((None, None, None, "summarize")),
            ),
            reason="the weather is better",
            rate_per_minute=rng.choice((1, 1, 60, 600)),
            canary=rng.choice((0, 1, 3)),
            actor=actor,
            request_id="r",
        )
        isolate = world.isolate("operator")
        starting = start_redrive(asked, ports=world.ports(isolate))
        ended = await world.run(isolate, starting, wall=_PATIENCE)
        self._expect_answer(ended.error)
        if ended.value is None:
            return None
        world.trace.count("bulk:asked for")
        name = ended.value.shown.redrive.id
        world.trace.require(name in world.ledger.bulks, "accepted-means-durable", name)
        return name

    async def _stop(self, name: str, actor: str) -> None:
        world = self.world
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
