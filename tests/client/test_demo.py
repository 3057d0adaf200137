"""What the demo demands before it says that all was seen."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from tests.client.scripted import failed_job, job
from uketsuke_client import Job
from uketsuke_local.demo.orders import NotSeen, Order, checked_end
from uketsuke_local.demo.results import cosine


def order(raw: dict[str, object], **looks: int) -> Order:
    return Order(
        name="Summarize", kind="summarize", input={}, job=Job.from_json(raw), looks=Counter(looks)
    )


def test_a_job_that_was_seen_running_and_succeeded_is_fine() -> None:
    assert checked_end(order(job("succeeded"), running=2, succeeded=1)).succeeded


@pytest.mark.parametrize("looks", [{"succeeded": 1}, {"running": 1, "succeeded": 1}])
def test_a_job_that_was_hardly_seen_running_is_not(looks: dict[str, int]) -> None:
    with pytest.raises(NotSeen, match="not seen running"):
        checked_end(order(job("succeeded"), **looks))


def test_a_job_that_failed_is_told_with_its_reason() -> None:
    with pytest.raises(NotSeen, match="provider_refused"):
        checked_end(order(failed_job(), running=5, failed=1))


def test_nearness_is_of_direction_and_not_of_length() -> None:
    assert cosine([1.0, 0.0], [3.0, 0.0]) == pytest.approx(1.0)
    assert cosine([1.0, 0.0], [0.0, 2.0]) == pytest.approx(0.0)


def test_a_stack_that_does_not_start_ends_the_demo_with_a_line_and_not_a_traceback() -> None:
    program = (
        "import sys; from uketsuke_local.demo import flow, stack;"
        "stack.COMMAND = [sys.executable, '-c', 'exit(\"no node here\")'];"
        "sys.exit(flow.main())"
    )

    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )

    assert ran.returncode == 1
    assert "The demo failed: the stack ended before it was ready" in ran.stdout
    assert "no node here" in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr
