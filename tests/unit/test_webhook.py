"""Whoever is told of alerts: what is sent, and what each answer, or none, is taken for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from uketsuke.adapters.webhook import Webhook
from uketsuke.domain.alert import DeliveryFault
from uketsuke.services.ports import HttpAnswer, StreamedBody, TooLarge, Unavailable

URL = "https://hooks.example.com/services/secret"


@dataclass
class OneAnswer:
    """An HTTP client that gives one answer to everything, or raises it."""

    answer: HttpAnswer | Exception
    sent: list[tuple[str, Mapping[str, str], bytes]] = field(default_factory=list)

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, timeout: timedelta
    ) -> HttpAnswer:
        assert timeout <= timedelta(seconds=10)
        self.sent.append((url, headers, body))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def post_stream(
        self, url: str, *, headers: Mapping[str, str], body: StreamedBody, timeout: timedelta
    ) -> HttpAnswer:
        raise AssertionError("a message is small")


def answered(status: int) -> HttpAnswer:
    return HttpAnswer(status=status, headers={}, body=b"whatever")


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (answered(200), None),
        (answered(204), None),
        (answered(302), DeliveryFault.REDIRECTED),
        (answered(404), DeliveryFault.REFUSED),
        (answered(429), DeliveryFault.REFUSED),
        (answered(503), DeliveryFault.BROKEN),
        (TimeoutError(), DeliveryFault.TIMEOUT),
        (Unavailable(), DeliveryFault.UNREACHABLE),
        (TooLarge(), DeliveryFault.BROKEN),
    ],
)
def test_an_answer_is_taken_for_what_it_is(
    answer: HttpAnswer | Exception, fault: DeliveryFault | None
) -> None:
    http = OneAnswer(answer)

    told = asyncio.run(Webhook(http=http, url=URL).tell({"text": "受付"}))

    assert told == fault
    ((url, headers, body),) = http.sent
    assert (url, headers["content-type"]) == (URL, "application/json")
    assert json.loads(body) == {"text": "受付"}
