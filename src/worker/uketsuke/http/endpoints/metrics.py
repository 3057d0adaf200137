"""``GET /v1/metrics``: how the deployment does, in figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from uketsuke.domain.condition import Condition, ConditionName, LetterFigures
from uketsuke.http.answer import PRIVATE, json_answer, rfc3339
from uketsuke.http.context import Context
from uketsuke.http.message import Request, Response

_DEAD_LETTER_QUEUE: Final = "uketsuke-jobs-dlq"


async def get_metrics(_request: Request, context: Context) -> Response:
    """Count the dead letters now, and tell the conditions as the sweep left them."""
    conditions = await context.ports.conditions.kept()
    document = {
        "at": rfc3339(context.ports.clock.now()),
        "dead_letters": _show_letters(await context.ports.conditions.figures()),
        "conditions": [_show_condition(each) for each in conditions],
        "queues": {_DEAD_LETTER_QUEUE: {"oldest_seconds": _dlq_oldest(conditions)}},
    }
    return json_answer(200, document, headers=PRIVATE)


def _show_letters(figures: LetterFigures) -> dict[str, int]:
    return {
        "open": figures.open,
        "past_triage": figures.past_triage,
        "expiring": figures.expiring,
        "last_hour": figures.last_hour,
    }


def _show_condition(condition: Condition) -> dict[str, object]:
    return {
        "name": condition.name,
        "value": condition.value,
        "limit": condition.bound,
        "compared_to": condition.compared_to,
        "holds": condition.holds,
        "since": rfc3339(condition.since) if condition.since else None,
        "computed_at": rfc3339(condition.computed_at),
    }


def _dlq_oldest(conditions: Sequence[Condition]) -> int | None:
    """Only the consumer can ask that queue: what its sweep was told last."""
    told = (each.value for each in conditions if each.name == ConditionName.DLQ_OLDEST)
    return next(told, None)
