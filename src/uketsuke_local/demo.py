"""``make demo``: the main job end to end, on a stack of its own that is gone afterwards.

It judges what it shows. Exit 0 means that each job was accepted with a 202, was seen
``running`` more than once, succeeded, and gave the right kind of result.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import mul
from types import FrameType
from typing import Any, NoReturn

import httpx
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.rule import Rule
from rich.text import Text

from uketsuke_client import ApiError, Client, Job, UnexpectedAnswer, Unreachable
from uketsuke_local import samples
from uketsuke_local.demo_stack import Stack, StackFailed, running_stack

_POLL_SECONDS = 0.1
_JOBS_WITHIN_SECONDS = 60.0
_LOOKS_THAT_SHOW_IT = 2  # one could be chance; the state must last from one poll to the next
_NEAREST_SHOWN = 3


class NotSeen(Exception):
    """Something that the demo exists to show did not happen."""


@dataclass(slots=True, kw_only=True)
class Order:
    """One piece of work, and what was seen of it: how many looks found which state."""

    name: str
    kind: str
    input: Mapping[str, Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    route: str = "chat"  # of the model server, to make it slow
    looks: Counter[str] = field(default_factory=Counter)
    job: Job | None = None

    @property
    def seen_running(self) -> bool:
        return self.looks["running"] >= _LOOKS_THAT_SHOW_IT


def main() -> int:
    console = Console(highlight=False, markup=False)
    signal.signal(signal.SIGTERM, _stop)
    try:
        _demonstrate(console)
    except (NotSeen, StackFailed, ApiError, Unreachable, UnexpectedAnswer) as error:
        console.print(f"The demo failed: {error}", style="bold red", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        console.print("Interrupted; the stack is stopped.", style="yellow")
        return 130
    return 0


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    """End by an exception, so that the stack is stopped too."""
    sys.exit(128 + number)


def _demonstrate(console: Console) -> None:
    began = time.monotonic()
    console.print("Starting Uketsuke on this machine: no account, no network.")
    with running_stack() as stack:
        console.print(f"Ready at {stack.url} after {_since(began)}.")
        orders = _orders()
        with Client(stack.url, stack.key) as client:
            _work_off(orders, client=client, stack=stack, console=console)
            for order in orders:
                _show_result(order, checked_end(order), client=client, console=console)
    console.print(Rule(style="dim"))
    told = f"All of it was seen: {len(orders)} jobs accepted, running and succeeded"
    console.print(
        f"{told}, in {_since(began)}. The stack is stopped.", style="green", soft_wrap=True
    )


def _orders() -> list[Order]:
    texts = [passage.text for passage in samples.passages()]
    texts += [question.text for question in samples.questions()]
    english, japanese = (
        samples.article(name) for name in (samples.ENGLISH_ARTICLE, samples.JAPANESE_ARTICLE)
    )
    return [
        Order(
            name=f"Summarize “{samples.title_of(english)}”, {len(english.split()):,} words",
            kind="summarize",
            input={"text": english},
            params={"max_words": 120},
        ),
        Order(
            name=f"Summarize 「{samples.title_of(japanese)}」, {len(japanese):,} characters",
            kind="summarize",
            input={"text": japanese},
            params={"max_words": 120},
        ),
        Order(
            name=f"Embed {len(texts)} passages and questions",
            kind="embed",
            input={"texts": texts},
            route="embeddings",
        ),
    ]


def _work_off(orders: Sequence[Order], *, client: Client, stack: Stack, console: Console) -> None:
    """Bring each order to its end, and see it running on the way."""
    console.print(Rule("202: accepted, which means durable, not done", style="dim"))
    for order in orders:
        _submit(order, client=client, console=console)
    _follow(orders, client=client, console=console)
    unseen = [order for order in orders if order.job and order.job.succeeded]
    unseen = [order for order in unseen if not order.seen_running]
    for order in unseen:
        console.print(
            f"{order.name} was too fast to be seen running. The model server is told to take a "
            "second more for its next calls, and the job is done again.",
            style="yellow",
            soft_wrap=not console.is_terminal,
        )
        slow = {"count": 3, "seconds": 1, "route": order.route}
        httpx.post(f"{stack.model_url}/faults", json=slow).raise_for_status()
        _submit(order, client=client, console=console)
        _follow([order], client=client, console=console)
        httpx.delete(f"{stack.model_url}/faults").raise_for_status()


def _submit(order: Order, *, client: Client, console: Console) -> None:
    began = time.monotonic()
    accepted = client.submit(order.kind, input=order.input, params=order.params)
    if accepted.location != f"/v1/jobs/{accepted.id}":
        raise NotSeen(f"the 202 for {accepted.id} has the Location {accepted.location}")
    order.job = accepted
    order.looks.clear()
    took = 1000 * (time.monotonic() - began)
    console.print(order.name, style="bold")
    console.print(f"  202 after {took:.0f} ms, Location: {accepted.location}", soft_wrap=True)


def _follow(orders: Sequence[Order], *, client: Client, console: Console) -> None:
    give_up_at = time.monotonic() + _JOBS_WITHIN_SECONDS
    console.print(Rule(f"Following, a look each {_POLL_SECONDS:g} s", style="dim"))
    with _board(console) as board:
        live = list(orders)
        while live:
            for order in live:
                _look(order, client=client, board=board)
            live = [order for order in live if order.job and not order.job.terminal]
            if time.monotonic() > give_up_at:
                names = ", ".join(order.name for order in live)
                raise NotSeen(f"not finished after {_JOBS_WITHIN_SECONDS:g} s: {names}")
            time.sleep(_POLL_SECONDS if live else 0)


def _look(order: Order, *, client: Client, board: Board) -> None:
    assert order.job is not None  # it was submitted
    job = client.job(order.job.id)
    order.looks[job.state] += 1
    order.job = job
    board.show(order, job)


def checked_end(order: Order) -> Job:
    """Return the job as it succeeded, or raise ``NotSeen`` with what was seen instead."""
    job = order.job
    if job is None or not job.succeeded:
        why = f"{job.error.code}: {job.error.message}" if job and job.error else "no error shown"
        raise NotSeen(f"{order.name} ended {job.state if job else 'nowhere'} ({why})")
    if not order.seen_running:
        raise NotSeen(f"{order.name} was not seen running: {dict(order.looks)}")
    return job


class Board:
    """Where each job stands: live bars on a terminal, a line for each change elsewhere."""

    def __init__(self, console: Console, progress: Progress | None) -> None:
        self._console = console
        self._progress = progress
        self._shown: dict[str, Any] = {}

    def show(self, order: Order, job: Job) -> None:
        done = f"{job.progress.done}/{job.progress.total}" if job.progress else ""
        if self._progress is not None:
            self._draw(self._progress, job, words=_words(order, job, done=done))
        elif self._shown.get(job.id) != (job.state, done):
            self._shown[job.id] = (job.state, done)
            self._console.print(f"  {job.id}: {job.state} {done}".rstrip(), soft_wrap=True)

    def _draw(self, progress: Progress, job: Job, *, words: str) -> None:
        if job.id not in self._shown:
            self._shown[job.id] = progress.add_task(job.id, total=None, words="")
        total = job.progress.total if job.progress else None
        done = job.progress.done if job.progress else 0
        if job.terminal:
            total = done = total or 1
        progress.update(self._shown[job.id], total=total, completed=done, words=words)


def _words(order: Order, job: Job, *, done: str) -> str:
    running = order.looks["running"]
    return f"{job.state:<9} {done:<4} " + (f"seen running {running} times" if running else "")


@contextmanager
def _board(console: Console) -> Iterator[Board]:
    if not console.is_terminal:
        yield Board(console, None)
        return
    columns = [
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[words]}", markup=False),
    ]
    with Progress(*columns, console=console) as progress:
        yield Board(console, progress)


def _show_result(order: Order, job: Job, *, client: Client, console: Console) -> None:
    console.print(Rule(order.name, style="dim"))
    result = client.result(job.id)
    if order.kind == "embed":
        _show_nearest(result, console=console)
    else:
        _show_summary(result, console=console)
    console.print(_cost_of(order, job), style="dim", soft_wrap=not console.is_terminal)


def _show_summary(result: Mapping[str, Any], *, console: Console) -> None:
    summary = result.get("summary")
    if not isinstance(summary, str) or not summary.strip():
        raise NotSeen("a summary is empty")
    console.print(Text(summary), soft_wrap=not console.is_terminal)


def _show_nearest(result: Mapping[str, Any], *, console: Console) -> None:
    passages, questions = samples.passages(), samples.questions()
    vectors = result["vectors"]
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


def _cost_of(order: Order, job: Job) -> str:
    if job.usage is None:
        raise NotSeen(f"{order.name} tells no usage")
    looks = ", ".join(f"{count} {state}" for state, count in order.looks.items())
    tokens = f"{job.usage.input_tokens} tokens in, {job.usage.output_tokens or 0} out"
    cost = job.usage.attempts_cost_usd
    free = cost is not None and not cost.strip("0.")
    price = "free: it ran here" if free else f"${cost}" if cost else "its cost is unknown"
    return f"Model {job.usage.model}; {tokens}; {price}. Looks: {looks}."


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"


if __name__ == "__main__":
    sys.exit(main())
