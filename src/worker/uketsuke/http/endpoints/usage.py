"""``GET /v1/usage``: what was used and what it cost, a row a day, kind and model."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, timedelta
from typing import Final

from uketsuke.domain.money import show_usd
from uketsuke.http.answer import PRIVATE, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response
from uketsuke.http.paging import (
    next_page,
    page_limit,
    query_fault,
    read_cursor,
    read_list_query,
    write_cursor,
)
from uketsuke.http.problem import Fault, refuse, refuse_faults
from uketsuke.services.ports.costs import DayBudget, UsageFilter, UsageItem, UsageKey, Used

QUERY: Final = frozenset({"from", "to", "kind", "limit", "cursor", "tenant"})
_USUAL_DAYS: Final = 30
_MOST_DAYS: Final = 366


async def get_usage(request: Request, context: Context) -> Response:
    """Answer a page, newest day first; for operators tenant by tenant. Totals are of all pages."""
    asked, faults = read_list_query(request.query, caller=context.caller)
    start, end, wrong = _days(asked, today=context.ports.clock.now().astimezone(UTC).date())
    faults += wrong
    if faults:
        raise refuse_faults(faults)
    tenant = context.caller.tenant_id or asked.get("tenant")
    after = _read_cursor(asked["cursor"], tenant) if "cursor" in asked else None
    wanted = UsageFilter(start=start, end=end, kind=asked.get("kind"), tenant_id=tenant)
    page = await context.ports.costs.usage(wanted, after=after, limit=page_limit(asked))
    cursor = write_cursor(page.cursor) if page.cursor else None
    document = {
        "from": start.isoformat(),
        "to": end.isoformat(),
        "items": [_show_item(item) for item in page.items],
        "totals": _show_used(page.totals),
        "budget": _show_budget(page.budget) if page.budget else None,
        "next": next_page(request.path, asked, cursor),
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


def _days(asked: Mapping[str, str], *, today: date) -> tuple[date, date, list[Fault]]:
    """Return the first and the last day that are asked for, and what is wrong with them."""
    faults: list[Fault] = []
    end = _day("to", asked, today, faults)
    usual_start = max(date.min.toordinal(), end.toordinal() - _USUAL_DAYS + 1)
    start = _day("from", asked, date.fromordinal(usual_start), faults)
    if not faults and start > end:
        faults.append(query_fault("from", f"is after to, which is {end.isoformat()}"))
    elif end - start >= timedelta(days=_MOST_DAYS):
        faults.append(query_fault("from", f"is at most {_MOST_DAYS} days before the end"))
    return start, end, faults


def _day(name: str, asked: Mapping[str, str], usual: date, faults: list[Fault]) -> date:
    text = asked.get(name)
    if text is None:
        return usual
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:  # 20261129 and weeks are ISO 8601 too
        faults.append(query_fault(name, "is a day like 2026-11-29"))
        return usual
    return day


def _show_item(item: UsageItem) -> dict[str, object]:
    key = item.key
    return {
        "day": key.day,
        "tenant_id": key.tenant_id,
        "kind": key.kind,
        "provider": key.provider or None,
        "model": key.model or None,
        **_show_used(item.used),
    }


def _show_used(used: Used) -> dict[str, object]:
    return {
        "attempts": used.attempts,
        "failed_attempts": used.failed_attempts,
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "audio_seconds": used.audio_ms / 1000,
        "cost_usd": _known(used.cost_micros, used),
        "failed_cost_usd": _known(used.failed_cost_micros, used),
        "unknown_cost_attempts": used.unknown,
    }


def _known(micros: int, used: Used) -> str | None:
    """Write a sum, as far as it is known. Nothing known is not 0."""
    return None if used.unknown and not micros else show_usd(micros)


def _show_budget(budget: DayBudget) -> dict[str, str]:
    return {
        "daily_usd": show_usd(budget.daily_micros),
        "spent_usd": show_usd(budget.spent_micros),
        "reserved_usd": show_usd(budget.reserved_micros),
    }


def _read_cursor(text: str, tenant: str | None) -> UsageKey:
    """Read the last row seen. A tenant sees no other's, whatever a cursor says."""
    key = read_cursor(text, UsageKey)
    if not all(part.isprintable() for part in key):
        raise refuse("invalid_cursor")
    if tenant is not None and key.tenant_id != tenant:
        raise refuse("invalid_cursor")
    return key
