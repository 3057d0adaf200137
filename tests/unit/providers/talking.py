"""A model server of few words, and a world whose jobs ask it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.unit.services.world import World
from uketsuke.domain.lane import ProviderName
from uketsuke.kinds.kind import Kind
from uketsuke.kinds.registry import KINDS
from uketsuke.providers.calls import Providers
from uketsuke.providers.openai_compatible import OpenAICompatible
from uketsuke.providers.work import run_kind
from uketsuke.services.ports import HttpAnswer, StreamedBody
from uketsuke.services.run import read_order, run_instance


@dataclass
class TalkingHttp:
    """An OpenAI-compatible server of few words; it notes the calls."""

    seconds: float = 1
    usage: Mapping[str, int] | None = field(
        default_factory=lambda: {"prompt_tokens": 10, "completion_tokens": 2}
    )
    calls: list[tuple[Mapping[str, str], Any, timedelta]] = field(default_factory=list)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        document = json.loads(body)
        self.calls.append((headers, document, timeout))
        await asyncio.sleep(self.seconds)
        answer: dict[str, Any] = {"model": "m-1", "id": f"call-{len(self.calls)}"}
        if self.usage:
            answer["usage"] = self.usage
        if url.endswith("embeddings"):
            answer["data"] = [
                {"index": index, "embedding": [1.0, 2.0]}
                for index, _ in enumerate(document["input"])
            ]
        else:
            answer["choices"] = [{"finish_reason": "stop", "message": {"content": "Short."}}]
        return HttpAnswer(status=200, headers={}, body=json.dumps(answer).encode())

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        self.calls.append((headers, body, timeout))
        segment = {"start": 0, "end": 1.5, "text": "Good morning."}
        answer = {"text": segment["text"], "language": "en", "segments": [segment], "duration": 2}
        return HttpAnswer(status=200, headers={}, body=json.dumps(answer).encode())


def providers_of(world: World, http: TalkingHttp) -> Providers:
    talking = OpenAICompatible(
        http=http,
        blobs=world.ports.blobs,
        clock=world.ports.clock,
        base_url="http://ai/v1",
        api_key="k",
    )
    return {ProviderName.OPENAI_COMPATIBLE: talking}


def deploy(world: World, http: TalkingHttp, kinds: Mapping[str, Kind] = KINDS) -> None:
    """Let Workflows run these kinds, asking this server."""
    providers = providers_of(world, http)

    async def run(order: Mapping[str, object], steps: Any) -> object:
        return await run_instance(
            read_order(order),
            lambda attempt: run_kind(attempt, kinds=kinds, providers=providers, ports=world.ports),
            steps=steps,
            ports=world.ports,
        )

    world.workflows.run = run
