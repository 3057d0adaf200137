"""The simulator finds bugs: a few of the mutations, those that it catches soonest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulation.mutation_list import Mutation
from tests.simulation.mutations import ALL, copied_tree, try_out

_ROOT = Path(__file__).parents[2]
_QUICK = (
    "a settle is not fenced by its lease token",
    "a lease takes over what has not expired",
    "attempts are counted when they fail, not when they are leased",
    "the sweep sends nothing again",
    "expired leases are not taken back",
    "a poison job may crash as often as it has attempts",
    "a settle buries its dead letter later",
    "a settle whose answer was lost is not asked about",
    "the idempotency key is not looked up",
    "the run key is not unique",
    "a run is ended or nudged though it was heard of",
    "nudges are not counted",
    "a life does not look at what was kept before it began",
    "a start fails for a run key whose holder has outlived its time",
    "doomed instances are forgotten, not ended",
    "any number of jobs may probe a lane",
    "a letter is redriven though it is not open",
    "an act on a letter that is resolved is on record",
    "a letter that is written again is open again",
    "a bulk redrive takes up what failed after its start",
)


@pytest.fixture(scope="module")
def tree() -> Iterator[Path]:
    with copied_tree() as tree:
        yield tree


@pytest.mark.parametrize("mutation", ALL, ids=lambda mutation: mutation.name)
def test_a_mutation_still_fits_the_product(mutation: Mutation) -> None:
    assert (_ROOT / mutation.file).read_text().count(mutation.old) == 1


@pytest.mark.parametrize("name", _QUICK)
def test_a_missing_guard_is_noticed(tree: Path, name: str) -> None:
    (mutation,) = [mutation for mutation in ALL if mutation.name == name]

    assert try_out(mutation, tree, seeds=200)
