"""Whoever is told of alerts, behind a webhook that takes JSON by POST."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from uketsuke.domain.alert import DeliveryFault
from uketsuke.services.ports import HttpClient, TooLarge, Unavailable

_TIMEOUT: Final = timedelta(seconds=10)


class Webhook:
    """``services.ports.Receiver`` over HTTP. Its URL is a secret: nothing that it raises has it."""

    def __init__(self, *, http: HttpClient, url: str) -> None:
        self._http = http
        self._url = url

    async def tell(self, message: Mapping[str, object]) -> DeliveryFault | None:
        try:
            answer = await self._http.post(
                self._url,
                headers={"content-type": "application/json", "user-agent": "uketsuke"},
                body=json.dumps(message).encode(),
                timeout=_TIMEOUT,
            )
        except TimeoutError:
            return DeliveryFault.TIMEOUT
        except Unavailable:
            return DeliveryFault.UNREACHABLE
        except TooLarge:
            return DeliveryFault.BROKEN
        return _fault_of(answer.status)


def _fault_of(status: int) -> DeliveryFault | None:
    if status < 300:
        return None
    if status < 400:
        return DeliveryFault.REDIRECTED
    return DeliveryFault.REFUSED if status < 500 else DeliveryFault.BROKEN
