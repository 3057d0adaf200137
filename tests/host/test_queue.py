"""Deliveries: acks, retries, whole batches, the dead-letter queue."""

from __future__ import annotations

import json

from tests.host.hosting import Host


def attempts_of(host: Host, queue: str, mark: str) -> dict[str, list[int]]:
    """By the message's name: the attempts with which it was delivered."""
    found: dict[str, list[int]] = {}
    for delivery in host.control.deliveries(queue):
        body = json.loads(delivery["body"])
        if body.get("mark") == mark:
            found.setdefault(body["name"], []).append(delivery["attempts"])
    return found


def send(host: Host, *bodies: dict[str, str]) -> None:
    host.ask("send", bodies=json.dumps(bodies))


def test_a_raise_delivers_the_whole_batch_again_also_what_was_acked(host: Host, mark: str) -> None:
    send(
        host,
        {"mark": mark, "name": "first", "do": "ack"},
        {"mark": mark, "name": "second", "do": "raise"},
    )

    twice = {"first": [1, 2], "second": [1, 2]}
    host.eventually(lambda: attempts_of(host, "work", mark) == twice, what="both come twice")


def test_a_message_that_is_always_refused_ends_in_the_dead_letter_queue(
    host: Host, mark: str
) -> None:
    send(host, {"mark": mark, "name": "bad", "do": "always_raise"})

    host.eventually(lambda: attempts_of(host, "work-dead", mark) == {"bad": [1]}, what="it is dead")
    assert attempts_of(host, "work", mark) == {"bad": [1, 2, 3]}


def test_a_verdict_says_what_was_acked_and_what_is_retried(host: Host) -> None:
    verdict = host.control.queue(
        "back",
        "work",
        [
            {"id": "one", "body": {"do": "ack"}},
            {"id": "two", "attempts": 3, "body": {"do": "retry", "delay": 7}},
        ],
    )

    assert verdict["outcome"] == "ok"
    assert verdict["explicitAcks"] == ["one"]
    assert verdict["retryMessages"] == [{"msgId": "two", "delaySeconds": 7}]


def test_an_uncaught_error_of_queue_is_printed_with_its_traceback(host: Host) -> None:
    verdict = host.control.queue("back", "work", [{"id": "m", "body": {"do": "always_raise"}}])

    assert verdict["outcome"] == "exception"
    printed = host.eventually(
        lambda: host.log.find("LookupError: it always goes wrong", worker="back"), what="it"
    )
    assert "in _always_raise" in printed["line"]


def test_an_event_that_the_class_does_not_handle_fails(host: Host) -> None:
    verdict = host.control.queue("front", "work", [{"id": "m", "body": {}}])

    assert verdict["outcome"] == "exception"
    assert host.log.find("Method queue does not exist", worker="front")
