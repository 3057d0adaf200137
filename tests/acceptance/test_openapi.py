"""What the service answers is what its own description says."""

from __future__ import annotations

from typing import Any

import httpx
from jsonschema import Draft202012Validator

from tests.acceptance.runs import Desk
from tests.support.running import Stack, until

WORK = {"kind": "summarize", "input": {"text": "受付は依頼を一度だけ受け取る。"}}


def test_each_answer_has_the_shape_that_the_description_tells(desk: Desk) -> None:
    document = desk.api.get("/openapi.json").json()
    job = desk.api.post("/v1/jobs", json=WORK)
    until(lambda: desk.shown(job.json()["id"])["terminal"])
    path = f"/v1/jobs/{job.json()['id']}"
    schedule = {"cron": "0 0 1 1 *", **WORK}
    made = desk.api.put("/v1/schedules/told", json=schedule)

    said = {
        ("post", "/v1/jobs"): job,
        ("get", "/v1/key"): desk.api.get("/v1/key"),
        ("get", "/v1/jobs"): desk.api.get("/v1/jobs"),
        ("get", "/v1/jobs/counts"): desk.api.get("/v1/jobs/counts"),
        ("get", "/v1/jobs/{job_id}"): desk.api.get(path),
        ("get", "/v1/jobs/{job_id}/events"): desk.api.get(f"{path}/events"),
        ("put", "/v1/inputs"): desk.api.put("/v1/inputs", content=b"text"),
        ("get", "/v1/schedules/{name}"): desk.api.get("/v1/schedules/told"),
        ("get", "/v1/schedules"): desk.api.get("/v1/schedules"),
        ("post", "/v1/schedules/{name}/trigger"): desk.api.post("/v1/schedules/told/trigger"),
        ("get", "/v1/cron"): desk.api.get("/v1/cron?cron=0+0+*+*+*"),
        ("get", "/v1/usage"): desk.api.get("/v1/usage"),
        ("get", "/healthz"): desk.api.get("/healthz"),
        ("get", "/readyz"): desk.api.get("/readyz"),
    }
    with desk.stack.api("operator_key") as operator:
        order = {"check": "submission_without_job", "reason": "to see its shape"}
        said["get", "/v1/doctor"] = operator.get("/v1/doctor")
        said["post", "/v1/doctor/repair"] = operator.post("/v1/doctor/repair", json=order)
    assert made.status_code == 201
    for (method, template), answer in said.items():
        told = document["paths"][template][method]["responses"]
        content = told[str(answer.status_code)]["content"]
        hold(answer, content["application/json"]["schema"], document)


def test_what_operators_are_told_has_the_shape_that_the_description_tells(
    stack: Stack, desk: Desk
) -> None:
    document = desk.api.get("/openapi.json").json()
    job = desk.post({"body": "refusal"}, text="断られる依頼。").json()["id"]
    until(lambda: desk.shown(job)["terminal"])
    stack.deliver("uketsuke-jobs", ["no object", 7, {"v": "1"}, None])
    stack.sweep()

    with stack.api("operator_key") as operator:
        letter = f"dl_{job.removeprefix('job_')}"
        said = {
            "/v1/dead-letters": operator.get("/v1/dead-letters?limit=200"),
            "/v1/dead-letters/groups": operator.get("/v1/dead-letters/groups"),
            "/v1/dead-letters/{letter_id}": operator.get(f"/v1/dead-letters/{letter}"),
            "/v1/metrics": operator.get("/v1/metrics"),
            "/v1/alerts": operator.get("/v1/alerts"),
            "/v1/metrics/series": operator.get("/v1/metrics/series"),
        }
    for template, answer in said.items():
        told = document["paths"][template]["get"]["responses"]["200"]["content"]
        hold(answer, told["application/json"]["schema"], document)


def test_what_operators_are_told_of_bulk_redrives_has_its_shape(stack: Stack, desk: Desk) -> None:
    document = desk.api.get("/openapi.json").json()
    order = {"filter": {"tenant": stack.tenant_of(desk.key)}, "reason": "to look at it"}
    with stack.api("operator_key") as operator:
        made = operator.post("/v1/redrives", json=order)
        said = {
            ("post", "/v1/redrives", made.status_code): made,
            ("post", "/v1/redrives", 200): operator.post(
                "/v1/redrives", json={**order, "dry_run": True}
            ),
            ("get", "/v1/redrives", 200): operator.get("/v1/redrives?limit=5"),
            ("get", "/v1/redrives/{redrive_id}", 200): operator.get(made.headers["location"]),
        }

    assert made.status_code == 202
    for (method, template, status), answer in said.items():
        assert answer.status_code == status
        content = document["paths"][template][method]["responses"][str(status)]["content"]
        hold(answer, content["application/json"]["schema"], document)


def test_refusals_have_the_shape_that_the_description_tells(stack: Stack, desk: Desk) -> None:
    document = desk.api.get("/openapi.json").json()
    with stack.api(None) as nobody:
        refused = [nobody.get("/v1/jobs"), desk.api.post("/v1/jobs", json={"kind": 1})]

    for answer in refused:
        told = document["paths"]["/v1/jobs"]["get"]["responses"]["default"]["content"]
        hold(answer, told["application/problem+json"]["schema"], document)


def hold(answer: httpx.Response, schema: dict[str, Any], document: Any) -> None:
    """Hold an answer to its schema, and to no members beyond: an addition wants telling."""
    closed = closed_of({**schema, "components": document["components"]})
    Draft202012Validator(closed).validate(answer.json())


def closed_of(schema: Any) -> Any:
    if isinstance(schema, list):
        return [closed_of(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: closed_of(each) for name, each in schema.items()}
    return {"additionalProperties": False, **closed} if "properties" in schema else closed
