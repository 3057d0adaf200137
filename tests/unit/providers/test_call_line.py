"""A call of a model has one line, by OpenTelemetry's names, and none of the provider's text."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.providers.talking import TalkingHttp, providers_of
from tests.unit.services.told import Line, lines_in
from tests.unit.services.world import World
from uketsuke.domain.job import Job
from uketsuke.domain.trace import Span, attempt_span, read_traceparent
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.work import run_kind
from uketsuke.services.cancel import cancel
from uketsuke.services.ports import HttpAnswer

ASKED = Span.first(b"t" * 16, b"s" * 8)


@dataclass
class Saying(TalkingHttp):
    """A server that answers with one document, or with a failure full of it."""

    status: int = 200
    model: str = "m-1"

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        answer = await super().post(url, headers=headers, body=body, timeout=timeout)
        content = answer.body.replace(b'"m-1"', f'"{self.model}"'.encode())
        if self.status != 200:
            content = b'{"error": {"message": "canary", "type": "canary", "code": "canary"}}'
        return HttpAnswer(status=self.status, headers={"x-canary": "canary"}, body=content)


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


async def asked(world: World, http: TalkingHttp, **changes: Any) -> Job:
    job = await world.submitted(traceparent=ASKED.traceparent, **changes)
    providers = providers_of(world, http)
    await world.consumed(
        [job],
        lambda attempt: run_kind(attempt, kinds=KINDS, providers=providers, ports=world.ports),
    )
    return job


def call_in(capsys: pytest.CaptureFixture[str]) -> Line:
    lines = lines_in(capsys)
    assert "canary" not in repr(lines)
    (line,) = [line for line in lines if line["event"] == "provider_called"]
    return line


def test_an_answered_call_tells_who_was_asked_who_answered_and_what_it_used(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    job = world.run(asked(world, TalkingHttp(seconds=2)))

    line = call_in(capsys)
    assert {name: value for name, value in line.items() if name.startswith("gen_ai.")} == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai_compatible",
        "gen_ai.request.model": "extractive-e5",
        "gen_ai.response.model": "m-1",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 2,
    }
    assert (line["job_id"], line["attempt"], line["duration_ms"]) == (job.id, 1, 2000)
    assert "error.type" not in line


def test_the_provider_is_told_the_span_of_the_call_which_is_within_its_attempts(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    http = TalkingHttp()
    job = world.run(asked(world, http))

    line, ((headers, _, _),) = call_in(capsys), http.calls
    told = read_traceparent(headers["traceparent"])
    attempt = attempt_span(ASKED.traceparent, job_id=job.id, attempt=1)
    assert told
    assert attempt
    assert (told.trace_id, told.span_id) == (ASKED.trace_id, line["span_id"])
    assert (line["trace_id"], line["parent_id"]) == (ASKED.trace_id, attempt.span_id)


def test_a_failed_call_tells_our_code_for_it(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.run(asked(world, Saying(status=500)))

    line = call_in(capsys)
    assert line["error.type"] == "provider_unavailable"
    assert "gen_ai.response.model" not in line


@pytest.mark.parametrize("model", ["", "a canary", "canary\u00e9", "canary" * 20])
def test_what_is_no_name_of_a_model_is_left_out(
    world: World, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    world.run(asked(world, Saying(model=model)))

    assert call_in(capsys).get("gen_ai.response.model") in (None, "extractive-e5")


def test_a_call_that_is_stopped_with_its_attempt_is_told_as_cut_off(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        work = asyncio.ensure_future(asked(world, TalkingHttp(seconds=100)))
        await asyncio.sleep(1)
        ((job, tenant),) = [
            (row["id"], row["tenant_id"]) for row in world.rows("SELECT * FROM jobs")
        ]
        found = await world.ports.jobs.find(job, tenant_id=tenant)
        assert found
        await cancel(found, ports=world.ports)
        await work

    world.run(main())
    line = call_in(capsys)
    assert line["error.type"] == "call_cut_off"
    assert 0 < line["duration_ms"] < 100_000
