"""Nothing of an input, an output or a key in what the stack logs, sends or records."""

from __future__ import annotations

import json
import secrets

from tests.support.jobs import ended, submit
from tests.support.running import Stack, until

CANARY = "zanzibar-canary-4711"


def test_a_message_has_five_members_and_the_trace_and_no_content(stack: Stack) -> None:
    key = stack.tenant()
    with stack.api(key) as api:
        text = f"The {CANARY} sings in the hall. It sings at night too."
        job = submit(
            api,
            input={"text": text},
            run_key=CANARY,
            metadata={"note": CANARY},
            params={"language": "en"},
        )
        ended(api, job)

    deliveries = [
        delivery["body"]
        for delivery in stack.get("/deliveries?queue=uketsuke-jobs")
        if job["id"] in delivery["body"]
    ]
    assert deliveries
    for body in deliveries:
        message = json.loads(body)
        assert message.keys() == {"v", "job", "tenant", "kind", "input", "traceparent"}
        assert message["tenant"] == stack.tenant_of(key)
        assert CANARY not in body
        assert len(body) < 1000


def test_no_log_line_and_no_row_but_the_payload_has_content_or_keys(stack: Stack) -> None:
    key = stack.tenant()
    secret = key.rpartition("_")[2]
    with stack.api(key) as api:
        good = submit(api, input={"text": f"The {CANARY} sings. At night the {CANARY} sings too."})
        ended(api, good)
        assert CANARY in api.get(f"/v1/jobs/{good['id']}/result").text
        stack.order(count=1, route="chat", body="garbage")
        stack.order(count=1, route="chat", status=400)
        ended(api, submit(api, input={"text": f"The {CANARY} fails."}))
        api.post("/v1/jobs", json={"kind": "summarize", "input": {"text": 7}, CANARY: 1})
        api.post("/v1/jobs", content=f'{{"broken {CANARY}'.encode())
        api.get(f"/v1/{CANARY}", headers={"x-canary": CANARY})
        stack.deliver("uketsuke-jobs", [{"v": 1, "job": CANARY}, CANARY])

    log = stack.log
    assert good["id"] in log
    assert CANARY not in log
    assert secret not in log
    tenant = stack.tenant_of(key)
    for table in ("jobs", "dead_letters", "api_keys"):
        sql = f"SELECT * FROM {table} WHERE tenant_id IS NULL OR tenant_id = ?1"  # noqa: S608
        rows = json.dumps(stack.d1(sql, tenant))
        assert CANARY not in rows
        assert secret not in rows


def test_no_log_line_has_what_callers_plant_in_headers_names_and_params_nor_a_providers_word(
    stack: Stack,
) -> None:
    trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    planted = {
        "user-agent": CANARY,
        "tracestate": f"rojo={CANARY}",
        "baggage": f"user={CANARY}",
        "cookie": f"session={CANARY}",
        "x-request-id": f"{CANARY} {CANARY}",
        "content-disposition": f'attachment; filename="{CANARY}.txt"',
    }
    text = {"text": f"The {CANARY} sings."}
    named = {"run_key": CANARY, "metadata": {CANARY: CANARY}}
    stack.order(count=1, status=422, code=CANARY, match={"traceparent": trace})
    with stack.api(stack.tenant()) as api:
        api.headers.update(planted)
        api.put("/v1/inputs", content=CANARY.encode(), headers={"content-type": "text/plain"})
        api.get(f"/v1/jobs/{CANARY}", params={CANARY: CANARY})
        for odd in ({"kind": CANARY}, {"params": {"language": CANARY, CANARY: 1}}, {CANARY: 1}):
            asked = {"kind": "summarize", "input": text, **named, **odd}
            assert api.post("/v1/jobs", json=asked).status_code == 400
        asked = {"kind": "summarize", "input": text, **named}
        keyed = {"traceparent": trace, "idempotency-key": f'"{CANARY}"'}
        job = api.post("/v1/jobs", json=asked, headers=keyed).json()
        assert ended(api, job)["state"] == "failed"
        api.get("/v1/jobs", headers={"traceparent": f"00-{CANARY}"})

    until(lambda: any(job["id"] in x and "job_failed" in x for x in stack.log.splitlines()))
    assert CANARY not in stack.log


def test_every_log_line_of_a_job_is_one_json_object(stack: Stack) -> None:
    before = len(stack.log)
    with stack.api(stack.tenant()) as api:
        job = submit(api)
        ended(api, job)

    # What other tests made the host say (of an isolate that it was told to destroy) is not ours.
    def lines() -> list[str]:
        return [line for line in stack.log[before:].splitlines() if job["id"] in line]

    until(lambda: any("job_succeeded" in line for line in lines()))
    mine = lines()
    assert len(mine) >= 2
    for line in mine:
        document = json.loads(line.partition("] ")[2])
        assert document["event"]
        assert document["level"] in ("info", "warning", "error")
