"""What is open to everybody: whether it lives, whether it can work, and the console's page."""

from __future__ import annotations

from tests.support.running import Stack


def test_health_and_readiness_are_told_without_a_key(stack: Stack) -> None:
    with stack.api(None) as api:
        assert api.get("/healthz").status_code == 200
        assert api.get("/readyz").status_code == 200


def test_the_console_is_served_at_its_path(stack: Stack) -> None:
    with stack.api(None) as api:
        page = api.get("/console/")

    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert "Uketsuke" in page.text
