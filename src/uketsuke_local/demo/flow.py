"""The demo's course: start a stack, order, follow, show."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

import httpx
from rich.console import Console
from rich.rule import Rule

from uketsuke_client import ApiError, Client, UnexpectedAnswer, Unreachable
from uketsuke_local.demo.board import Board, open_board
from uketsuke_local.demo.orders import NotSeen, Order, checked_end, first_orders, report_order
from uketsuke_local.demo.results import show_result
from uketsuke_local.demo.stack import Stack, StackFailed, running_stack
from uketsuke_local.models.weights import COMMAND as BRING_WEIGHTS

_POLL_SECONDS = 0.1
_JOBS_WITHIN_SECONDS = 60.0


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
        with Client(stack.url, stack.key) as client:
            orders = first_orders(client, hears=_hears(stack, console))
            _work_off(orders, client=client, stack=stack, console=console)
            report = report_order(orders)
            _work_off([report], client=client, stack=stack, console=console)
            orders.append(report)
            for order in orders:
                show_result(order, checked_end(order), client=client, console=console)
    console.print(Rule(style="dim"))
    told = f"All of it was seen: {len(orders)} jobs accepted, running and succeeded"
    console.print(
        f"{told}, in {_since(began)}. The stack is stopped.", style="green", soft_wrap=True
    )


def _hears(stack: Stack, console: Console) -> bool:
    """Whether the speech model's weights are here; says so if not."""
    health = httpx.get(f"{stack.model_url}/healthz").raise_for_status().json()
    if health["engines"]["speech"]["weights"]:
        return True
    line = f"Transcription is skipped: the speech model is not here ({BRING_WEIGHTS})."
    console.print(line, style="yellow", soft_wrap=True)
    return False


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
    with open_board(console) as board:
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


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.1f} s"
