"""`uketsuke dev` as a process: its keys, its ends, what it keeps and what it leaves behind."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.host.hosting import Log, copy_project, eventually, running_host, settings_for
from tests.host.processes import MARK, living, running_dev
from uketsuke_local.child import ChildFailed
from uketsuke_local.control import Control
from uketsuke_local.keys import load_or_mint
from uketsuke_local.runtime import WorkerSource, runtime_process, start_runtime
from uketsuke_local.stack import ROOT

KEY_NAMES = ("tenant_key", "other_tenant_key", "operator_key", "admin_key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lives:
    """Two lives of one state folder: the first ended by SIGTERM, the second by SIGKILL."""

    state: Path
    first: dict[str, Any]
    second: dict[str, Any]
    api_keys: list[dict[str, Any]]
    answers: dict[str, int]
    kept_rows: list[dict[str, Any]]
    exit_code: int
    nothing_left: tuple[bool, bool]


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Lives:
    state = tmp_path_factory.mktemp("dev") / "state"
    with running_dev(state) as dev, _control(first := dev.ready_line()) as control:
        answers = {name: _status(first, first[name]) for name in KEY_NAMES}
        answers["none"] = _status(first, "uk_none_none")
        control.add_tenant("kept", hash_secret=load_or_mint(state).hash_secret)
        exit_code = dev.end(signal.SIGTERM)
        left_by_first = dev.nothing_is_left()
    with running_dev(state) as dev, _control(second := dev.ready_line()) as control:
        api_keys = control.d1("SELECT * FROM api_keys")
        kept_rows = control.d1("SELECT id FROM tenants ORDER BY id")
        dev.end(signal.SIGKILL)
        left_by_second = dev.nothing_is_left()
    return Lives(
        state=state,
        first=first,
        second=second,
        api_keys=api_keys,
        answers=answers,
        kept_rows=kept_rows,
        exit_code=exit_code,
        nothing_left=(left_by_first, left_by_second),
    )


def _control(ready: dict[str, Any]) -> Control:
    return Control(ready["control_url"], ready["control_token"])


def _status(ready: dict[str, Any], key: str) -> int:
    answer = httpx.get(
        f"{ready['url']}/v1/jobs/job_none", headers={"authorization": f"Bearer {key}"}
    )
    return answer.status_code


def test_sigterm_ends_it_with_0(lives: Lives) -> None:
    assert lives.exit_code == 0


def test_neither_sigterm_nor_sigkill_leaves_a_process_behind(lives: Lives) -> None:
    assert lives.nothing_left == (True, True)


def test_sigterm_while_it_starts_ends_it_with_0_and_leaves_no_process_behind(
    tmp_path: Path,
) -> None:
    with running_dev(tmp_path / "state") as dev:
        eventually(lambda: len(living(dev.mark)) >= 3, what=lambda: "its children have started")

        assert dev.end(signal.SIGTERM) == 0
        assert dev.nothing_is_left()


def test_the_ready_line_says_where_all_is_and_which_keys_open_it(lives: Lives) -> None:
    assert set(lives.first) == {
        "url",
        "console_url",
        "model_url",
        "control_url",
        "control_token",
        *KEY_NAMES,
    }
    assert all(re.fullmatch(r"uk_[a-z0-9]{12}_[A-Za-z0-9]{32}", lives.first[n]) for n in KEY_NAMES)


def test_seeded_keys_are_known_and_others_are_not(lives: Lives) -> None:
    assert lives.answers == {**dict.fromkeys(KEY_NAMES, 404), "none": 401}


def test_the_state_folder_keeps_its_keys(lives: Lives) -> None:
    assert {name: lives.second[name] for name in KEY_NAMES} == {
        name: lives.first[name] for name in KEY_NAMES
    }


def test_the_keys_are_for_their_owner_only(lives: Lives) -> None:
    assert stat.S_IMODE((lives.state / "keys.json").stat().st_mode) == 0o600


def test_the_database_is_kept(lives: Lives) -> None:
    assert [row["id"] for row in lives.kept_rows] == ["demo", "kept", "other"]


@pytest.mark.parametrize(
    ("name", "tenant", "scopes"),
    [
        ("tenant_key", "demo", "jobs:read jobs:write"),
        ("other_tenant_key", "other", "jobs:read jobs:write"),
        ("operator_key", None, "operate"),
        ("admin_key", None, "admin operate"),
    ],
)
def test_a_key_is_stored_hashed_with_its_tenant_and_scopes(
    lives: Lives, name: str, tenant: str | None, scopes: str
) -> None:
    _, key_id, secret = lives.first[name].split("_")
    hash_secret = load_or_mint(lives.state).hash_secret

    (row,) = [row for row in lives.api_keys if row["id"] == key_id]

    digest = hmac.new(hash_secret.encode(), secret.encode(), hashlib.sha256).hexdigest()
    assert (row["tenant_id"], row["scopes"], row["secret_hash"]) == (tenant, scopes, digest)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def test_a_port_in_use_is_told_in_one_line_that_says_what_to_do(
    taken_port: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "uketsuke_local.dev", "--port", str(taken_port)]

    done = subprocess.run(
        [*command, "--state", str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr == (
        f"uketsuke dev: port {taken_port} is in use: stop what listens there, or choose another "
        "with --port\n"
    )


def test_a_main_module_that_cannot_be_imported_fails_the_start_with_its_traceback(
    tmp_path: Path,
) -> None:
    project = copy_project(tmp_path)
    (project / "src" / "bare.py").write_text("import src.pack\n")
    settings = settings_for(
        project, workers=[WorkerSource(path=project / "wrangler.bare.toml")], migrations=None
    )

    with (
        runtime_process(Log().add, folder=ROOT) as child,
        pytest.raises(ChildFailed) as failure,
    ):
        start_runtime(child, settings)

    text = str(failure.value)
    assert text.startswith(f"bare could not start: {project}/src/bare.py\n")
    assert 'File "/session/metadata/bare.py", line 1, in <module>' in text
    assert "ModuleNotFoundError: No module named 'src'" in text
    assert "your import statement shouldn't include a 'src.' prefix" in text


def test_a_runtime_that_is_killed_takes_workerd_with_it(
    tmp_path: Path, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK, mark)
    project = copy_project(tmp_path)
    bare = [WorkerSource(path=project / "wrangler.bare.toml")]

    with running_host(settings_for(project, workers=bare, migrations=None)) as host:
        processes = living(mark)
        os.kill(host.runtime.child.process.pid, signal.SIGKILL)

    assert len(processes) == 2
    host.eventually(lambda: not living(mark), what="both are gone")
