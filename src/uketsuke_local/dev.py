"""``uketsuke dev``: the local stack in the foreground."""

from __future__ import annotations

import argparse
import json
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType

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


def run_dev(
    *, port: int, state: Path | None, json_output: bool, settings: Mapping[str, str]
) -> int:
    """Run until SIGINT or SIGTERM and return the exit code: 2 when the port is taken."""
    if not _is_free(port):
        return _refuse_port(port)
    stop = threading.Event()
    _on_signals(stop.set)
    asked = StackSettings(
        state=state or ROOT / ".uketsuke",
        port=port,
        variables=settings,
        on_log=_print_log,
    )
    try:
        with running_stack(asked) as stack:
            _announce(stack, json_output=json_output)
            return _watch(stack, stop)
    except PortTaken:
        return _refuse_port(port)
    except StackFailed as problem:
        if stop.is_set():
            return 0
        _complain(str(problem))
        return 1


def _watch(stack: RunningStack, stop: threading.Event) -> int:
    """Wait for a signal; a child that ends by itself is a failure."""
    while not stop.wait(timeout=0.5):
        for child in stack.children:
            if not child.running:
                _complain(f"{child.name} ended by itself")
                return 1
    return 0


def _announce(stack: RunningStack, *, json_output: bool) -> None:
    if not json_output:
        _say(f"{stack.url}\nready {stack.url}")
        return
    told = {
        "url": stack.url,
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


def _on_signals(stop: Callable[[], None]) -> None:
    def stopped(signum: int, frame: FrameType | None) -> None:
        stop()

    signal.signal(signal.SIGINT, stopped)
    signal.signal(signal.SIGTERM, stopped)


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


def _refuse_port(port: int) -> int:
    _complain(f"port {port} is in use: stop what listens there, or choose another with --port")
    return _USAGE


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
    asked = parser.parse_args(arguments)
    return run_dev(
        port=asked.port, state=asked.state, json_output=asked.json, settings=dict(asked.set)
    )


if __name__ == "__main__":
    sys.exit(main())
