"""A rotated key on the real stack: it costs one job, and the others wait until it is mended."""

from __future__ import annotations

from tests.support.jobs import ended, submit
from tests.support.running import Stack, until


def test_a_key_that_is_not_accepted_fails_one_job_and_the_others_wait(stack: Stack) -> None:
    stack.order(count=2, route="chat", status=401)
    with stack.api(stack.tenant()) as api:
        first = ended(api, submit(api))
        parked = stack.d1("SELECT lane, class, failures FROM lanes")
        others = [ended(api, job) for job in [submit(api) for _ in range(3)]]

    assert (first["state"], first["error"]["class"]) == ("failed", "denied")
    assert [(lane["class"], lane["failures"]) for lane in parked] == [("denied", 1)]
    assert {(job["state"], job["attempts"]) for job in others} == {("succeeded", 1)}
    until(lambda: stack.d1("SELECT count(*) AS n FROM lanes") == [{"n": 0}])
    told = {event for event in ("lane_parked", "lane_opened") if f'"event": "{event}"' in stack.log}
    assert told == {"lane_parked", "lane_opened"}
