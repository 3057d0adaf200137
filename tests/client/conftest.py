"""A server that says what a test tells it to, over real HTTP, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.scripted import ScriptedServer, ToldClock


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def clock() -> ToldClock:
    return ToldClock()
