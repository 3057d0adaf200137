"""The platform's AI models by their binding."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import js

from uketsuke.adapters.cloudflare import ffi
from uketsuke.domain.nesting import too_deep
from uketsuke.services.ports.ai import AiRefused, AudioForm, AudioInput


class CloudflareAi:
    """``services.ports.ai.AiBinding`` on a raw AI binding, or on a Worker with the same ``run``."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def run(
        self,
        model: str,
        inputs: Mapping[str, object],
        *,
        audio: AudioInput | None,
        options: Mapping[str, object],
        timeout: timedelta,
    ) -> object:
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                asked = ffi.to_json_object(dict(inputs))
                if audio is not None:
                    asked.audio = await _audio(audio)
                answer = await self._binding.run(model, asked, ffi.to_json_object(dict(options)))
                return _read(ffi.to_json(answer))
        except ffi.JsError as error:
            raise AiRefused(str(error)) from None


def _read(told: str) -> object:
    """Return the answer; None if it is none that can be read."""
    try:
        return None if too_deep(told.encode()) else json.loads(told)
    except ValueError:  # what JSON has no word for
        return None


async def _audio(audio: AudioInput) -> Any:
    if audio.form is AudioForm.STREAM:
        held = ffi.to_object({"contentType": audio.content_type})
        held.body = audio.stream
        return held
    content = js.Uint8Array.new(await js.Response.new(audio.stream).arrayBuffer())
    return content.toBase64() if audio.form is AudioForm.BASE64 else js.Array.from_(content)
