"""How the deployment does: in figures of now, over time, and for Prometheus to scrape."""

from __future__ import annotations

from typing import Final

from uketsuke.domain.series import Range
from uketsuke.http.accept import choose
from uketsuke.http.answer import PRIVATE, json_answer, tagged_answer
from uketsuke.http.context import Context
from uketsuke.http.exposition import Format, write_families
from uketsuke.http.message import Request, Response
from uketsuke.http.metric_families import families_of
from uketsuke.http.metrics_view import show_overview, show_stretch
from uketsuke.http.paging import query_fault
from uketsuke.http.problem import refuse_faults
from uketsuke.services.metrics import letters_of, overview, series

SERIES_QUERY: Final = frozenset({"range"})
_PRIVATE: Final = (("cache-control", "private, no-cache"), ("vary", "Authorization, Accept"))


async def get_metrics(_request: Request, context: Context) -> Response:
    """Tell everything as JSON, in at most five calls to the database, the key's included."""
    conditions = await context.ports.conditions.kept()
    letters = await letters_of(conditions, ports=context.ports)
    seen = await overview(context.ports)
    document = show_overview(seen, letters=letters, conditions=conditions)
    # No entity tag: the time it is as of is never the same.
    return json_answer(200, document, headers=PRIVATE)


async def get_metrics_series(request: Request, context: Context) -> Response:
    """Tell what was counted in each stretch of a range; without any, zeros."""
    span = _range(request)
    points = await series(span, ports=context.ports)
    document = {
        "range": span,
        "step_seconds": int(span.length.total_seconds()),
        "points": [show_stretch(point) for point in points],
    }
    return tagged_answer(document, asked=request.headers, headers=PRIVATE)


def _range(request: Request) -> Range:
    asked = request.query.get("range", (Range.HOUR,))
    if len(asked) == 1 and asked[0] in set(Range):
        return Range(asked[0])
    raise refuse_faults([query_fault("range", f"is one of {', '.join(Range)}")])


async def scrape_metrics(request: Request, context: Context) -> Response:
    """Tell the same as OpenMetrics, or in the classic format to whoever wants that more."""
    conditions = await context.ports.conditions.kept()
    letters = await letters_of(conditions, ports=context.ports)
    families = families_of(await overview(context.ports), letters=letters, conditions=conditions)
    # Whoever accepts neither gets what the path is for: scrapers send all sorts of things.
    form = Format(choose(request.headers.get("accept"), list(Format)) or Format.OPEN_METRICS)
    headers = (("content-type", form.content_type), *_PRIVATE)
    body = write_families(families, form=form).encode()
    return Response(status=200, headers=headers, body=body)
