"""Each row of the OpenAI-compatible adapter's tables, met at a real HTTP server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import httpx
import pytest

from tests.providers.openai_shapes import SHAPES, Row
from tests.providers.recorded import Manner, Recorded, StillClock, answering, failure_of
from tests.support.httpx_client import HttpxClient
from tests.unit.services.world import MemoryBlobs
from uketsuke.domain.lane import Capability
from uketsuke.providers import openai_errors
from uketsuke.providers.meaning import FAULTS, Meaning
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.port import Answer, Audio, CallContext

pytestmark = pytest.mark.anyio

SOUND: Final = bytes(range(256)) * 20
AUDIO: Final = Audio(
    object_key="a", bytes=len(SOUND), content_type="audio/wav", filename="audio.wav"
)
ROWS: Final[Mapping[Row, Meaning]] = {
    **{("code", code): row for code, row in openai_errors.BY_CODE.items()},
    **{("words", words): row for words, row in openai_errors.BY_WORDS.items()},
    **{("status", status): row for status, row in openai_errors.BY_STATUS.items()},
    **{("range", digit): row for digit, row in openai_errors.BY_RANGE.items()},
    **{("fault", fault): row for fault, row in FAULTS.items()},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def call(url: str, capability: Capability, seconds: float = 20.0) -> Answer:
    """Make one call of a provider at ``url``."""
    context = CallContext(
        idempotency_key="job_1.piece-1.0", timeout=timedelta(seconds=seconds), traceparent=None
    )
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        provider = OpenAICompatible(
            http=HttpxClient(client),
            blobs=MemoryBlobs({"a": SOUND}),
            clock=StillClock(),
            base_url=f"{url}/v1",
            api_key="k",
        )
        match capability:
            case Capability.CHAT:
                return await provider.chat(
                    model="m", system="s", user="u", max_output_tokens=9, context=context
                )
            case Capability.EMBED:
                return await provider.embed(model="m", texts=["t"], context=context)
            case Capability.TRANSCRIBE:
                return await provider.transcribe(
                    model="m", audio=AUDIO, language=None, context=context
                )


def test_every_row_has_a_recorded_shape_and_every_shape_a_row() -> None:
    assert SHAPES.keys() == ROWS.keys()


def test_every_row_names_its_source() -> None:
    assert [row for row, meaning in ROWS.items() if not meaning.source] == []


@pytest.mark.parametrize("row", ROWS, ids=str)
async def test_a_row_means_what_its_table_says(row: Row) -> None:
    shape, meaning = SHAPES[row], ROWS[row]

    found = await failure_of(call, shape.recorded, shape.call)

    assert (found.error_class, found.code) == (meaning.error_class, meaning.code)
    assert found.error_class is shape.means


async def test_an_answer_that_ends_within_its_body_is_a_lost_connection() -> None:
    cut = Recorded(body={"choices": []}, manner=Manner.CUT)

    assert (await failure_of(call, cut, Capability.CHAT)).code == "provider_connection_lost"


async def test_the_words_of_a_server_at_fault_are_not_read() -> None:
    body = {"error": {"message": "invalid file format in /srv/app.py", "code": None}}

    found = await failure_of(call, Recorded(status=500, body=body), Capability.TRANSCRIBE)

    assert found.code == "provider_unavailable"


@pytest.mark.parametrize("wait", ["7", "Sun, 29 Nov 2026 12:00:07 GMT"])
async def test_a_wait_that_is_asked_for_comes_along(wait: str) -> None:
    limited = Recorded(status=429, headers={"retry-after": wait})

    found = await failure_of(call, limited, Capability.CHAT)

    assert found.retry_after == timedelta(seconds=7)


@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ({"x-request-id": "req_1", "cf-ray": "8f-NRT"}, "req_1"),
        ({"cf-aig-log-id": "01J", "cf-ray": "8f-NRT"}, "01J"),
        ({"apim-request-id": "a-1"}, "a-1"),
        ({"cf-ray": "8f-NRT"}, "8f-NRT"),
        ({}, "chatcmpl-1"),
    ],
)
async def test_a_call_is_named_as_its_provider_names_it(
    headers: Mapping[str, str], request_id: str
) -> None:
    choice = {"finish_reason": "stop", "message": {"content": "Yes."}}
    whole = Recorded(body={"id": "chatcmpl-1", "choices": [choice]}, headers=headers)

    async with answering(whole) as (url, _):
        answer = await call(url, Capability.CHAT)

    assert (answer.value, answer.request_id) == ("Yes.", request_id)


async def test_a_model_that_refuses_the_old_limit_is_asked_again_with_the_new_one() -> None:
    refusal = {
        "message": "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        "type": "invalid_request_error",
        "param": "max_tokens",
        "code": "unsupported_parameter",
    }
    choice = {"finish_reason": "stop", "message": {"content": "Yes."}}
    refused = Recorded(status=400, body={"error": refusal})

    async with answering(refused, Recorded(body={"choices": [choice]})) as (url, requested):
        answer = await call(url, Capability.CHAT)

    assert (answer.value, requested.count) == ("Yes.", 2)
    assert b'"max_completion_tokens": 9' in requested.body
    assert b'"max_tokens"' not in requested.body
    # Another body under the same key would be a contradiction to who remembers keys.
    assert "idempotency-key: job_1.piece-1.0.again\r\n" in requested.head


async def test_a_recording_arrives_whole_and_its_length_is_told() -> None:
    async with answering(Recorded(body={"text": "Hm."})) as (url, requested):
        await call(url, Capability.TRANSCRIBE)

    assert SOUND in requested.body
    assert "transfer-encoding" not in requested.head
