"""Dead letters brought back on the whole stack: by many hands at once, patched, on a Workflow."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx

from tests.acceptance.runs import BRIEF, Desk
from tests.acceptance.test_openapi import hold
from tests.support.running import until

SECRET = "受付の秘密は誰にも言わない。"
REASON = {"reason": "the cause is mended"}


def buried(desk: Desk, **document: Any) -> tuple[str, str]:
    """Fail a job by a refusal of its content, and return it with its letter."""
    answer = desk.post({"body": "refusal"}, text=SECRET, metadata={"order": SECRET}, **document)
    job = str(answer.json()["id"])
    until(lambda: desk.shown(job)["terminal"])
    (row,) = desk.stack.d1("SELECT id FROM dead_letters WHERE job_id = ?1", job)
    return job, row["id"]


def test_of_a_hundred_hands_one_redrives_a_letter(desk: Desk) -> None:
    old, letter = buried(desk)
    document = {**REASON, "patch": {"params": {"max_words": 50}}}

    answers = asyncio.run(at_once(desk, f"/v1/dead-letters/{letter}/redrive", document, 100))

    (won,) = [answer for answer in answers if answer.status_code == 202]
    lost = [answer.json() for answer in answers if answer.status_code == 409]
    new = won.json()["id"]
    assert len(lost) == 99
    assert {(each["code"], each["id"]) for each in lost} == {("already_redriven", new)}
    assert not any(SECRET in answer.text for answer in answers)
    rows = desk.stack.d1("SELECT id FROM jobs WHERE redriven_from = ?1", old)
    audit = desk.stack.d1("SELECT action FROM audit WHERE target = ?1", letter)
    assert ([row["id"] for row in rows], len(audit)) == ([new], 1)
    until(lambda: desk.shown(new)["state"] == "succeeded")
    assert desk.shown(old)["redriven_to"] == new
    assert desk.shown(new)["metadata"] == {"order": SECRET}


def test_a_patched_job_runs_on_a_workflow_from_the_first_moment(desk: Desk) -> None:
    _, letter = buried(desk)
    document = {**REASON, "patch": {"input": {"text": BRIEF}}}

    with desk.stack.api("operator_key") as operator:
        answer = operator.post(f"/v1/dead-letters/{letter}/redrive", json=document)

    shown = answer.json()
    assert (answer.status_code, shown["engine"], shown["state"]) == (202, "workflow", "running")
    told(desk, "post", "/v1/dead-letters/{letter_id}/redrive", answer)
    assert desk.end(shown["id"]).state == "succeeded"


def test_a_discarded_letter_stays_so_and_the_tenant_reads_who_did_it(desk: Desk) -> None:
    _, letter = buried(desk)

    with desk.stack.api("operator_key") as operator:
        unpatched = operator.post(f"/v1/dead-letters/{letter}/redrive", json=REASON)
        discarded = operator.post(f"/v1/dead-letters/{letter}/discard", json=REASON)
        late = operator.post(f"/v1/dead-letters/{letter}/redrive", json=REASON)
        audit = operator.get(f"/v1/audit?target={letter}")

    assert (unpatched.status_code, unpatched.json()["code"]) == (422, "not_replayable")
    assert (discarded.status_code, discarded.json()["status"]) == (200, "discarded")
    assert (late.status_code, late.json()["code"]) == (409, "already_resolved")
    assert desk.api.get("/v1/audit").json()["items"] == audit.json()["items"]
    assert [item["action"] for item in audit.json()["items"]] == ["dead_letter.discarded"]
    told(desk, "post", "/v1/dead-letters/{letter_id}/discard", discarded)
    told(desk, "get", "/v1/audit", audit)
    assert SECRET not in unpatched.text + discarded.text + late.text + audit.text
    assert SECRET not in desk.stack.log


def told(desk: Desk, method: str, template: str, answer: httpx.Response) -> None:
    """Hold an answer to the shape that the service's own description tells."""
    document = desk.api.get("/openapi.json").json()
    content = document["paths"][template][method]["responses"][str(answer.status_code)]["content"]
    hold(answer, content["application/json"]["schema"], document)


async def at_once(desk: Desk, path: str, document: object, count: int) -> list[httpx.Response]:
    ready = desk.stack.ready
    headers = {"authorization": f"Bearer {ready['operator_key']}"}
    limits = httpx.Limits(max_connections=count)
    async with httpx.AsyncClient(
        base_url=ready["url"], headers=headers, timeout=60, limits=limits, verify=False
    ) as client:
        return await asyncio.gather(*(client.post(path, json=document) for _ in range(count)))
