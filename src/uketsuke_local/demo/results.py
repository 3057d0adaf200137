"""What came out of each job of the demo, for a person to judge."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from operator import mul
from typing import Any, Final

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from uketsuke_client import Client, Job
from uketsuke_local import samples
from uketsuke_local.demo.orders import NotSeen, Order

_NEAREST_SHOWN: Final = 3
# The recording is a machine's voice, and the model a small one.
_LIKE_ENOUGH: Final = 0.8


def show_result(order: Order, job: Job, *, client: Client, console: Console) -> None:
    console.print(Rule(order.name, style="dim"))
    if order.kind == "embed":
        _show_nearest(list(client.vectors(job.id)), console)
    else:
        _SHOWN[order.kind](client.result(job.id), console)
    console.print(_cost_of(order, job), style="dim", soft_wrap=not console.is_terminal)


def _show_summary(result: Mapping[str, Any], console: Console) -> None:
    summary = result.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        raise NotSeen("a summary is empty")
    console.print(Text(summary), soft_wrap=not console.is_terminal)


def _show_transcript(result: Mapping[str, Any], console: Console) -> None:
    for segment in result["segments"]:
        times = f"{segment['start']:5.1f}–{segment['end']:<5.1f}"
        console.print(Text(f"  {times} {segment['text']}"), soft_wrap=not console.is_terminal)
    spoken = samples.transcript()
    likeness = SequenceMatcher(None, _words(spoken), _words(result["text"])).ratio()
    if likeness < _LIKE_ENOUGH:
        raise NotSeen(f"the transcript is like what was spoken by {likeness:.0%} only")
    console.print(f"  {likeness:.0%} of the words as they were spoken.", style="dim")


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _show_report(result: Mapping[str, Any], console: Console) -> None:
    if not result["markdown"].startswith("# ") or any("missing" in s for s in result["sources"]):
        raise NotSeen("the report is not one, or misses a source")
    console.print(Text(result["markdown"].strip()), soft_wrap=not console.is_terminal)


def _show_nearest(vectors: Sequence[Sequence[float]], console: Console) -> None:
    passages, questions = samples.passages(), samples.questions()
    if len(vectors) != len(passages) + len(questions):
        raise NotSeen(f"{len(vectors)} vectors for {len(passages) + len(questions)} texts")
    for question, vector in zip(questions, vectors[len(passages) :], strict=True):
        ranked = sorted(
            zip(passages, vectors, strict=False), key=lambda pair: -cosine(vector, pair[1])
        )
        console.print(Text(question.text, style="bold"))
        for passage, near in ranked[:_NEAREST_SHOWN]:
            line = Text(f"  {cosine(vector, near):.3f}  {passage.text}")
            line.truncate(console.width - 1, overflow="ellipsis")
            console.print(line)
        if ranked[0][0].id not in question.nearest:
            raise NotSeen(f"the nearest passage to {question.id} is {ranked[0][0].id}")


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product: float = sum(map(mul, one, other))
    return product / (math.hypot(*one) * math.hypot(*other))


_SHOWN: Final[Mapping[str, Callable[[Mapping[str, Any], Console], None]]] = {
    "summarize": _show_summary,
    "transcribe": _show_transcript,
    "report": _show_report,
}


def _cost_of(order: Order, job: Job) -> str:
    if job.usage is None:
        raise NotSeen(f"{order.name} tells no usage")
    looks = ", ".join(f"{count} {state}" for state, count in order.looks.items())
    tokens = f"{job.usage.input_tokens} tokens in, {job.usage.output_tokens or 0} out"
    cost = job.usage.attempts_cost_usd
    free = cost is not None and not cost.strip("0.")
    price = "free: it ran here" if free else f"${cost}" if cost else "its cost is unknown"
    return f"Model {job.usage.model}; {tokens}; {price}. Looks: {looks}."
