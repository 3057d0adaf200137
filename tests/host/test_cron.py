"""Crons: fired when ready and by order; each minute is for ``cron.test.mjs``."""

from __future__ import annotations

from tests.host.hosting import Host


def test_a_cron_fires_by_itself_when_the_host_is_ready(host: Host) -> None:
    host.eventually(lambda: "* * * * *" in host.notes("scheduled"), what="the cron has fired")


def test_a_cron_can_be_fired_by_order(host: Host) -> None:
    outcome = host.control.cron("back", "5 4 3 2 1")

    assert outcome == {"outcome": "ok", "noRetry": False}
    assert "5 4 3 2 1" in host.notes("scheduled")


def test_an_uncaught_error_of_scheduled_is_told_and_printed(host: Host) -> None:
    outcome = host.control.cron("back", "0 0 1 1 *")

    assert outcome["outcome"] == "exception"
    printed = host.eventually(
        lambda: host.log.find("LookupError: the cron went wrong", worker="back"), what="it"
    )
    assert "in scheduled" in printed["line"]
