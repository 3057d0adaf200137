"""``python -m uketsuke_local.models``: the model server in the foreground."""

from __future__ import annotations

import argparse
import sys

from uketsuke_local.models.server import CALLS_A_LANE, serve


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    return serve(
        host=asked.host,
        port=asked.port,
        json_output=asked.json,
        warm=asked.warm,
        api_key=asked.api_key,
        exit_with_stdin=asked.exit_with_stdin,
        calls_a_lane=asked.calls_a_lane,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m uketsuke_local.models",
        description="The OpenAI routes on this machine, for the local stack and its tests.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--json", action="store_true", help="say ready in JSON")
    parser.add_argument("--warm", action="store_true", help="load the embeddings before ready")
    parser.add_argument("--api-key", metavar="K", help="the bearer key that calls must carry")
    parser.add_argument(
        "--exit-with-stdin", action="store_true", help="stop when standard input ends"
    )
    parser.add_argument(
        "--calls-a-lane",
        type=int,
        default=CALLS_A_LANE,
        metavar="N",
        help="calls an engine takes, running and waiting, before it answers 429 (%(default)s)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
