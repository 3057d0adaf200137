"""What the bindings do with values, and the production limits that the simulators do not know."""

from __future__ import annotations

from tests.host.hosting import Host


def test_ints_bind_as_real_and_short_lists_as_blobs(host: Host) -> None:
    assert host.ask("bind")["bound"] == {"whole": "real", "listed": "blob"}


def test_an_int_column_keeps_an_int_and_a_text_column_a_real(host: Host) -> None:
    assert host.ask("bind")["kept"] == {"whole": "integer", "words": "5.0"}


def test_a_big_int_is_refused(host: Host) -> None:
    assert "D1_TYPE_ERROR" in host.ask("bind")["big"]


def test_a_message_may_not_be_sent_later_than_the_platform_allows(host: Host) -> None:
    refused = host.ask("long_delays")

    assert "the platform's limit is 86400" in refused["send"]
    assert "the platform's limit is 86400" in refused["send_batch"]


def test_a_message_may_not_be_retried_later_than_the_platform_allows(host: Host) -> None:
    late = {"do": "retry", "delay": 86_401}

    verdict = host.control.queue("back", "work", [{"id": "late", "body": late}])

    assert verdict["outcome"] == "exception"


def test_a_message_may_be_retried_as_late_as_the_platform_allows(host: Host) -> None:
    late = {"do": "retry", "delay": 86_400}

    verdict = host.control.queue("back", "work", [{"id": "late", "body": late}])

    assert verdict["retryMessages"] == [{"msgId": "late", "delaySeconds": 86_400}]
