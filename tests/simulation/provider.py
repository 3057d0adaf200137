"""The AI provider: it answers, drags, hangs, refuses, throttles, is cut off, or meets poison.

It keeps a ledger of its calls, by which the audit knows what was asked, paid and answered.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.simulation.isolate import Death, Isolate
from tests.simulation.trace import Trace, name_of
from uketsuke.domain.job import JobKey
from uketsuke.services.ports import HttpAnswer, StreamedBody, Unavailable

SECRET = "CONTENT"


@dataclass(slots=True)
class Call:
    """One call: ``definite`` once the provider said no, ``paid`` once it did the work."""

    key: str
    job_id: str
    step: str
    epoch: int
    at: float
    asked: str
    definite: bool = False
    paid: bool = False


@dataclass(slots=True)
class Provider:
    """The one provider of a history."""

    rng: random.Random
    trace: Trace
    manners: Sequence[tuple[str, float]]
    turned_away: Sequence[tuple[float, float, str]] = ()  # from, to, manner
    poison: set[str] = field(default_factory=set)  # texts that kill who works them
    calls: list[Call] = field(default_factory=list)
    poison_jobs: set[JobKey] = field(default_factory=set)
    calm: bool = False

    def manner(self) -> str:
        if self.calm:
            return "ok"
        now = asyncio.get_running_loop().time()
        for start, end, manner in self.turned_away:
            if start <= now < end:
                return manner
        names, weights = zip(*self.manners, strict=True)
        return str(self.rng.choices(names, weights)[0])


@dataclass(slots=True)
class ProviderClient:
    """``services.ports.HttpClient`` in one isolate."""

    provider: Provider
    isolate: Isolate
    key_of: Callable[[str], JobKey]
    on_call: Callable[[JobKey, Call, Isolate], None]

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        self.isolate.check()
        self.isolate.spend_call()
        asked = json.loads(body)
        call = self._record(headers["idempotency-key"], _text_of(asked))
        manner = self.provider.manner()
        self.provider.trace.note(
            f"{self.isolate.name} calls the provider for {name_of(call.job_id)}: {manner}"
        )
        self.provider.trace.count(f"provider:{manner}")
        await self._wait(manner, timeout)
        self._meet_poison(asked, call)
        answer = self._answer(manner, asked, call)
        self.isolate.spend_call()
        return answer

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        raise NotImplementedError("no history hears anything")

    def _record(self, key: str, asked: str) -> Call:
        job_id, step, epoch, *_ = key.split(".")
        call = Call(key, job_id, step, int(epoch), asyncio.get_running_loop().time(), asked)
        self.provider.calls.append(call)
        self.on_call(self.key_of(job_id), call, self.isolate)
        return call

    async def _wait(self, manner: str, timeout: timedelta) -> None:
        rng = self.provider.rng
        seconds = {"slow": rng.uniform(10, 250), "hang": 1e9}.get(
            manner, 0.05 * 10 ** rng.uniform(0, 3)
        )
        await asyncio.sleep(min(seconds, timeout.total_seconds()))
        if seconds > timeout.total_seconds():
            raise TimeoutError

    def _meet_poison(self, asked: Mapping[str, Any], call: Call) -> None:
        if _text_of(asked) in self.provider.poison:
            poison = self.key_of(call.job_id)
            self.provider.poison_jobs.add(poison)
            self.isolate.kill(Death("poison", poison))
            self.isolate.check()

    def _answer(self, manner: str, asked: Mapping[str, Any], call: Call) -> HttpAnswer:
        match manner:
            case "cut" | "cut_after":
                call.paid = manner == "cut_after"
                raise Unavailable("the connection was cut")
            case "ok" | "slow":
                call.paid = True
                # No model says the same thing twice.
                return _answered(f"{summary_of(_text_of(asked))} #{len(self.provider.calls)}")
            case _:
                call.definite = True
                return self._refusal(manner)

    def _refusal(self, manner: str) -> HttpAnswer:
        status, code = {
            "throttle": (429, "rate_limit_exceeded"),
            "quota": (429, "insufficient_quota"),
            "fail": (503, "overloaded"),
            "refuse": (400, "content_filter"),
            "deny": (401, "invalid_api_key"),
            "nonsense": (200, ""),
        }[manner]
        headers = {}
        if manner in ("throttle", "quota"):
            headers["retry-after"] = str(self.provider.rng.choice((0, 5, 60, 400)))
        body = json.dumps({"error": {"code": code, "message": SECRET}}) if code else "nonsense"
        return HttpAnswer(status=status, headers=headers, body=body.encode())


def summary_of(text: str) -> str:
    """Return what this provider makes of a text: nobody else's summary looks like it."""
    return f"{SECRET} in short: {text[::-1]}"


def _text_of(asked: Mapping[str, Any]) -> str:
    return str(asked["messages"][-1]["content"])


def _answered(text: str) -> HttpAnswer:
    choice = {"finish_reason": "stop", "message": {"content": text}}
    document = {
        "model": "m",
        "choices": [choice],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
    }
    return HttpAnswer(status=200, headers={}, body=json.dumps(document).encode())
