"""Workflows of a Python class, started from another Worker."""

from __future__ import annotations

from tests.host.hosting import Host


def start(host: Host, mode: str, mark: str) -> str:
    instance = f"{mode}-{mark}"
    host.ask("start_flow", id=instance, mode=mode)
    return instance


def status(host: Host, instance: str) -> str:
    return str(host.control.workflow_status("FLOW", instance)["status"])


def test_a_step_is_retried_and_a_non_retryable_error_is_not(host: Host, mark: str) -> None:
    instance = start(host, "steps", mark)

    host.eventually(lambda: status(host, instance) == "complete", what="the run is complete")

    output = host.control.workflow_status("FLOW", instance)["output"]
    assert output == {"attempt": 2, "permanent": "no use in trying again"}


def test_an_event_sent_to_an_instance_arrives(host: Host, mark: str) -> None:
    instance = start(host, "wait", mark)
    host.control.send_workflow_event("FLOW", instance, {"type": "word", "payload": {"said": "now"}})

    host.eventually(lambda: status(host, instance) == "complete", what="the run is complete")

    output = host.control.workflow_status("FLOW", instance)["output"]
    assert output == {"told": {"said": "now"}}


def test_an_uncaught_error_of_a_run_is_printed_with_its_traceback(host: Host, mark: str) -> None:
    instance = start(host, "fail", mark)

    host.eventually(lambda: status(host, instance) == "errored", what="the run has failed")

    printed = host.eventually(
        lambda: host.log.find("LookupError: the run went wrong", worker="back"), what="it"
    )
    assert "in _fail" in printed["line"]


def test_a_terminated_instance_stops(host: Host, mark: str) -> None:
    instance = start(host, "heartbeat", mark)
    host.eventually(lambda: host.notes("beat", instance), what="it beats")

    host.control.terminate_workflow("FLOW", instance)

    assert status(host, instance) == "terminated"
