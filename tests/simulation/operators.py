"""Operators: they look at dead letters, redrive or discard them, and get in each other's way."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tests.simulation.isolate import Isolate
from tests.simulation.planner import planner_of
from tests.simulation.rows import LetterRow
from tests.simulation.trace import name_of
from tests.simulation.world import World
from uketsuke.domain.audit import Act
from uketsuke.domain.dead_letter import REDRIVES_BEFORE_FORCE, DeadLetter, replay_of
from uketsuke.services.discard import discard
from uketsuke.services.ports import Unavailable
from uketsuke.services.redrive import (
    AlreadyResolved,
    InputGone,
    NotReplayable,
    Redriven,
    Refusal,
    RunHeld,
    new_act,
    redrive_as_it_was,
)

_LATE: Final = 4  # how many letters are redriven while the purge is at it
_PATIENCE: Final = 60.0  # seconds until an operator gives a request up
_SOON: Final = 300.0
_UPLOADS_UNTIL: Final = """
SELECT min(coalesce((SELECT i.expires_at FROM inputs AS i WHERE i.id = named.value), 0))
  FROM jobs AS j, json_each(j.input, '$.refs') AS named
 WHERE j.id = ?
"""
T = TypeVar("T")


@dataclass(slots=True)
class Operators:
    """People with the scope ``operate``."""

    world: World
    left: int = 0

    def start(self) -> None:
        for number in range(self.world.profile.operators):
            self.left += 1
            self.world.spawn(self._live(f"key_{number}"))

    async def _live(self, actor: str) -> None:
        rng, profile = self.world.rng, self.world.profile
        for _ in range(rng.randint(2, 6)):
            await asyncio.sleep(rng.uniform(0, profile.heals_at / 4))
            letter = self._choose()
            if letter is not None:
                await self._race(letter, actor)
        self.left -= 1

    def _choose(self) -> LetterRow | None:
        """Most look at what is open, some at an old list."""
        rng, letters = self.world.rng, list(self.world.ledger.letters.values())
        if rng.random() < 0.8:
            letters = [letter for letter in letters if letter.status == "open"]
        # Whoever has begun with a line goes on with it.
        lines = [letter for letter in letters if letter.redrives]
        if lines and rng.random() < 0.7:
            letters = lines
        return rng.choice(letters) if letters else None

    async def _race(self, letter: LetterRow, actor: str) -> None:
        """Deal with a letter, perhaps beside others or more than once."""
        rng = self.world.rng
        await self._perhaps_dawdle(letter)
        racers = rng.choice((1, 1, 1, 2, 4))
        doing = [rng.choice((self._redrive,) * 4 + (self._discard,)) for _ in range(racers)]
        acts = [one(letter, f"{actor}-{number}") for number, one in enumerate(doing)]
        await asyncio.gather(*acts)

    async def _perhaps_dawdle(self, letter: LetterRow) -> None:
        """Perhaps put it off until the input is about to go."""
        until = self._uploads_until_ms(letter)
        seconds = ((until or 0) - self.world.now_ms()) / 1000
        if 0 < seconds < _SOON and self.world.rng.random() < 0.7:
            self.world.trace.count("operator:dawdles")
            await asyncio.sleep(max(0.0, seconds - self.world.rng.random() * 0.2))

    async def come_late(self) -> None:
        """Redrive what is left open, some of it twice, at about the same moment."""
        rng, letters = self.world.rng, list(self.world.ledger.letters.values())
        left = [letter for letter in letters if letter.status == "open"][:_LATE]
        acts = [self._after(rng.random() * 2, letter) for letter in left + left[:1]]
        await asyncio.gather(*acts)

    async def _after(self, seconds: float, letter: LetterRow) -> None:
        await asyncio.sleep(seconds)
        await self._redrive(letter, "key_late")

    async def look_back(self) -> None:
        """Long after, with every job purged: nothing can be redriven, all can be discarded."""
        for letter in list(self.world.ledger.letters.values()):
            if letter.status == "open":
                await self._redrive(letter, "key_late")
                await self._discard(letter, "key_late")
        left = [one.id for one in self.world.ledger.letters.values() if one.status == "open"]
        self.world.trace.require(not left, "what-is-open-can-be-discarded", str(left))

    async def _redrive(self, letter: LetterRow, actor: str) -> None:
        world = self.world
        isolate = world.isolate("operator")
        ports = world.ports(isolate)
        act = new_act(actor, reason="it was the weather", request_id="r", ports=ports)
        forced = world.rng.random() < 0.4
        if forced:
            world.ledger.forced.add(act.id)
        planner = planner_of(world)

        async def ask() -> Redriven | Refusal:
            found = await ports.dead_letters.find(letter.id)
            assert found is not None
            answer = await redrive_as_it_was(
                found, act=act, planner=planner, ports=ports, forced=forced
            )
            if isinstance(answer, NotReplayable):
                long = found.redrives >= REDRIVES_BEFORE_FORCE and not forced
                fits = long or not replay_of(found).replayable
                world.trace.require(fits, "refused-with-a-reason", f"{found} {answer.why}")
            return answer

        answer = await self._asked(isolate, ask())
        if answer is not None:
            self._hear_of_redrive(letter, act, answer)

    async def _discard(self, letter: LetterRow, actor: str) -> None:
        isolate = self.world.isolate("operator")
        ports = self.world.ports(isolate)
        act = new_act(actor, reason="nobody needs it", request_id="r", ports=ports)

        async def ask() -> DeadLetter | AlreadyResolved:
            found = await ports.dead_letters.find(letter.id)
            assert found is not None
            return await discard(found, act=act, ports=ports)

        answer = await self._asked(isolate, ask())
        if answer is not None:
            done = isinstance(answer, DeadLetter)
            self._tell("discarded" if done else "too late", letter)
            self._expect_act(act, done=done)
            self._expect_resolved(letter)

    async def _asked(self, isolate: Isolate, asking: Coroutine[Any, Any, T]) -> T | None:
        """Ask, and return the answer if there was one."""
        ended = await self.world.run(isolate, asking, wall=_PATIENCE)
        if ended.error is not None and not isinstance(ended.error, Unavailable):
            self.world.trace.breach("operators-are-answered", repr(ended.error))
        return ended.value

    def _hear_of_redrive(self, letter: LetterRow, act: Act, answer: Redriven | Refusal) -> None:
        self._tell(type(answer).__name__, letter)
        self._expect_act(act, done=isinstance(answer, Redriven))
        trace, ledger = self.world.trace, self.world.ledger
        match answer:
            case Redriven(job=job):
                now = ledger.letters[letter.id]
                trace.require(now.redriven_to == job.id, "what-is-told-is-so", f"{now} {job.id}")
            case AlreadyResolved():
                self._expect_resolved(letter)
            case RunHeld(job=job):
                held = ledger.rows[letter.key].run_key == job.run_key is not None
                trace.require(held, "only-a-run-key-is-held", f"{letter} {job.id}")
            case InputGone():
                trace.require(self._lacks_input(letter), "only-the-gone-is-gone", str(letter))

    def _lacks_input(self, letter: LetterRow) -> bool:
        """Whether the job is purged, or an upload that it names."""
        row, now = self.world.ledger.rows.get(letter.key), self.world.now_ms()
        if row is None or (row.expires_at or now) <= now:
            return True
        until = self._uploads_until_ms(letter)
        return until is not None and until <= now

    def _uploads_until_ms(self, letter: LetterRow) -> int | None:
        """Return when the first upload goes that a letter's job names; None if it names none."""
        connection = self.world.ledger.connection
        (until,) = connection.execute(_UPLOADS_UNTIL, (letter.job_id,)).fetchone()
        return None if until is None else int(until)

    def _tell(self, what: str, letter: LetterRow) -> None:
        self.world.trace.count(f"operator:{what}")
        self.world.trace.note(f"an operator is told {what} of {name_of(letter.id)}")

    def _expect_act(self, act: Act, *, done: bool) -> None:
        on_record = act.id in self.world.ledger.acts
        self.world.trace.require(on_record == done, "who-is-told-no-did-nothing", str(act))

    def _expect_resolved(self, letter: LetterRow) -> None:
        now = self.world.ledger.letters[letter.id]
        self.world.trace.require(now.status != "open", "what-is-told-is-so", str(now))
