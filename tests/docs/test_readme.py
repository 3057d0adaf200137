"""What the README tells people to type works, and the files that it names exist."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.support.jobs import ended, submit
from tests.support.running import Stack

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str = "") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def commands(start: str) -> list[str]:
    joined = "\n".join(blocks()).replace("\\\n", " ")
    return [line for line in joined.splitlines() if line.startswith(start)]


def run(command: str, stack: Stack, *, key: str = "tenant_key") -> str:
    environment = {
        **os.environ,
        "UKETSUKE_KEY": stack.ready[key],
        "UKETSUKE_URL": stack.ready["url"],
    }
    here = command.replace("http://127.0.0.1:8787", stack.ready["url"])
    done = subprocess.run(
        ["sh", "-c", here],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_commands_of_the_quickstart_work(stack: Stack) -> None:
    submitting, status, result, embed = commands(".venv/bin/uketsuke")[:4]

    printed = run(submitting, stack)
    job = re.search(r"job_\w{26}", printed)
    assert job, printed
    assert "succeeded" in run(status.replace("job_…", job[0]), stack)
    assert "Uketsuke" in run(result.replace("job_…", job[0]), stack)
    assert '"vectors"' in run(embed, stack)


def test_the_commands_for_what_ended_badly_work(stack: Stack) -> None:
    groups, redrive = commands(".venv/bin/uketsuke")[4:]
    stack.order(count=50, status=500)
    with stack.api(stack.tenant()) as api, stack.models() as models:
        job = ended(api, submit(api, max_attempts=1))
        models.delete("/faults")

    letter = job["id"].replace("job_", "dl_")
    assert "provider_unavailable" in run(groups, stack, key="operator_key")
    assert "job_" in run(redrive.replace("dl_…", letter), stack, key="operator_key")


def test_the_request_of_the_quickstart_is_accepted(stack: Stack) -> None:
    (curl,) = commands("curl")

    answer = run(curl, stack)

    assert answer.startswith("HTTP/1.1 202")
    assert "location: /v1/jobs/job_" in answer.lower()


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", README))
def test_a_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("named", re.findall(r"`([\w/]+\.py|[\w/]+/)`", README))
def test_a_file_that_is_named_exists(named: str) -> None:
    bases = [ROOT, ROOT / "src/worker", ROOT / "src/worker/uketsuke"]

    assert any((base / named).exists() for base in bases)


def test_the_targets_of_make_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()

    for target in set(re.findall(r"make (\w+)", README)) - {"it", "s"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_readme_stays_short() -> None:
    assert len(README.splitlines()) <= 200
