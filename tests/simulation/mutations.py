"""Break the product on purpose, one guard at a time, and see the simulator notice each.

``python -m tests.simulation.mutations`` prints a table: the mutation, the seeds until it was
caught, the rule that caught it. The exit code is 1 if one survives, 2 if one no longer fits.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.simulation.mutation_letters import LETTER_MUTATIONS
from tests.simulation.mutation_list import MUTATIONS, Mutation

ALL: Final = (*MUTATIONS, *LETTER_MUTATIONS)
_ROOT = Path(__file__).parents[2]
_PARTS = ("src/worker", "tests/simulation", "tests/support", "migrations")
_BROKE = re.compile(r"^(?P<rule>[a-z-]+): \d+ \((?P<seed>\d+)\)$", re.MULTILINE)


class DoesNotFit(Exception):
    """The product no longer has the text that a mutation replaces: renew the mutation."""


@dataclass(frozen=True, slots=True)
class Caught:
    """After how many seeds, and by which rule."""

    seeds: int
    rule: str


@contextmanager
def copied_tree() -> Iterator[Path]:
    """A copy of what the simulator needs of the project, to be mutated."""
    with tempfile.TemporaryDirectory(prefix="uketsuke-mutation-") as name:
        tree = Path(name)
        for part in _PARTS:
            ignored = shutil.ignore_patterns("__pycache__", "python_modules")
            shutil.copytree(_ROOT / part, tree / part, ignore=ignored)
        (tree / "tests" / "__init__.py").touch()
        yield tree


def try_out(mutation: Mutation, tree: Path, *, seeds: int) -> Caught | None:
    """Apply one mutation, play histories until a rule breaks, and undo it."""
    path = tree / mutation.file
    before = path.read_text()
    if before.count(mutation.old) != 1:
        raise DoesNotFit(f"{mutation.name}: found {before.count(mutation.old)} times")
    path.write_text(before.replace(mutation.old, mutation.new))
    try:
        return _play(tree, seeds=seeds)
    finally:
        path.write_text(before)


def _play(tree: Path, *, seeds: int) -> Caught | None:
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src/worker'}:{tree}"}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "tests.simulation", "--brief", "--seeds", f"1-{seeds}"]
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    found = _BROKE.search(done.stdout)
    if found is None:
        raise DoesNotFit(f"the simulator did not run:\n{done.stdout}{done.stderr}")
    return Caught(int(found["seed"]), found["rule"])


def run_all(mutations: Sequence[Mutation], *, seeds: int) -> int:
    """Try all of them and print the table; return the exit code."""
    survivors = 0
    with copied_tree() as tree:
        for mutation in mutations:
            caught = try_out(mutation, tree, seeds=seeds)
            survivors += caught is None
            told = f"{caught.seeds:>6}  {caught.rule}" if caught else "     -  SURVIVED"
            print(f"{mutation.name:<58} {told}", flush=True)  # noqa: T201 - a command's output
    return 1 if survivors else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation.mutations", description=__doc__
    )
    parser.add_argument("--seeds", type=int, default=3000, help="how many to try at most, each")
    parser.add_argument("--only", default="", help="those with this in their name")
    asked = parser.parse_args(arguments)
    chosen = [mutation for mutation in ALL if asked.only in mutation.name]
    try:
        return run_all(chosen, seeds=asked.seeds)
    except DoesNotFit as error:
        print(error, file=sys.stderr)  # noqa: T201 - a command's output
        return 2


if __name__ == "__main__":
    sys.exit(main())
