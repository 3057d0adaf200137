"""The runbook: its commands work on the real stack, and nothing that can happen is missing.

Blocks are run one by one, in any order, with the variables that the page says they need. Each has
dead letters of its own to act upon.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.jobs import ended, submit
from tests.support.running import Stack
from uketsuke.domain.condition import ConditionName
from uketsuke.domain.dead_letter import Verdict
from uketsuke.domain.failure import ErrorClass, Road
from uketsuke_client.command import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operating.md").read_text()
FINGERPRINT = "summarize:unavailable:provider_unavailable:extractive-e5"
# Many can be had at once, and each block that acts on one takes its own.
_POOL = 8
_NEEDS_A_SHELL = re.compile(r"\$\(|[>|&;]")
_OUTAGE, _BAD_INPUT = {"status": 500}, {"status": 422}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """A tenant some of whose jobs have failed, and their open dead letters."""

    id: str
    letters: list[str] = field(default_factory=list)


def tenant_with(stack: Stack, *, failures: int, fault: dict[str, Any], attempts: int = 1) -> Tenant:
    key = stack.tenant()
    stack.order(count=50, **fault)  # more than ours: jobs of another test may still be at work
    with stack.api(key) as api, stack.models() as models:
        jobs = [submit(api, max_attempts=attempts) for _ in range(failures)]
        assert {ended(api, job)["state"] for job in jobs} == {"failed"}
        models.delete("/faults")
    letters = [f"dl_{job['id'].removeprefix('job_')}" for job in jobs]
    return Tenant(id=stack.tenant_of(key), letters=letters)


@pytest.fixture(scope="module")
def outage(stack: Stack) -> Tenant:
    return tenant_with(stack, failures=_POOL, fault=_OUTAGE)


@pytest.fixture(scope="module")
def bad_input(stack: Stack) -> Tenant:
    # With as many attempts as most jobs have, and the page's patch that leaves the work as it was.
    return tenant_with(stack, failures=4, fault=_BAD_INPUT, attempts=5)


@contextmanager
def swept(stack: Stack) -> Iterator[None]:
    """Let the sweep come again and again, so that what it drives need not wait for minutes."""
    over = threading.Event()

    def sweep() -> None:
        while not over.wait(0.3):
            stack.sweep()

    thread = threading.Thread(target=sweep)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@dataclass(frozen=True, kw_only=True)
class Terminal:
    """Where an operator types, with the variables that the page speaks of."""

    stack: Stack
    here: Path
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, block: str, *, tenant: Tenant) -> str:
        """Run a block and return what it printed; it must end well."""
        for name, value in self._variables(tenant, block).items():
            self.monkeypatch.setenv(name, value)
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = self._shell(block) if _NEEDS_A_SHELL.search(block) else _commands(block)
        assert code == 0, f"{block}\n{out.getvalue()}{err.getvalue()}"
        return out.getvalue()

    def _variables(self, tenant: Tenant, block: str) -> dict[str, str]:
        return {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "UKETSUKE_URL": self.stack.ready["url"],
            "UKETSUKE_KEY": self.stack.ready["operator_key"],
            "TENANT": tenant.id,
            "FINGERPRINT": FINGERPRINT,
            "LETTER": tenant.letters.pop() if "$LETTER" in block else "",
        }

    def _shell(self, block: str) -> int:
        done = subprocess.run(
            ["sh", "-eu", "-c", block],
            cwd=self.here,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        sys.stdout.write(done.stdout)
        sys.stderr.write(done.stderr)
        return done.returncode


def _commands(block: str) -> int:
    """Run a block's commands in this process, which is several times as fast."""
    for line in block.replace("\\\n", " ").splitlines():
        program, *argv = shlex.split(os.path.expandvars(line))
        assert program == "uketsuke", line
        code = main(argv)
        if code:
            return code
    return 0


@pytest.fixture
def terminal(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(stack=stack, here=tmp_path, monkeypatch=monkeypatch)


@pytest.mark.parametrize("block", [b for b in blocks("sh") if "RUN=" not in b])
def test_what_the_page_tells_to_type_works(
    terminal: Terminal, outage: Tenant, bad_input: Tenant, block: str
) -> None:
    patched = "--patch" in block and "max_cost_usd" not in block

    terminal(block, tenant=bad_input if patched else outage)


@pytest.mark.parametrize("block", [b for b in blocks("sh") if "RUN=" in b])
def test_a_bulk_redrive_goes_as_the_page_says(stack: Stack, terminal: Terminal, block: str) -> None:
    tenant = tenant_with(stack, failures=2, fault=_OUTAGE)
    to_its_end = "redrives follow" in block

    with swept(stack) if to_its_end else nullcontext():
        terminal(block, tenant=tenant)

    with stack.api("operator_key") as api:
        runs = api.get("/v1/redrives").json()["items"]
    (state,) = (each["state"] for each in runs if each["filter"]["tenant"] == tenant.id)
    assert state == ("done" if to_its_end else "stopped")


@pytest.mark.parametrize("statement", blocks("sql"))
def test_a_statement_of_the_page_is_one_that_the_database_takes(
    stack: Stack, statement: str
) -> None:
    stack.d1(statement)


def test_what_the_page_calls_a_dead_letter_that_needs_a_patch_is_refused_without(
    stack: Stack, bad_input: Tenant
) -> None:
    path = f"/v1/dead-letters/{bad_input.letters.pop()}/redrive"

    with stack.api("operator_key") as api:
        answer = api.post(path, json={"reason": "as it was"})

    assert (answer.status_code, answer.json()["code"]) == (422, "not_replayable")


@pytest.mark.parametrize(
    "heading",
    [
        *(f"### Class: {each}" for each in ErrorClass),
        *(f"### Road: {each}" for each in Road),
        *(f"### Verdict: {each}" for each in Verdict),
    ],
)
def test_whatever_an_operator_may_meet_has_its_section(heading: str) -> None:
    assert re.search(rf"^{re.escape(heading)}$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", ConditionName)
def test_each_condition_has_its_row(name: str) -> None:
    assert f"| `{name}` |" in PAGE


def test_a_link_of_the_page_leads_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}

    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        if target.startswith("#"):
            assert target[1:] in anchors, target
        else:
            assert (ROOT / "docs" / target.partition("#")[0]).exists(), target
