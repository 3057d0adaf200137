"""``uketsuke dev`` and ``models`` call what they mean to call, or say what is missing."""

from __future__ import annotations

import inspect
import sys

import pytest

from tests.client.command_run import Command
from uketsuke_local.dev import run_dev
from uketsuke_local.models.server import serve


@pytest.mark.parametrize(
    ("name", "module"),
    [("dev", "uketsuke_local.dev"), ("models", "uketsuke_local.models.server")],
)
def test_a_local_stack_that_is_not_installed_is_said_in_one_line(
    command: Command, monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)

    ran = command(name)

    assert ran.code == 2
    assert "pip install 'uketsuke[local]'" in ran.err
    assert len(ran.err.splitlines()) == 1


# The command loads both by name, so that no type checker sees the calls.
def test_the_stack_takes_what_the_command_gives() -> None:
    inspect.signature(run_dev).bind(port=8787, state=None, json_output=False, settings={})


def test_the_model_server_takes_what_the_command_gives() -> None:
    inspect.signature(serve).bind(
        host="127.0.0.1", port=8788, json_output=False, warm=False, api_key=None
    )


def test_a_setting_without_a_value_is_wrong_usage(command: Command) -> None:
    ran = command("dev", "--set", "LEASE_SECONDS")

    assert ran.code == 2
    assert "NAME=VALUE" in ran.err
