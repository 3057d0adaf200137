"""One trace through all hops: each span is within the one that handed the work on."""

from __future__ import annotations

from uketsuke.domain.trace import Span, attempt_span, read_traceparent

ASKED = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03"
JOB = "job_00000000000000000000000001"


def spans(attempt: int, *, job_id: str = JOB) -> Span | None:
    return attempt_span(ASKED, job_id=job_id, attempt=attempt)


def test_a_span_within_another_keeps_its_trace_and_its_flags() -> None:
    above = read_traceparent(ASKED)
    assert above

    within = above.child(b"12345678")

    assert (within.trace_id, within.parent_id, within.flags) == (
        above.trace_id,
        above.span_id,
        "03",
    )
    assert within.traceparent == f"00-{above.trace_id}-{b'12345678'.hex()}-03"


def test_an_attempts_span_is_the_same_whoever_reckons_it_and_no_other_attempts() -> None:
    first = spans(1)
    assert first

    assert first == spans(1)
    assert first.parent_id == "00f067aa0ba902b7"
    others = (spans(2), spans(1, job_id=JOB[:-1] + "2"))
    assert first.span_id not in {other.span_id for other in others if other}


def test_what_has_no_trace_has_no_spans() -> None:
    assert attempt_span(None, job_id=JOB, attempt=1) is None
    assert attempt_span("garbage", job_id=JOB, attempt=1) is None
