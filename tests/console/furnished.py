"""A tenant with something on every page, and hostile text wherever somebody may write some."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any, Final

import httpx

from tests.support.running import Stack, until

# Would run, break out of an attribute, turn the line around, and never wrap.
HOSTILE: Final = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>\"'`><svg/onload=alert(3)>"
    "[x](javascript:alert(4)) {{7*7}} ${alert(5)} \u202eright-to-left " + "w" * 150
)
_REASON: Final = HOSTILE.replace("\u202e", "")  # which no reason may hold
_TEXT: Final = (
    f"受付は依頼を一度だけ受け取る。{HOSTILE}。答えはすぐに返る。\n"
    "# <b>見出し</b>\n何も失われない。"
)


@dataclass(frozen=True, kw_only=True)
class Furnished:
    """Where everything is: ids by what they are."""

    key: str
    tenant: str
    jobs: dict[str, str]  # kind, or "failed"
    letter: str
    discarded: str
    redrive: str
    schedule: str


def furnish(stack: Stack) -> Furnished:
    """Make it, by the API alone; takes some seconds."""
    key = stack.tenant()
    with stack.api(key) as api, stack.api("operator_key") as operator:
        failed = [_failing(stack, api) for _ in range(3)]
        for job in failed:
            _ended(api, job, "failed")
        letters = [f"dl_{job.removeprefix('job_')}" for job in failed]
        jobs = {"failed": failed[0], **_one_of_each(api)}
        _act(operator, f"/v1/dead-letters/{letters[1]}/discard", reason=_REASON)
        bulk = _act(
            operator,
            "/v1/redrives",
            filter={"tenant": stack.tenant_of(key)},
            reason=_REASON,
            canary=1,
        )
        schedule = "nightly-" + "w" * 92  # as long as a name may be
        return Furnished(
            key=key,
            tenant=stack.tenant_of(key),
            jobs=jobs,
            letter=letters[0],
            discarded=letters[1],
            redrive=bulk["id"],
            schedule=_scheduled(api, schedule),
        )


def _failing(stack: Stack, api: httpx.Client) -> str:
    trace = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
    stack.order(count=9, route="chat", status=422, match={"traceparent": trace})
    return _submit(api, {"kind": "summarize", "input": {"text": _TEXT}}, traceparent=trace)


def _one_of_each(api: httpx.Client) -> dict[str, str]:
    summary = _submit(
        api,
        {
            "kind": "summarize",
            "input": {"text": _TEXT},
            "run_key": HOSTILE[:200],
            "metadata": {HOSTILE[:64]: HOSTILE, "チケット": "四十二"},
        },
    )
    texts = [HOSTILE, "東京は日本の首都です。", "Kyoto was the capital once."]
    vectors = _submit(api, {"kind": "embed", "input": {"texts": texts}})
    _ended(api, summary, "succeeded")
    report = _submit(
        api,
        {"kind": "report", "input": {"refs": [summary]}, "params": {"title": HOSTILE[:200]}},
    )
    for job in (vectors, report):
        _ended(api, job, "succeeded")
    return {"summarize": summary, "embed": vectors, "report": report}


def _scheduled(api: httpx.Client, name: str) -> str:
    document = {"cron": "0 3 * * *", "kind": "summarize", "input": {"text": _TEXT}}
    api.put(f"/v1/schedules/{name}", json=document).raise_for_status()
    return name


def _submit(api: httpx.Client, document: dict[str, Any], **headers: str) -> str:
    answer = api.post("/v1/jobs", json=document, headers=headers)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def _act(operator: httpx.Client, path: str, **document: Any) -> dict[str, Any]:
    answer = operator.post(path, json=document)
    assert answer.is_success, answer.text
    done: dict[str, Any] = answer.json()
    return done


def _ended(api: httpx.Client, job: str, state: str) -> None:
    shown = until(
        lambda: (found := api.get(f"/v1/jobs/{job}").json())["terminal"] and found, within=60
    )
    assert shown["state"] == state, shown
