"""The death of an isolate, by order: what ran in it ends at once, and nothing of it goes on."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.host.hosting import Host


class Origin(ThreadingHTTPServer):
    """A server that counts the calls it gets."""

    daemon_threads = True
    calls = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class _Counting(BaseHTTPRequestHandler):
    server: Origin

    def do_GET(self) -> None:
        self.server.calls += 1
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base's name)
        return None


@pytest.fixture
def origin() -> Iterator[Origin]:
    with Origin(("127.0.0.1", 0), _Counting) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_request_that_runs_fails_and_its_code_does_nothing_more(
    host: Host, mark: str, origin: Origin
) -> None:
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(host.get, "work_on", mark=mark, server=origin.url)
        host.eventually(lambda: host.notes("working", mark) and origin.calls, what="it works")

        host.control.kill("front")

        assert answer.result().status_code == 500
    written, called = len(host.notes("working", mark)), origin.calls
    host.ask("keep_task", mark=mark)  # 0.6 s: thirty turns of the dead code's loop
    host.eventually(lambda: host.notes("kept", mark), what="time passes")
    # A statement and a call that were on their way when the isolate died may have arrived.
    assert len(host.notes("working", mark)) <= written + 1
    assert origin.calls <= called + 1
    assert host.notes("finally", mark) == []


def test_the_next_event_finds_a_fresh_interpreter(host: Host, mark: str, origin: Origin) -> None:
    with ThreadPoolExecutor() as pool:
        pool.submit(host.get, "work_on", mark=mark, server=origin.url)
        host.eventually(lambda: host.notes("working", mark), what="it works")
        assert host.ask("interpreter") == {"interpreter": "was working"}

        host.control.kill("front")

        assert host.ask("interpreter") == {"interpreter": "first"}


def test_a_batch_that_runs_is_delivered_again(host: Host, mark: str) -> None:
    host.ask("send", bodies=json.dumps([{"do": "hang", "mark": mark}]))
    host.eventually(lambda: host.notes("hanging", mark), what="it hangs")

    host.control.kill("back")

    host.eventually(lambda: len(host.notes("hang_in", f"{mark}%")) == 2, what="it comes again")
    assert host.notes("hang_in", f"{mark}%") == [f"{mark} first", f"{mark} first"]
    hung = len(host.notes("hanging", mark))
    host.ask("keep_task", mark=mark)
    host.eventually(lambda: host.notes("kept", mark), what="time passes")
    assert len(host.notes("hanging", mark)) <= hung + 1


def test_a_workflow_that_runs_stops_and_is_errored(host: Host, mark: str) -> None:
    instance = f"killed-{mark}"
    host.ask("start_flow", id=instance, mode="heartbeat")
    host.eventually(lambda: host.notes("beat", instance), what="it beats")

    host.control.kill("back")

    host.eventually(
        lambda: host.control.workflow_status("FLOW", instance)["status"] == "errored",
        what="the run has failed",
    )
    beats = len(host.notes("beat", instance))
    host.ask("keep_task", mark=mark)
    host.eventually(lambda: host.notes("kept", mark), what="time passes")
    assert len(host.notes("beat", instance)) <= beats + 1


def test_an_isolate_dies_at_the_calls_that_it_was_ordered_to(
    host: Host, mark: str, origin: Origin
) -> None:
    host.control.kill_at("front", headers={"x-mark": mark}, count=2)
    deaths = host.control.heap()["front"]["deaths"]
    assert host.ask("call_with", server=origin.url, mark=f"not {mark}") == {}

    fatal = [host.get("call_with", server=origin.url, mark=mark).status_code for _ in range(2)]

    assert fatal == [500, 500]
    assert origin.calls == 1
    assert host.control.heap()["front"]["deaths"] == deaths + 2
    assert host.ask("interpreter") == {"interpreter": "first"}
    assert host.ask("call_with", server=origin.url, mark=mark) == {}
    assert host.notes("answered", mark) == [mark]


def test_an_interpreter_that_fails_fatally_is_replaced(host: Host) -> None:
    assert host.get("abort").status_code == 500

    assert host.ask("interpreter") == {"interpreter": "first"}


def test_the_other_worker_does_not_notice(host: Host) -> None:
    deaths = host.control.heap()["front"]["deaths"]

    host.control.kill("back")

    assert host.control.heap()["front"]["deaths"] == deaths
    assert host.ask("call_back")["sync"] == 4
