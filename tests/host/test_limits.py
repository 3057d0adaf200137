"""Memory and CPU: measured after each event, and bounded as in production."""

from __future__ import annotations

from tests.host.hosting import Host


def test_an_event_above_the_memory_bound_fails_and_the_next_finds_a_fresh_interpreter(
    host: Host,
) -> None:
    deaths = host.control.heap()["front"]["deaths"]

    response = host.get("allocate", megabytes=80)

    assert response.status_code == 500
    assert "exceeded its memory limit" in response.text
    assert host.ask("interpreter") == {"interpreter": "first"}
    assert host.control.heap()["front"]["deaths"] == deaths + 1


def test_an_event_below_the_memory_bound_does_not_fail(host: Host) -> None:
    assert host.ask("allocate", megabytes=20) == {"bytes": 20 * 1024 * 1024}


def test_the_heap_is_counted_after_events(host: Host) -> None:
    before = host.control.heap()["front"]
    host.ask("interpreter")

    after = host.control.heap()["front"]

    assert after["events"] > before["events"]
    assert 0 < after["current"] <= after["peak"]
    assert after["current"] <= after["memory"]


def test_an_event_above_the_cpu_limit_is_reported(host: Host) -> None:
    host.ask("burn", seconds=0.6)

    reported = host.eventually(
        lambda: host.log.find("the limit is 400 ms", worker="front"), what="it is reported"
    )
    assert reported["line"].startswith("The fetch event used ")


def test_all_interpreters_are_up_before_their_first_event(host: Host) -> None:
    heaps = host.control.heap()

    assert heaps["bare"]["events"] == 0
    assert all(heap["current"] > 0 for heap in heaps.values())
