"""What every tier may use: one stack a test run, tests kept apart by tenant."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.receiver import Receiver, receiving
from tests.support.running import QUICK, Stack, running

# The machine may be busy: how long an example takes says nothing.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    """Who is told of the shared stack's alerts: of all that the tests bring about."""
    with receiving() as hook:
        yield hook


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, receiver: Receiver) -> Iterator[Stack]:
    """The one shared stack. Who orders faults or kills it must leave it as it was."""
    settings = {**QUICK, "ALERT_WEBHOOK_URL": receiver.url}
    with running(Path(tmp_path_factory.mktemp("state")), settings) as shared:
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
    """Clear what a test of the shared stack may leave: orders, parked lanes, duties cut short."""
    yield
    if "stack" in request.fixturenames:
        shared = request.getfixturevalue("stack")
        with shared.models() as models:
            models.delete("/faults")
        shared.d1("DELETE FROM lanes")
        # A test that kills the consumer may do so in the middle of a sweep: its duties wait for
        # nobody then.
        shared.d1("UPDATE duties SET leased_until = 0 WHERE leased_until > 0")
