"""One host with the fixture Workers for all tests that do not end it."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.host.hosting import Host, copy_project, running_host, settings_for


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    project = copy_project(tmp_path_factory.mktemp("host"))
    with running_host(settings_for(project)) as started:
        yield started


@pytest.fixture
def mark() -> str:
    """A name of this test's own in what the Workers write down."""
    return uuid4().hex
