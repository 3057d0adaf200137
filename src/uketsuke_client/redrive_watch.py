"""Following one bulk redrive to its end."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from uketsuke_client.answer import read_as
from uketsuke_client.clock import Clock
from uketsuke_client.error import StillRedriving
from uketsuke_client.redrive_run import RedriveRun
from uketsuke_client.transport import Call, Transport

_USUAL_SECONDS = 2.0  # between two looks: the sweep that drives it comes once a minute


@dataclass(frozen=True, slots=True, kw_only=True)
class RedriveWatch:
    transport: Transport
    clock: Clock
    path: str
    every: float | None

    def changes(self, *, timeout: float | None) -> Iterator[RedriveRun]:
        """Yield it as it is, then after each change, to its end.

        Raises ``StillRedriving`` after ``timeout`` seconds, but never without a look.
        """
        deadline = None if timeout is None else self.clock.monotonic() + timeout
        run = self._look(deadline)
        yield run
        while not run.ended:
            left = math.inf if deadline is None else deadline - self.clock.monotonic()
            if left <= 0:
                raise StillRedriving(run, timeout=timeout or 0.0)
            self.clock.pause(min(self.every or _USUAL_SECONDS, left))
            before, run = run, self._look(deadline)
            if run.raw != before.raw:
                yield run

    def _look(self, deadline: float | None) -> RedriveRun:
        call = Call(method="GET", path=self.path)
        return read_as(RedriveRun.from_json, self.transport.send(call, deadline=deadline))
