"""A reader whose clock is wrong is told how long ago things were, all the same."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.console.visitor import Visitor
from tests.support.jobs import ended, submit

SKEWED = """
const real = Date;
window.Date = class extends real {
  constructor(...given) { given.length ? super(...given) : super(real.now() + %d); }
  static now() { return real.now() + %d; }
};
"""


@pytest.mark.parametrize("minutes", [40, -40])
def test_what_has_just_ended_has_just_ended(visitor: Visitor, minutes: int) -> None:
    page, key = visitor.page, visitor.stack.tenant()
    with visitor.stack.api(key) as api:
        job = ended(api, submit(api))["id"]
    page.add_init_script(SKEWED % (minutes * 60_000, minutes * 60_000))
    visitor.open(f"#/jobs/{job}", key=key)
    standing = page.get_by_role("region", name="Job", exact=True)
    expect(standing).to_contain_text("took")
    assert "min" not in standing.inner_text()

    visitor.open("#/jobs")
    page.get_by_text("Times", exact=True).click()
    page.get_by_role("group", name="Accepted").get_by_role("button", name="Last hour").click()
    expect(page.get_by_role("table").get_by_text("Succeeded")).to_be_visible()
