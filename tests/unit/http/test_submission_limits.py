"""Submissions: every member's limits, and every fault at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.http.documents import (
    EMPTY,
    LARGE,
    SENDER,
    SMALL,
    SOUND,
    UNKNOWN_REF,
    around,
    embed,
    faults_of,
    report,
    summarize,
)
from tests.unit.http.factories import an_id
from uketsuke.http.submission import submission_faults, to_submission

KIB = 1024


@pytest.mark.parametrize(
    ("document", "fault"),
    [
        ([], ("", "wrong_type")),
        ("text", ("", "wrong_type")),
        ({"input": SOUND["input"]}, ("/kind", "missing")),
        (summarize(kind=1), ("/kind", "wrong_type")),
        (summarize(kind="SUMMARIZE"), ("/kind", "unknown_kind")),
        (summarize(kind=""), ("/kind", "unknown_kind")),
        (summarize(kind="k" * 100_000), ("/kind", "unknown_kind")),
        ({"kind": "summarize"}, ("/input", "missing")),
        (summarize(input="text"), ("/input", "wrong_type")),
        (summarize(input=None), ("/input", "wrong_type")),
        (summarize(input={}), ("/input", "missing")),
        (summarize(input={"text": "a", "ref": SMALL.ref}), ("/input", "bad_value")),
        (summarize(input={"text": 1}), ("/input/text", "wrong_type")),
        (summarize(input={"text": ""}), ("/input/text", "empty")),
        (summarize(input={"text": " \n\u3000"}), ("/input/text", "empty")),
        (summarize(input={"text": "a" * (512 * KIB + 1)}), ("/input/text", "too_long")),
        (summarize(input={"text": "受" * (171 * KIB)}), ("/input/text", "too_long")),
        (summarize(input={"texts": ["a"]}), ("/input/texts", "bad_value")),
        (summarize(input={"refs": [SMALL.ref]}), ("/input/refs", "bad_value")),
        (summarize(input={"ref": 1}), ("/input/ref", "wrong_type")),
        (summarize(input={"ref": ""}), ("/input/ref", "empty")),
        (summarize(input={"ref": "in_nothing"}), ("/input/ref", "input_not_found")),
        (summarize(input={"ref": UNKNOWN_REF}), ("/input/ref", "input_not_found")),
        (summarize(input={"ref": an_id("job", 1)}), ("/input/ref", "input_not_found")),
        (summarize(input={"ref": EMPTY.ref}), ("/input/ref", "empty")),
        (summarize(input={"ref": LARGE.ref}), ("/input/ref", "too_long")),
        (embed({"text": "a"}), ("/input/text", "bad_value")),
        (embed({"texts": "a"}), ("/input/texts", "wrong_type")),
        (embed({"texts": []}), ("/input/texts", "empty")),
        (embed({"texts": ["a"] * 2049}), ("/input/texts", "too_long")),
        (embed({"texts": ["a", " "]}), ("/input/texts/1", "empty")),
        (embed({"texts": ["a", 1]}), ("/input/texts/1", "wrong_type")),
        (embed({"texts": ["a" * 300_001] * 2}), ("/input/texts", "too_long")),
        (report(), ("/input/refs", "empty")),
        (report(*[SMALL.ref] * 51), ("/input/refs", "too_long")),
        (report(SMALL.ref, UNKNOWN_REF), ("/input/refs/1", "input_not_found")),
        (report(an_id("job", 99)), ("/input/refs/0", "input_not_found")),
        (report(5), ("/input/refs/0", "wrong_type")),
        ({"kind": "report", "input": {"refs": SMALL.ref}}, ("/input/refs", "wrong_type")),
        (summarize(params=None), ("/params", "wrong_type")),
        (summarize(params={"max_words": 9}), ("/params/max_words", "out_of_range")),
        (summarize(params={"max_words": 1001}), ("/params/max_words", "out_of_range")),
        (summarize(params={"max_words": "10"}), ("/params/max_words", "wrong_type")),
        (summarize(params={"style": "poem"}), ("/params/style", "bad_value")),
        (summarize(params={"tone": "dry"}), ("/params/tone", "unknown_member")),
        (summarize(run_key=""), ("/run_key", "empty")),
        (summarize(run_key="r" * 201), ("/run_key", "too_long")),
        (summarize(run_key=7), ("/run_key", "wrong_type")),
        (summarize(run_key="a\x00"), ("/run_key", "bad_value")),
        (summarize(on_conflict="replace"), ("/on_conflict", "bad_value")),
        (summarize(on_conflict=True), ("/on_conflict", "wrong_type")),
        (summarize(max_attempts=0), ("/max_attempts", "out_of_range")),
        (summarize(max_attempts=21), ("/max_attempts", "out_of_range")),
        (summarize(max_attempts=True), ("/max_attempts", "wrong_type")),
        (summarize(max_attempts=5.0), ("/max_attempts", "wrong_type")),
        (summarize(max_attempts=None), ("/max_attempts", "wrong_type")),
        (summarize(deadline_seconds=0), ("/deadline_seconds", "out_of_range")),
        (summarize(deadline_seconds=604_801), ("/deadline_seconds", "out_of_range")),
        (summarize(deadline_seconds="60"), ("/deadline_seconds", "wrong_type")),
        (summarize(metadata=[]), ("/metadata", "wrong_type")),
        (summarize(metadata={f"k{n}": "" for n in range(17)}), ("/metadata", "too_long")),
        (summarize(metadata={"k" * 65: ""}), ("/metadata/" + "k" * 65, "too_long")),
        (summarize(metadata={"k": "v" * 513}), ("/metadata/k", "too_long")),
        (summarize(metadata={"k": 42}), ("/metadata/k", "wrong_type")),
        (summarize(metadata={"k": "\ud800"}), ("/metadata/k", "bad_value")),
        (summarize(metadata={"\x00": "v"}), ("/metadata", "bad_value")),
        (summarize(not_before="2026-12-01T00:00:00Z"), ("/not_before", "not_supported")),
        (summarize(priority="normal"), ("/priority", "not_supported")),
        (summarize(callback_url=None), ("/callback_url", "not_supported")),
        (summarize(max_cost_usd="0"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="0.000000"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="0.0000001"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="-1"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="1e2"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="1,5"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="01"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="1."), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="\uff11"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="1\n"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd="1234567890"), ("/max_cost_usd", "bad_value")),
        (summarize(max_cost_usd=0.5), ("/max_cost_usd", "wrong_type")),
        (summarize(webhook="x"), ("/webhook", "unknown_member")),
        (summarize(**{"w" * 101: "x"}), ("", "unknown_member")),
    ],
)
def test_each_limit_has_its_fault(document: object, fault: tuple[str, str]) -> None:
    assert faults_of(document) == [fault]


@pytest.mark.parametrize(
    "document",
    [
        SOUND,
        summarize(input={"text": "a" * (512 * KIB)}),
        summarize(input={"ref": SMALL.ref}),
        summarize(params={"max_words": 10, "style": "bullets"}),
        summarize(params={"max_words": 1000}),
        summarize(run_key="r" * 200, on_conflict="return"),
        summarize(run_key="受" * 200, on_conflict="reject"),
        summarize(run_key=None),
        summarize(max_attempts=1, deadline_seconds=1),
        summarize(max_attempts=20, deadline_seconds=604_800),
        summarize(metadata={"k" * 64 if n == 0 else f"k{n}": "v" * 512 for n in range(16)}),
        summarize(metadata={"": ""}),
        embed({"texts": ["a"]}),
        embed({"texts": ["a"] * 2048}),
        embed({"ref": SMALL.ref}),
        report(*[SMALL.ref] * 50),
    ],
)
def test_what_is_just_within_the_limits_is_sound(document: dict[str, Any]) -> None:
    assert faults_of(document) == []
    to_submission(document, around(), SENDER)


def test_an_unknown_kind_hides_no_other_fault() -> None:
    document = {"kind": "nope", "input": {"text": " "}, "max_attempts": 0, "priority": "high"}

    assert sorted(faults_of(document)) == [
        ("/input/text", "empty"),
        ("/kind", "unknown_kind"),
        ("/max_attempts", "out_of_range"),
        ("/priority", "not_supported"),
    ]


def test_the_faults_of_texts_are_all_found() -> None:
    assert sorted(faults_of(embed({"texts": ["", 5, "\x00"], "more": 1}))) == [
        ("/input/more", "unknown_member"),
        ("/input/texts/0", "empty"),
        ("/input/texts/1", "wrong_type"),
        ("/input/texts/2", "bad_value"),
    ]


def test_no_detail_repeats_what_was_sent_as_content() -> None:
    secret = "the secret prompt"
    document = {
        "kind": secret,
        "input": {"text": secret, "texts": [secret]},
        "run_key": secret * 20,
        "on_conflict": secret,
        "metadata": {"k": secret * 40},
    }

    details = [fault.detail for fault in submission_faults(document, around())]

    assert details
    assert secret not in " ".join(details)
