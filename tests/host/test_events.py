"""How events reach Python: arguments, instances, isolation, and what becomes of loose ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.host.hosting import Host


def test_queue_is_called_with_three_arguments_of_which_two_are_none(host: Host) -> None:
    host.control.queue("back", "work", [{"id": "m", "body": {"do": "ack"}}])

    assert set(host.notes("queue_arguments")) == {"(None, None)"}


def test_scheduled_is_called_with_three_arguments_of_which_two_are_none(host: Host) -> None:
    host.control.cron("back", "1 2 3 4 5")

    assert set(host.notes("scheduled_arguments")) == {"(None, None)"}


def test_each_event_has_an_instance_of_its_own_and_shares_the_globals(host: Host) -> None:
    first, second = host.ask("instance"), host.ask("instance")

    assert first["fresh"]
    assert second["fresh"]
    assert second["instances"] > first["instances"]


def test_a_task_that_is_not_given_to_wait_until_is_dropped(host: Host, mark: str) -> None:
    host.ask("drop_task", mark=mark)
    host.ask("keep_task", mark=mark)  # ends later than the other would have

    host.eventually(lambda: host.notes("kept", mark), what="the kept task ends")

    assert host.notes("dropped", mark) == []


def test_wait_until_of_the_sdk_keeps_a_coroutine_too(host: Host, mark: str) -> None:
    host.ask("keep_by_function", mark=mark)

    host.eventually(lambda: host.notes("kept_by_function", mark), what="it ends")


def test_a_response_can_be_fed_from_wait_until(host: Host) -> None:
    assert host.get("stream").text == "0;1;2;"


def test_a_lock_shared_by_two_requests_breaks_the_one_that_waits(host: Host) -> None:
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: host.get("hold_lock").status_code, range(3)))

    assert answers.count(500) >= 1, answers


def test_an_event_set_by_another_request_breaks_the_one_that_waits(host: Host) -> None:
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(host.get, "wait_for_bell")
        host.ask("ring_bell")

        assert waiting.result().status_code == 500


def test_rpc_converts_arguments_and_results(host: Host) -> None:
    answers = host.ask("call_back")

    assert answers["echo"] == {
        "types": ["JsDict", "list", "NoneType"],
        "values": [{"a": [1, None, "x"]}, [True], None],
    }
    assert answers["sync"] == 4


def test_keyword_arguments_arrive_as_one_positional_dict(host: Host) -> None:
    assert host.ask("call_back")["keywords"] == [{"a": 1, "b": "two"}]


def test_a_named_entrypoint_can_be_called(host: Host) -> None:
    assert host.ask("call_back")["desk"] == "desk greets you"


def test_an_error_of_an_rpc_method_arrives_with_its_traceback(host: Host) -> None:
    raised = host.ask("call_back")["raises"]

    assert raised.startswith("JsException: ")
    assert "Traceback" in raised
    assert "LookupError: back went wrong" in raised


def test_a_method_that_does_not_exist_is_told(host: Host) -> None:
    assert "Method no_such_method does not exist" in host.ask("call_back")["missing"]


def test_a_worker_without_default_exports_no_fetch(host: Host) -> None:
    assert "does not export a fetch() function" in host.ask("call_bare")["bare"]


def test_an_uncaught_error_of_fetch_is_a_500(host: Host) -> None:
    response = host.get("explode")

    assert response.status_code == 500
    assert "LookupError: front went wrong" in response.text


def test_fetch_must_return_a_response(host: Host) -> None:
    response = host.get("not_a_response")

    assert response.status_code == 500
    assert "did not resolve to 'Response'" in response.text


def test_lines_say_which_worker_wrote_them_and_how_loud(host: Host, mark: str) -> None:
    host.ask("speak", mark=mark)

    printed = host.eventually(lambda: host.log.find(f"printed {mark}", worker="front"), what="it")
    warned = host.eventually(lambda: host.log.find(f"warned {mark}", worker="front"), what="it")
    assert (printed["level"], warned["level"]) == ("log", "error")
    assert host.log.find(f"informed {mark}", worker="front") is None
