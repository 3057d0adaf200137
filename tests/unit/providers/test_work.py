"""What an attempt offers to its kind: the input from wherever it lies, and counted calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from tests.unit.providers.talking import TalkingHttp, providers_of
from tests.unit.services.world import World
from uketsuke.domain.failure import AttemptFailed, ErrorClass
from uketsuke.domain.job import InputForm, Job, Usage
from uketsuke.domain.lifecycle import JobState
from uketsuke.domain.trace import Span, read_traceparent
from uketsuke.domain.vectors import pack
from uketsuke.kinds.kind import Kind
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.work import AttemptWork, run_kind
from uketsuke.services.execute import Attempt, Tally
from uketsuke.services.upload import upload


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.close()


@pytest.fixture
def http() -> TalkingHttp:
    return TalkingHttp()


async def work(world: World, http: TalkingHttp, job: Job, kinds: Mapping[str, Kind] = KINDS) -> Job:
    """Work a job with the real kinds, and return it as it then stands."""
    providers = providers_of(world, http)
    await world.consumed(
        [job],
        lambda attempt: run_kind(attempt, kinds=kinds, providers=providers, ports=world.ports),
    )
    return await world.now(job)


async def worked(world: World, http: TalkingHttp, **changes: Any) -> Job:
    return await work(world, http, await world.submitted(**changes))


async def uploaded(world: World, content: bytes) -> dict[str, Any]:
    stored = await upload(
        content, tenant_id="acme", content_type="x/y", length=len(content), ports=world.ports
    )
    return {"form": InputForm.REF, "content": None, "refs": (stored.ref,)}


def test_a_long_text_is_summed_up_over_its_calls(world: World, http: TalkingHttp) -> None:
    text = "One more sentence of a long story. " * 500
    asked = Span.first(b"t" * 16, b"s" * 8)

    async def main() -> None:
        job = await worked(world, http, content=text, traceparent=asked.traceparent)

        assert job.state is JobState.SUCCEEDED
        assert job.usage == Usage(
            provider="openai_compatible",
            model="m-1",
            asked_model="extractive-e5",
            provider_request_id=f"call-{len(http.calls)}",
            input_tokens=10 * len(http.calls),
            output_tokens=2 * len(http.calls),
            charged_micros=0,
            unknown_calls=len(http.calls),  # nobody has said what the model costs
        )
        (attempt,) = await world.ports.jobs.attempts_of(job.key)
        assert attempt.provider_ms == 1000 * len(http.calls)

    world.run(main())
    keys = [headers["idempotency-key"] for headers, _, _ in http.calls]
    assert len(set(keys)) == len(keys) > 2
    spans = {read_traceparent(headers["traceparent"]) for headers, _, _ in http.calls}
    assert len(spans) == len(http.calls)  # each call is a span of its own in the job's trace
    assert {span and span.trace_id for span in spans} == {asked.trace_id}
    waits = [timeout for _, _, timeout in http.calls]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] < world.settings.attempt_limit


def test_a_provider_that_tells_no_usage_leaves_it_unknown(world: World, http: TalkingHttp) -> None:
    http.usage = None

    async def main() -> None:
        job = await worked(world, http)

        assert job.usage
        assert (job.usage.input_tokens, job.usage.output_tokens) == (None, None)

    world.run(main())


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"A text of its own.", None),
        ("\ufeffA text with a mark.".encode(), None),
        (b"\xff\xfe\x00", "input_not_text"),
        (b"a\0b", "input_not_text"),
        (b" \n ", "input_empty"),
    ],
)
def test_an_upload_is_read_as_text_or_refused(
    world: World, http: TalkingHttp, content: bytes, code: str | None
) -> None:
    async def main() -> None:
        job = await worked(world, http, **await uploaded(world, content))

        assert job.error_code == code
        assert job.state is (JobState.FAILED if code else JobState.SUCCEEDED)

    world.run(main())
    if code is None:
        ((_, document, _),) = http.calls
        assert document["messages"][-1]["content"].startswith("A text")


@pytest.mark.parametrize("loss", ["row", "object", "inline"])
def test_an_input_that_is_gone_fails_the_job_at_once(
    world: World, http: TalkingHttp, loss: str
) -> None:
    async def main() -> None:
        changes = {} if loss == "inline" else await uploaded(world, b"text")
        job = await world.submitted(**changes)
        if loss == "row":
            world.connection.execute("UPDATE inputs SET expires_at = 1")
        elif loss == "object":
            world.blobs.kept.clear()
        else:
            world.connection.execute("UPDATE submissions SET input = NULL")

        after = await work(world, http, job)

        assert (after.state, after.error_code) == (JobState.FAILED, "input_gone")

    world.run(main())
    assert http.calls == []


def test_storage_that_is_away_may_come_back(world: World, http: TalkingHttp) -> None:
    async def main() -> None:
        job = await world.submitted(content="long " * 2000)
        world.blobs.away = True

        after = await work(world, http, job)

        assert (after.state, after.error_code) == (JobState.RETRYING, "storage_unavailable")

    world.run(main())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'"one"\n\n"two"\n', ["one", "two"]),
        ('"a\u2028b"\r\n"c\x85d"'.encode(), ["a\u2028b", "c\x85d"]),
        (b"one\ntwo", "input_not_json_lines"),
        (b"[1]\n", "input_not_json_lines"),
        (b"\n", "input_empty"),
        (b'" "\n', "input_empty"),
        (b'"\\ud800"\n', "input_not_text"),
        (b'"a\\u0000b"\n', "input_not_text"),
        (b"[" * 100_000, "input_not_json_lines"),
    ],
)
def test_texts_of_an_upload_are_json_lines(
    world: World, http: TalkingHttp, content: bytes, expected: list[str] | str
) -> None:
    async def main() -> None:
        job = await world.submitted(**await uploaded(world, content))
        found = await world.ports.jobs.lease(
            [job.key], token="t", duration=timedelta(seconds=60), alone=True
        )
        leased = found[job.key]
        attempt = Attempt(leased=leased, asked_at=0, tally=Tally(), keeper=None)  # type: ignore[arg-type]
        offered = AttemptWork(
            attempt=attempt,
            kind=KINDS["embed"],
            providers=providers_of(world, http),
            ports=world.ports,
        )
        if isinstance(expected, str):
            with pytest.raises(AttemptFailed) as failed:
                await offered.texts()
            assert failed.value.failure.code == expected
            return
        texts = await offered.texts()
        made = await offered.embed("step", texts)
        assert texts == expected
        assert (made.model, made.vectors) == ("m-1", pack([[1.0, 2.0], [1.0, 2.0]]))

    world.run(main())


def test_a_kind_that_went_away_fails_its_job(world: World, http: TalkingHttp) -> None:
    async def main() -> None:
        after = await work(world, http, await world.submitted(), kinds={})

        assert (after.state, after.error_class) == (JobState.FAILED, ErrorClass.NOT_FOUND)

    world.run(main())
