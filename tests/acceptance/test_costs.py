"""What a job costs and what its tenant has used, on the real stack, whose models are free."""

from __future__ import annotations

from tests.support.jobs import ended, submit
from tests.support.running import Stack


def test_what_a_job_cost_is_on_the_job_and_in_its_tenants_usage(stack: Stack) -> None:
    with stack.api() as api:
        before = api.get("/v1/usage").json()["totals"]
        done = ended(api, submit(api, max_cost_usd="0.01"))
        usage = api.get("/v1/usage?kind=summarize").json()

    assert (done["state"], done["max_cost_usd"]) == ("succeeded", "0.010000")
    assert (done["usage"]["cost_usd"], done["usage"]["attempts_cost_usd"]) == ("0.000000",) * 2
    (item,) = usage["items"]
    assert (item["provider"], item["model"]) == ("openai_compatible", "extractive-e5")
    assert item["attempts"] == before["attempts"] + 1
    assert item["input_tokens"] >= done["usage"]["input_tokens"] > 0
    assert (item["cost_usd"], item["unknown_cost_attempts"]) == ("0.000000", 0)
