"""Each row of the Workers AI adapter's tables, met through a binding that makes real HTTP calls."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import pytest

from tests.providers.ai_over_http import AiOverHttp
from tests.providers.openai_shapes import Row
from tests.providers.recorded import Manner, Recorded, StillClock, failure_of
from tests.providers.test_openai_faults import AUDIO, SOUND
from tests.providers.workers_ai_shapes import SHAPES
from tests.unit.services.world import MemoryBlobs
from uketsuke.domain.lane import Capability
from uketsuke.providers import workers_ai_errors
from uketsuke.providers.meaning import Meaning
from uketsuke.providers.port import Answer, CallContext
from uketsuke.providers.workers_ai import WorkersAi

pytestmark = pytest.mark.anyio

ROWS: Final[Mapping[Row, Meaning]] = {
    **{("code", code): row for code, row in workers_ai_errors.BY_CODE.items()},
    **{("words", words): row for words, row in workers_ai_errors.BY_WORDS.items()},
    **{("audio", code): row for code, row in workers_ai_errors.OF_AUDIO.items()},
    ("otherwise", None): workers_ai_errors.OTHERWISE,
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def call(url: str, capability: Capability, seconds: float) -> Answer:
    context = CallContext(
        idempotency_key="job_1.piece-1.0", timeout=timedelta(seconds=seconds), traceparent=None
    )
    provider = WorkersAi(ai=AiOverHttp(url), blobs=MemoryBlobs({"a": SOUND}), clock=StillClock())
    if capability is Capability.TRANSCRIBE:
        return await provider.transcribe(
            model="@cf/openai/whisper", audio=AUDIO, language=None, context=context
        )
    return await provider.chat(
        model="@cf/m", system="s", user="u", max_output_tokens=9, context=context
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


async def test_a_used_up_day_is_waited_for_to_its_end() -> None:
    used_up = SHAPES["code", 3036]

    found = await failure_of(call, used_up.recorded, Capability.CHAT)

    assert found.retry_after == timedelta(hours=12)


async def test_no_answer_in_time_is_told_as_such() -> None:
    found = await failure_of(call, Recorded(manner=Manner.SILENT), Capability.CHAT)

    assert found.code == "provider_timed_out"


async def test_an_answer_that_is_no_json_may_be_better_next_time() -> None:
    found = await failure_of(call, Recorded(body=b'{"resp'), Capability.CHAT)

    assert found.code == "provider_unavailable"
