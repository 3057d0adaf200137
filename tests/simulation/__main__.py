"""Play many histories: ``python -m tests.simulation --seeds 1-20000``; stop at the first failure.

The exit code is 0 if all held, 1 if one broke: its story is printed, and its seed replays it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

from tests.simulation.history import History, play
from tests.simulation.world import SharedDatabase


def main(arguments: list[str] | None = None) -> int:
    asked = _parse(arguments)
    seen: Counter[str] = Counter()
    broken = []
    started = time.process_time()
    with closing(SharedDatabase()) as shared:
        for seed in asked.seeds:
            history = play(seed, shared=shared, sharing=asked.sharing)
            seen.update(history.seen)
            if history.broken:
                broken.append(history)
                if not asked.keep_going:
                    break
    _tell(asked, broken, seen, seconds=time.process_time() - started)
    return 1 if broken else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seeds", type=_seeds, default=range(1, 2001), metavar="FROM-TO")
    parser.add_argument(
        "--keep-going", action="store_true", help="list all seeds that break a rule"
    )
    parser.add_argument("--trace", action="store_true", help="print the story even if all held")
    parser.add_argument("--brief", action="store_true", help="print the rule and the seed alone")
    parser.add_argument(
        "--sharing", type=float, default=0.0, help="how many consumer events share a process (0-1)"
    )
    return parser.parse_args(arguments)


def _seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _tell(
    asked: argparse.Namespace, broken: list[History], seen: Counter[str], *, seconds: float
) -> None:
    for line in _lines(asked, broken, seen, seconds=seconds):
        print(line)  # noqa: T201 - a command's output


def _lines(
    asked: argparse.Namespace, broken: list[History], seen: Counter[str], *, seconds: float
) -> Iterator[str]:
    if asked.keep_going or asked.brief:
        rules = Counter(history.broken for history in broken)
        for rule, count in rules.most_common():
            seeds = [history.seed for history in broken if history.broken == rule]
            yield f"{rule}: {count} ({', '.join(map(str, seeds[:10]))})"
    elif broken:
        yield broken[0].report()
    elif asked.trace:
        yield from (f"{name}: {count}" for name, count in sorted(seen.items()))
    yield f"{len(broken)} of {len(asked.seeds)} histories broke a rule; {seconds:.0f} s"


if __name__ == "__main__":
    sys.exit(main())
