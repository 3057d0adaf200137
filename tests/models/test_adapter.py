"""The product's own adapter at the model server: a whole recording goes in, our words come out."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from tests.models.running import Running
from tests.providers.recorded import StillClock
from tests.support.httpx_client import HttpxClient
from tests.unit.services.world import MemoryBlobs
from uketsuke.domain.failure import AttemptFailed
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.port import Answer, Audio, CallContext
from uketsuke_local.models import weights

pytestmark = pytest.mark.anyio

SPEECH = Path(__file__).with_name("coffee.ogg").read_bytes()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def hear(server: Running, content: bytes) -> Answer:
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        provider = OpenAICompatible(
            http=HttpxClient(client),
            blobs=MemoryBlobs({"a": content}),
            clock=StillClock(),
            base_url=f"{server.url}/v1",
            api_key="k",
        )
        return await provider.transcribe(
            model="whisper-1",
            audio=Audio(
                object_key="a", bytes=len(content), content_type="audio/ogg", filename="audio.ogg"
            ),
            language=None,
            context=CallContext(
                idempotency_key="job_1.hear.0", timeout=timedelta(seconds=60), traceparent=None
            ),
        )


async def code_of(server: Running, content: bytes) -> str:
    with pytest.raises(AttemptFailed) as failed:
        await hear(server, content)
    return failed.value.failure.code


async def test_a_recording_is_heard_or_its_model_is_said_to_be_missing(server: Running) -> None:
    if not weights.present(weights.directory()):
        assert await code_of(server, SPEECH) == "model_not_found"
        return

    answer = await hear(server, SPEECH)

    assert "your own coffee" in answer.value["text"]
    assert answer.value["segments"][0]["end"] > 0
    assert answer.audio_ms == round(answer.value["duration_seconds"] * 1000)


async def test_what_is_no_recording_is_told_from_a_model_that_is_missing(server: Running) -> None:
    here = weights.present(weights.directory())

    assert await code_of(server, b"no sound " * 99) == (
        "audio_unreadable" if here else "model_not_found"
    )
