"""What every tier may use: one stack a test run, tests kept apart by tenant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Stack, running


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The one shared stack. Who orders faults or kills it must leave it as it was."""
    with running(Path(tmp_path_factory.mktemp("state"))) as shared:
        yield shared


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    failed_with_stack = report.failed and "stack" in getattr(item, "funcargs", {})  # type: ignore[attr-defined]
    if failed_with_stack:
        log = item.funcargs["stack"].log  # type: ignore[attr-defined]
        report.sections.append(("the stack's log, its end", log[-8000:]))  # type: ignore[attr-defined]
    return report


@pytest.fixture(autouse=True)
def no_faults_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Clear the model server's orders after a test that used the stack, and what they parked."""
    yield
    if "stack" in request.fixturenames:
        shared = request.getfixturevalue("stack")
        with shared.models() as models:
            models.delete("/faults")
        shared.d1("DELETE FROM lanes")
