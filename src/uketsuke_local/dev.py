"""``uketsuke dev``: the local stack in the foreground."""

from __future__ import annotations

import argparse
import json
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType

from uketsuke.settings import NAMES, BadSettings, read_settings
from uketsuke_local.child import Message
from uketsuke_local.stack import (
    ROOT,
    PortTaken,
    RunningStack,
    StackFailed,
    StackSettings,
    running_stack,
)

DEFAULT_PORT = 8787
_USAGE = 2
_LOOK_EVERY_SECONDS = 0.5
_PORT_FREE_WITHIN_SECONDS = 2.0


class _Stopped(BaseException):
    """SIGINT or SIGTERM: unwinds whatever is being done, so that all children are ended."""


def run_dev(
    *,
    port: int,
    state: Path | None,
    json_output: bool,
    settings: Mapping[str, str],
    fire_crons: bool = True,
) -> int:
    """Run until SIGINT or SIGTERM and return the exit code: 2 when the port is taken."""
    mistakes = _mistakes_in(settings)
    if mistakes:
        _complain(mistakes)
        return _USAGE
    asked = StackSettings(
        state=state or ROOT / ".uketsuke",
        port=port,
        variables=settings,
        fire_crons=fire_crons,
        on_log=_print_log,
    )
    try:
        _raise_on_signals()
        _wait_until_free(port)
        with running_stack(asked) as stack:
            _announce(stack, json_output=json_output)
            return _watch(stack)
    except _Stopped:
        return 0
    except PortTaken:
        _complain(f"port {port} is in use: stop what listens there, or choose another with --port")
        return _USAGE
    except StackFailed as problem:
        _complain(str(problem))
        return 1


def _mistakes_in(settings: Mapping[str, str]) -> str | None:
    """Say what is wrong with the settings before anything is started."""
    unknown = sorted(settings.keys() - NAMES.keys())
    if unknown:
        return f"no such setting: {', '.join(unknown)}; docs/settings.md lists them"
    try:
        read_settings(settings)
    except BadSettings as mistakes:
        return str(mistakes)
    return None


def _watch(stack: RunningStack) -> int:
    """Wait for a signal; a child that ends by itself is a failure."""
    while True:
        for child in stack.children:
            if not child.running:
                _complain(f"{child.name} ended by itself")
                return 1
        time.sleep(_LOOK_EVERY_SECONDS)


def _announce(stack: RunningStack, *, json_output: bool) -> None:
    if not json_output:
        _say(
            f"{stack.url}\n"
            f"  key of the tenant demo:   {stack.keys.tenant_key}\n"
            f"  key of the tenant other:  {stack.keys.other_tenant_key}\n"
            f"  key of an operator:       {stack.keys.operator_key}\n"
            f"  model server:             {stack.model_url}\n"
            f"  console, for any key:     {stack.url}/console/\n"
            f"ready {stack.url}"
        )
        return
    told = {
        "url": stack.url,
        "console_url": f"{stack.url}/console/",
        "model_url": stack.model_url,
        "tenant_key": stack.keys.tenant_key,
        "other_tenant_key": stack.keys.other_tenant_key,
        "operator_key": stack.keys.operator_key,
        "admin_key": stack.keys.admin_key,
        "control_url": stack.control_url,
        "control_token": stack.control_token,
    }
    _say(json.dumps(told))


def _print_log(message: Message) -> None:
    """The Workers' lines go to standard error: standard output is for the ready line."""
    if message.get("event") == "log":
        worker = message["worker"] or "workerd"
        sys.stderr.write(f"[{worker}] {message['line']}\n")


def _raise_on_signals() -> None:
    """The first signal raises; others that come while all is being ended change nothing."""

    def stop(signum: int, frame: FrameType | None) -> None:
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_IGN)
        raise _Stopped

    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, stop)


def _wait_until_free(port: int) -> None:
    """Raise ``PortTaken`` unless the port is free soon: a stack just killed may still hold it."""
    give_up_at = time.monotonic() + _PORT_FREE_WITHIN_SECONDS
    while not _is_free(port):
        if time.monotonic() > give_up_at:
            raise PortTaken
        time.sleep(_LOOK_EVERY_SECONDS / 5)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _complain(text: str) -> None:
    sys.stderr.write(f"uketsuke dev: {text}\n")


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m uketsuke_local.dev", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--state", type=Path, metavar="DIR")
    parser.add_argument("--json", action="store_true", help="print the ready line as JSON")
    parser.add_argument("--set", type=_setting, action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--no-crons", action="store_true", help="fire crons only by order")
    asked = parser.parse_args(arguments)
    return run_dev(
        port=asked.port,
        state=asked.state,
        json_output=asked.json,
        settings=dict(asked.set),
        fire_crons=not asked.no_crons,
    )


if __name__ == "__main__":
    sys.exit(main())
