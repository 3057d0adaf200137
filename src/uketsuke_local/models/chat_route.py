"""``POST /v1/chat/completions``: the extractive summarizer behind OpenAI's shape.

Whatever the prompt says, the answer is a summary of the last user message in its own language; of
the instruction, the length and "bullets" are honoured (``prompt``). ``max_tokens`` bounds it too.
"""

from __future__ import annotations

import time
import uuid
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from uketsuke_local.models.calls import Workshop
from uketsuke_local.models.names import CHAT_MODEL
from uketsuke_local.models.prompt import read_assignment
from uketsuke_local.models.summary import Summary, summarize
from uketsuke_local.models.tokens import estimated_tokens
from uketsuke_local.models.wire import ChatRequest, Refusal, decode, json_response, unknown_model

_MAX_CHARACTERS: Final = 1_000_000


async def answer_chat(shop: Workshop, request: Request) -> Response:
    asked = _checked(decode(await request.body(), ChatRequest))
    assignment = read_assignment(asked.messages)
    limits = [n for n in (asked.max_tokens, asked.max_completion_tokens) if n is not None]
    work = partial(
        summarize,
        assignment,
        max_tokens=min(limits, default=None),
        embed=partial(shop.embedding.vectors, query=False),
    )
    with shop.embedding_lane.place():
        summary = await shop.embedding_lane.run(work)
    prompt_tokens = sum(estimated_tokens(message.text()) for message in asked.messages)
    return json_response(_completion(summary, prompt_tokens=prompt_tokens))


def _checked(asked: ChatRequest) -> ChatRequest:
    if asked.model != CHAT_MODEL:
        raise unknown_model(asked.model, known=[CHAT_MODEL])
    if (member := asked.unsupported()) is not None:
        raise Refusal(f"{member!r} is not supported here.", code="unsupported_parameter")
    if sum(len(message.text()) for message in asked.messages) > _MAX_CHARACTERS:
        raise Refusal(
            f"The messages are longer than {_MAX_CHARACTERS} characters.",
            code="context_length_exceeded",
        )
    return asked


def _completion(summary: Summary, *, prompt_tokens: int) -> dict[str, Any]:
    completion_tokens = estimated_tokens(summary.text)
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": summary.text, "refusal": None},
        "finish_reason": "length" if summary.cut else "stop",
    }
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": CHAT_MODEL,
        "choices": [choice],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }
