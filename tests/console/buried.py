"""Dead letters for the console's tests: put in as after an outage, or buried by a real refusal."""

from __future__ import annotations

import secrets
from typing import Any

from tests.support.letters import letters_of
from tests.support.running import Stack, until

# Their time is over before they begin, each time anew.
STILL_FAILING = {"class": "deadline", "code": "deadline_passed", "given_ms": 1}


def bury(stack: Stack, tenant: str, count: int, **changes: Any) -> list[str]:
    """Put in so many failed jobs with open letters, and return all of the tenant's letters."""
    batch = [
        {"sql": each.sql, "params": list(each.params)}
        for each in letters_of(tenant, count, **changes)
    ]
    stack.post("/d1", {"batch": batch})
    sql = "SELECT id FROM dead_letters WHERE tenant_id = ?1 ORDER BY last_failed_at"
    return [row["id"] for row in stack.d1(sql, tenant)]


def refuse(stack: Stack, key: str, **document: Any) -> str:
    """Let the model refuse a job of this tenant, and return its letter's id."""
    trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    stack.order(count=1, route="chat", body="refusal", match={"traceparent": trace})
    asked = {"kind": "summarize", "input": {"text": "It is refused once."}, **document}
    with stack.api(key) as api:
        job = api.post("/v1/jobs", json=asked, headers={"traceparent": trace}).json()["id"]
        until(lambda: api.get(f"/v1/jobs/{job}").json()["state"] == "failed")
    return str(job).replace("job_", "dl_")
