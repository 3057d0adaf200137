"""The model server, running: one for most tests, and a strict one."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.models.running import PATIENCE_SECONDS, Running, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("models") / "log", "--warm") as started:
        yield started


@pytest.fixture(scope="session")
def connected(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS) as client:
        yield client


@pytest.fixture
def http(connected: httpx.Client) -> Iterator[httpx.Client]:
    """A client of the server, which has no fault orders from other tests."""
    connected.delete("/faults").raise_for_status()
    yield connected
    connected.delete("/faults").raise_for_status()


@pytest.fixture(scope="session")
def strict_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a key, with one call a lane, and without speech weights."""
    folder = tmp_path_factory.mktemp("strict-models")
    environment = {"UKETSUKE_SPEECH_WEIGHTS": str(folder / "none")}
    options = ("--warm", "--api-key", "right-key", "--calls-a-lane", "1")
    with running(folder / "log", *options, environment=environment) as started:
        yield started


@pytest.fixture(scope="session")
def strict(strict_server: Running) -> Iterator[httpx.Client]:
    """A client of the strict server with the right key."""
    headers = {"authorization": "Bearer right-key"}
    with httpx.Client(
        base_url=strict_server.url, headers=headers, timeout=PATIENCE_SECONDS
    ) as client:
        yield client
