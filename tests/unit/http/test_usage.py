"""``GET /v1/usage``: what may be asked, what is shown, and that nobody sees another's."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.unit.http.factories import OTHER_TENANT, TENANT
from tests.unit.http.world import World, assert_problem

# The fake clock stands on 2026-11-29.
COLUMNS = (
    "tenant_id, day, kind, provider, model, attempts, failed_attempts, input_tokens,"
    " output_tokens, audio_ms, cost_micros, failed_cost_micros, charged_micros, unknown"
)
FIGURES = "4, 1, 30, 4, 1500, 60, 20, 70, 0"


def used(
    world: World, day: str, *, tenant: str = TENANT, model: str = "m", figures: str = FIGURES
) -> None:
    provider = "openai_compatible" if model else ""
    sql = f"INSERT INTO usage_days ({COLUMNS}) VALUES (?, ?, 'summarize', ?, ?, {figures})"  # noqa: S608 - ours
    world.database.connection.execute(sql, (tenant, day, provider, model))


def test_a_row_shows_what_was_used_and_what_it_cost(world: World, tenant_key: str) -> None:
    used(world, "2026-11-28")

    answer = world.send("GET", "/v1/usage", key=tenant_key)

    figures = {
        "attempts": 4,
        "failed_attempts": 1,
        "input_tokens": 30,
        "output_tokens": 4,
        "audio_seconds": 1.5,
        "cost_usd": "0.000060",
        "failed_cost_usd": "0.000020",
        "unknown_cost_attempts": 0,
    }
    assert answer.status == 200
    assert answer.document == {
        "from": "2026-10-31",
        "to": "2026-11-29",
        "items": [
            {
                "day": "2026-11-28",
                "tenant_id": TENANT,
                "kind": "summarize",
                "provider": "openai_compatible",
                "model": "m",
                **figures,
            }
        ],
        "totals": figures,
        "budget": None,
        "next": None,
    }


def test_an_unknown_cost_is_null_and_a_known_part_is_shown(world: World, tenant_key: str) -> None:
    used(world, "2026-11-28", model="", figures="1, 0, 0, 0, 0, 0, 0, 0, 1")
    used(world, "2026-11-29", figures="2, 0, 0, 0, 0, 5, 0, 5, 1")

    document = world.send("GET", "/v1/usage", key=tenant_key).document

    part, nothing = document["items"]
    assert (nothing["cost_usd"], nothing["provider"], nothing["model"]) == (None, None, None)
    assert (part["cost_usd"], part["unknown_cost_attempts"]) == ("0.000005", 1)
    assert document["totals"]["cost_usd"] == "0.000005"


def test_nothing_used_has_cost_nothing(world: World, tenant_key: str) -> None:
    totals = world.send("GET", "/v1/usage", key=tenant_key).document["totals"]

    assert (totals["attempts"], totals["cost_usd"]) == (0, "0.000000")


def test_a_tenant_sees_its_own_and_an_operator_sees_all_or_one(
    world: World, tenant_key: str, operator_key: str
) -> None:
    used(world, "2026-11-28")
    used(world, "2026-11-28", tenant=OTHER_TENANT)

    def tenants(target: str, key: str) -> list[str]:
        document = world.send("GET", target, key=key).document
        return [item["tenant_id"] for item in document["items"]]

    assert tenants("/v1/usage", tenant_key) == [TENANT]
    assert sorted(tenants("/v1/usage", operator_key)) == sorted([TENANT, OTHER_TENANT])
    assert tenants(f"/v1/usage?tenant={OTHER_TENANT}", operator_key) == [OTHER_TENANT]


def test_the_days_are_both_included(world: World, tenant_key: str) -> None:
    for day in ("2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"):
        used(world, day)

    answer = world.send("GET", "/v1/usage?from=2026-11-02&to=2026-11-03", key=tenant_key)

    assert [item["day"] for item in answer.document["items"]] == ["2026-11-03", "2026-11-02"]


def test_pages_lead_on_to_the_end(world: World, tenant_key: str) -> None:
    for number in range(1, 6):
        used(world, f"2026-11-0{number}", model=f"a/model-{number}")
    target: str | None = "/v1/usage?limit=2&kind=summarize"
    found = []

    while target:
        document = world.send("GET", target, key=tenant_key).document
        found += [item["day"][-1] for item in document["items"]]
        target = document["next"]

    assert found == ["5", "4", "3", "2", "1"]


def test_a_tenants_budget_of_today_is_shown(world: World, tenant_key: str) -> None:
    world.database.connection.execute(
        "INSERT INTO tenants (id, created_at, daily_budget_micros) VALUES (?, 0, 2500000)",
        (TENANT,),
    )

    document = world.send("GET", "/v1/usage", key=tenant_key).document

    assert document["budget"] == {
        "daily_usd": "2.500000",
        "spent_usd": "0.000000",
        "reserved_usd": "0.000000",
    }


@pytest.mark.parametrize(
    ("query", "faults"),
    [
        ("from=yesterday", 1),
        ("from=20261101", 1),
        ("to=2026-02-30", 1),
        ("from=2026-W48-1&to=now&limit=0&tenant=acme", 4),
        ("from=2026-11-02&to=2026-11-01", 1),
        ("from=2025-11-28&to=2026-11-29", 1),
        ("from=2026-11-01&from=2026-11-02", 1),
        ("to=0001-01-01&from=0001-01-02", 1),
    ],
)
def test_what_cannot_be_meant_is_refused_with_all_its_faults(
    world: World, tenant_key: str, query: str, faults: int
) -> None:
    answer = world.send("GET", f"/v1/usage?{query}", key=tenant_key)

    assert_problem(answer, 400, "invalid_request")
    assert len(answer.document["errors"]) == faults


def test_a_year_and_its_first_days_can_be_asked_for(world: World, tenant_key: str) -> None:
    for query in ("from=2025-11-29&to=2026-11-29", "to=0001-01-01"):
        assert world.send("GET", f"/v1/usage?{query}", key=tenant_key).status == 200


def a_cursor(parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "x",
        "%00",
        a_cursor([TENANT, "2026-11-28", "summarize", "p"]),
        a_cursor([TENANT, "2026-11-28", "summarize", "p", 5]),
        a_cursor([TENANT, "2026-11-28", "summarize", "p", "\0"]),
        a_cursor([OTHER_TENANT, "2026-11-28", "summarize", "p", "m"]),
        a_cursor({"tenant_id": TENANT}),
    ],
)
def test_a_cursor_that_is_not_ours_is_refused(world: World, tenant_key: str, cursor: str) -> None:
    answer = world.send("GET", f"/v1/usage?cursor={cursor}", key=tenant_key)

    assert answer.status == 400
    assert answer.document["code"] in ("invalid_cursor", "invalid_request")
