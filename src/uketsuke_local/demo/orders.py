"""What the demo orders, and what it demands of each order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from uketsuke_client import Client, Job
from uketsuke_local import samples

# One look could be chance; the state must last from one poll to the next.
_LOOKS_THAT_SHOW_IT: Final = 2


class NotSeen(Exception):
    """Something that the demo exists to show did not happen."""


@dataclass(slots=True, kw_only=True)
class Order:
    """One piece of work, and what was seen of it: how many looks found which state."""

    name: str
    kind: str
    input: Any
    params: Mapping[str, Any] = field(default_factory=dict)
    route: str = "chat"  # of the model server, to make it slow
    looks: Counter[str] = field(default_factory=Counter)
    job: Job | None = None

    @property
    def seen_running(self) -> bool:
        return self.looks["running"] >= _LOOKS_THAT_SHOW_IT


def checked_end(order: Order) -> Job:
    """Return the job as it succeeded, or raise ``NotSeen`` with what was seen instead."""
    job = order.job
    if job is None or not job.succeeded:
        why = f"{job.error.code}: {job.error.message}" if job and job.error else "no error shown"
        raise NotSeen(f"{order.name} ended {job.state if job else 'nowhere'} ({why})")
    if not order.seen_running:
        raise NotSeen(f"{order.name} was not seen running: {dict(order.looks)}")
    return job


def first_orders(client: Client, *, hears: bool) -> list[Order]:
    """Order what needs nothing of the others. ``hears``: whether there is a model for speech."""
    orders = [_summary(samples.ENGLISH_ARTICLE), _summary(samples.JAPANESE_ARTICLE), _vectors()]
    return [*orders, _transcript(client)] if hears else orders


def report_order(done: Sequence[Order]) -> Order:
    """Order a report on what the others brought."""
    sources = [order.job for order in done if order.job and order.kind != "embed"]
    return Order(
        name=f"Report on {len(sources)} of these results",
        kind="report",
        input=sources,
        params={"title": "The day at the desk", "language": "en", "max_words_per_source": 60},
    )


def _summary(article: str) -> Order:
    text = samples.article(article)
    title = samples.title_of(text)
    if article == samples.ENGLISH_ARTICLE:
        name = f"Summarize “{title}”, {len(text.split()):,} words"
    else:
        name = f"Summarize 「{title}」, {len(text):,} characters"
    return Order(name=name, kind="summarize", input={"text": text}, params={"max_words": 120})


def _vectors() -> Order:
    texts = [passage.text for passage in samples.passages()]
    texts += [question.text for question in samples.questions()]
    return Order(
        name=f"Embed {len(texts)} passages and questions",
        kind="embed",
        input={"texts": texts},
        route="embeddings",
    )


def _transcript(client: Client) -> Order:
    recording = client.upload(samples.recording(), content_type="audio/ogg")
    return Order(
        name="Transcribe an announcement of 20 s",
        kind="transcribe",
        input=recording,
        route="transcriptions",
    )
