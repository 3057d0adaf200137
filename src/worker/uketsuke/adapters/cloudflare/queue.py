"""Queues: sending messages, and reading and answering a batch of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from uketsuke.adapters.cloudflare import ffi
from uketsuke.services.knock import KnockAgain, Verdict
from uketsuke.services.ports import Delivery, Unavailable

# Limits of the platform (developers.cloudflare.com/queues/platform/limits).
_LONGEST_DELAY_SECONDS = 86_400
_MESSAGES_A_SEND = 100


class CloudflareQueue:
    """``services.ports.JobQueue`` on a raw producer binding."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def send(self, body: Mapping[str, object], *, delay: timedelta = timedelta()) -> None:
        options = {"contentType": "json", "delaySeconds": _seconds(delay)}
        try:
            await ffi.patiently(
                self._binding.send(ffi.to_json_object(body), ffi.to_object(options))
            )
        except ffi.JsError as error:
            raise Unavailable("the queue did not take the message") from error

    async def send_many(self, bodies: Sequence[Mapping[str, object]]) -> None:
        for start in range(0, len(bodies), _MESSAGES_A_SEND):
            page = bodies[start : start + _MESSAGES_A_SEND]
            messages = [{"body": body, "contentType": "json"} for body in page]
            try:
                await ffi.patiently(self._binding.sendBatch(ffi.to_json_object(messages)))
            except ffi.JsError as error:
                raise Unavailable("the queue did not take the messages") from error

    async def backlog(self) -> int | None:
        return _backlog(await _metrics(self._binding))


class QueueAge:
    """``services.ports.WatchedQueue`` on a raw producer binding; None where there is none."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def oldest_age(self, *, now: datetime) -> timedelta | None:
        metrics = {} if self._binding is None else await _metrics(self._binding)
        if metrics.get("backlogCount") == 0:
            return timedelta()
        oldest = metrics.get("oldestMessageTimestamp")
        if not isinstance(oldest, str):
            return None
        return max(now - datetime.fromisoformat(oldest), timedelta())

    async def backlog(self) -> int | None:
        return None if self._binding is None else _backlog(await _metrics(self._binding))


async def _metrics(binding: Any) -> Mapping[str, Any]:
    """Ask the queue how it does; nothing is known from a runtime that does not tell."""
    try:
        return dict(ffi.from_json(await ffi.patiently(binding.metrics())))
    except (ffi.JsError, AttributeError, TypeError, ValueError, Unavailable):
        return {}


def _backlog(metrics: Mapping[str, Any]) -> int | None:
    count = metrics.get("backlogCount")
    return int(count) if isinstance(count, int | float) else None


def read_batch(batch: Any) -> Sequence[Delivery]:
    """Return the deliveries of a batch as the SDK hands it over."""
    return [
        Delivery(id=m.id, queue=batch.queue, number=int(m.attempts), body=_body(m))
        for m in batch.messages
    ]


def answer_batch(batch: Any, verdicts: Mapping[str, Verdict]) -> None:
    """Give each message its own verdict, so that none re-delivers another."""
    for message in batch.messages:
        match verdicts[message.id]:
            case KnockAgain(after=wait):
                message.retry(delaySeconds=_seconds(wait))
            case _:
                message.ack()


def _seconds(wait: timedelta) -> int:
    return min(math.ceil(wait.total_seconds()), _LONGEST_DELAY_SECONDS)


def _body(message: Any) -> object:
    """Read a body that anything may have sent; what is no JSON, or nests too deeply, comes as text.

    Not through the SDK, whose conversion recurses over the body and takes some names in it for its
    own: what it raises would re-deliver the whole batch.
    """
    text = ""
    try:
        text = ffi.to_json(ffi.raw(message).body)
        return json.loads(text)
    except (ffi.JsError, ValueError, RecursionError):
        return text
