"""The AI binding from CPython: one HTTP call, its errors raised as the platform's own code does.

Source: github.com/cloudflare/workerd, src/cloudflare/internal/ai-api.ts. The stack's tests meet the
real way through the runtime.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import httpx

from uketsuke.services.ports.ai import AiRefused, AudioInput


@dataclass(frozen=True)
class AiOverHttp:
    """``services.ports.ai.AiBinding`` at ``url``."""

    url: str

    async def run(
        self,
        model: str,
        inputs: Mapping[str, object],
        *,
        audio: AudioInput | None,
        options: Mapping[str, object],
        timeout: timedelta,
    ) -> object:
        body = {"inputs": inputs, "options": options}
        try:
            async with (
                asyncio.timeout(timeout.total_seconds()),
                httpx.AsyncClient(timeout=None, trust_env=False) as client,
            ):
                answer = await client.post(self.url, json=body, headers={"model": model})
        except httpx.HTTPError:
            raise AiRefused("Error: Network connection lost.") from None
        if answer.is_error:
            raise AiRefused(_words(answer.text))
        try:
            return answer.json()
        except json.JSONDecodeError:
            raise AiRefused("SyntaxError: Unexpected end of JSON input") from None


def _words(content: str) -> str:
    try:
        told = json.loads(content)
    except json.JSONDecodeError:
        return f"InferenceUpstreamError: {content}"
    if "internalCode" in told:
        return f"{told['name']}: {told['internalCode']}: {told['description']}"
    (error, *_) = told["errors"]
    return f"InferenceUpstreamError: {error['code']}: {error['message']}"
