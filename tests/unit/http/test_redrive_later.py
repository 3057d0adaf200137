"""Redrives by a deployment that has changed since: refused by code, and never by content."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import msgspec

from tests.unit.http.office import SECRET, Office, run, secret
from tests.unit.http.world import assert_problem
from tests.unit.services.letters import (
    OUTAGE,
)
from uketsuke.kinds.registry import KINDS


class Fewer(msgspec.Struct, frozen=True, kw_only=True):
    """What summarize takes after a deployment that knows no style any more."""

    max_words: int = 120
    labels: dict[str, int] = {}


class Narrow(msgspec.Struct, frozen=True, kw_only=True):
    """What summarize takes after one that knows fewer words."""

    max_words: Annotated[int, msgspec.Meta(le=40)] = 40


def test_what_a_new_deployment_would_not_take_is_told_by_code_and_not_by_content(
    office: Office,
) -> None:
    async def main() -> None:
        letter = await secret(office, params={"style": "bullets", "labels": {SECRET: "x"}})
        fewer = replace(KINDS["summarize"], params=Fewer)
        later = Office(office.world, kinds={"summarize": fewer})
        patch = {"input": {"text": "another"}}

        answer = await later.redrive(letter, patch=patch)

        assert_problem(answer, 422, "not_replayable")
        assert set(answer.faults) == {
            ("/params/style", "unknown_member"), ("/params/labels", "wrong_type")
        }  # fmt: skip
        assert SECRET not in answer.body.decode()
        whole = {**patch, "params": {"style": None, "labels": None}}
        assert (await later.redrive(letter, patch=whole)).status == 202

    run(office, main)


def test_a_kind_that_was_dropped_is_told_with_and_without_a_patch(office: Office) -> None:
    async def main() -> None:
        letter = await secret(office, error=OUTAGE)
        later = Office(office.world, kinds={"embed": KINDS["embed"]})

        assert_problem(await later.redrive(letter), 422, "not_replayable")
        patched = await later.redrive(letter, patch={"max_attempts": 9})

        assert_problem(patched, 422, "not_replayable")
        assert ("/kind", "unknown_kind") in patched.faults

    run(office, main)


def test_a_parameter_that_the_deployment_dropped_is_not_left_out_silently(office: Office) -> None:
    async def main() -> None:
        styled = await secret(office, error=OUTAGE, params={"style": "bullets"})
        plain = await secret(office, error=OUTAGE, params={"max_words": 50})
        fewer = replace(KINDS["summarize"], params=Fewer)
        later = Office(office.world, kinds={"summarize": fewer})

        assert_problem(await later.redrive(styled), 422, "not_replayable")
        narrow = replace(KINDS["summarize"], params=Narrow)
        narrower = Office(office.world, kinds={"summarize": narrow})
        assert_problem(await narrower.redrive(plain), 422, "not_replayable")
        assert (await later.redrive(plain)).status == 202

    run(office, main)
