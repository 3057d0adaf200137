"""What a job costs and what its tenant has used, on the real stack, whose models are free."""

from __future__ import annotations

from tests.acceptance.runs import Desk
from tests.support.jobs import ended, submit


def test_what_a_job_cost_is_on_the_job_and_in_its_tenants_usage(desk: Desk) -> None:
    done = ended(desk.api, submit(desk.api, max_cost_usd="0.01"))

    usage = desk.api.get("/v1/usage?kind=summarize").json()

    assert (done["state"], done["max_cost_usd"]) == ("succeeded", "0.010000")
    assert (done["usage"]["cost_usd"], done["usage"]["attempts_cost_usd"]) == ("0.000000",) * 2
    (item,) = usage["items"]
    assert (item["provider"], item["model"]) == ("openai_compatible", "extractive-e5")
    assert (item["attempts"], item["input_tokens"]) == (1, done["usage"]["input_tokens"])
    assert (item["cost_usd"], item["unknown_cost_attempts"]) == ("0.000000", 0)
