"""A server that says what a test tells it to, over real HTTP, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.command_run import Command, environment
from tests.client.scripted import ScriptedServer, ToldClock


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def clock() -> ToldClock:
    return ToldClock()


@pytest.fixture
def command(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Command:
    """The command with the scripted server as its server, and no patience."""
    for name, value in environment(server.url).items():
        monkeypatch.setenv(name, value)
    return Command(capture=capsys)
