"""A power cut between the 202 and the end: the queue forgets the job, its row does not."""

from __future__ import annotations

from pathlib import Path

from tests.support.jobs import ended, submit
from tests.support.running import Stack, until


def test_a_job_that_was_cut_off_is_worked_again_and_ends_once(tmp_path: Path) -> None:
    stack = Stack(state=tmp_path).start()
    try:
        stack.order(count=1, route="chat", seconds=60)
        with stack.api() as api:
            running, waiting = submit(api), None
            until(lambda: api.get(f"/v1/jobs/{running['id']}").json()["state"] == "running")
            stack.order(count=1, route="chat", seconds=60)
            waiting = submit(api)
        stack.kill()

        stack.start()
        with stack.api() as api:
            shown = api.get(f"/v1/jobs/{running['id']}").json()
            assert shown["state"] in ("running", "retrying")

            def sweep_until_ended() -> bool:
                stack.sweep()
                jobs = [api.get(f"/v1/jobs/{job['id']}").json() for job in (running, waiting)]
                return all(job["terminal"] for job in jobs)

            until(sweep_until_ended, within=60, every=1)
            done = ended(api, running)
            events = api.get(f"/v1/jobs/{running['id']}/events").json()["items"]
            assert api.get(f"/v1/jobs/{running['id']}/result").status_code == 200
            assert ended(api, waiting)["state"] == "succeeded"

        assert (done["state"], done["attempts"]) == ("succeeded", 2)
        assert [event["type"] for event in events].count("succeeded") == 1
        assert events[2]["class"] == "crashed"
    finally:
        stack.stop()
