"""An HTTP request comes in."""

from __future__ import annotations

from typing import Any, Final

from uketsuke.adapters.cloudflare.http import read_request, write_response
from uketsuke.http.app import App, answer_misconfigured, respond
from uketsuke.kinds.registry import KINDS
from uketsuke.settings import BadSettings
from uketsuke.telemetry import event
from uketsuke.wiring import api_needs, build_ports

# Outlives requests: it holds plain values only, never what one request could wait for.
_APP: Final = App(kinds=KINDS)


async def handle_request(raw: Any, env: Any) -> Any:
    """Answer a raw Request with a raw Response."""
    try:
        ports = build_ports(env, needs=api_needs)
    except BadSettings as mistakes:
        event("bad_settings", error_code=str(mistakes))
        return write_response(answer_misconfigured())
    return write_response(await respond(read_request(raw), app=_APP, ports=ports))
