"""The main job from end to end, as a caller sees it: the running state is watched, not assumed."""

from __future__ import annotations

import struct
from typing import Any

from tests.support.jobs import TEXT, ended, submit
from tests.support.running import Stack, until

FLOATS = "application/octet-stream"


def test_a_slow_job_is_seen_running_before_it_is_seen_done(stack: Stack) -> None:
    with stack.api() as api:
        earlier = ended(api, submit(api))
        assert earlier["state"] == "succeeded"
        stack.order(count=1, route="chat", seconds=4)

        job = submit(api)
        seen = []
        while True:
            now = api.get(f"/v1/jobs/{job['id']}").json()
            assert now["id"] == job["id"] != earlier["id"]
            if now["terminal"]:
                break
            seen.append((now["state"], now["started_at"] is not None))
            result = api.get(f"/v1/jobs/{job['id']}/result")
            if result.status_code != 200:  # it may end between the two looks
                assert (result.status_code, result.json()["code"]) == (409, "not_finished")
                assert "retry-after" in result.headers

    assert seen.count(("running", True)) >= 2
    assert now["state"] == "succeeded"
    assert now["usage"]["model"] == "extractive-e5"
    assert now["usage"]["input_tokens"] > 0
    assert now["attempts"] == 1


def test_a_summary_is_made_of_the_text_and_its_life_can_be_read(stack: Stack) -> None:
    with stack.api() as api:
        job = submit(api, params={"max_words": 30}, metadata={"ticket": "42"})
        done = ended(api, job)
        result = api.get(f"/v1/jobs/{job['id']}/result")
        events = api.get(f"/v1/jobs/{job['id']}/events").json()["items"]

    assert done["state"] == "succeeded"
    assert done["metadata"] == {"ticket": "42"}
    assert result.status_code == 200
    document = result.json()
    assert document["language"] == "en"
    assert document["chunks"] == 1
    assert document["summary"] in TEXT or document["summary"].split(". ")[0] in TEXT
    assert [event["type"] for event in events] == ["accepted", "leased", "succeeded"]


def test_a_long_text_is_worked_in_pieces_with_progress_on_the_row(stack: Stack) -> None:
    sentences = [f"Sentence number {n} tells of desk {n % 7} and its people. " for n in range(600)]
    stack.order(count=6, route="chat", seconds=1)
    progress = set()
    with stack.api() as api:
        job = submit(api, input={"text": "".join(sentences)})

        def look() -> dict[str, Any] | None:
            now: dict[str, Any] = api.get(f"/v1/jobs/{job['id']}").json()
            if now["progress"]:
                progress.add((now["progress"]["done"], now["progress"]["total"]))
            return now if now["terminal"] else None

        now = until(look, within=60)
        result = api.get(f"/v1/jobs/{job['id']}/result").json()

    assert now
    total = result["chunks"] + 1
    assert now["state"] == "succeeded"
    assert 2 < total <= 8
    assert now["progress"] == {"done": total, "total": total}
    assert len(progress) > 2
    assert {of for _, of in progress} == {total}


def test_texts_become_vectors_in_their_order(stack: Stack) -> None:
    texts = ["the cat sat on the mat", "interest rates rose", "a kitten slept on a rug"]
    with stack.api() as api:
        job = submit(api, kind="embed", input={"texts": texts})
        assert ended(api, job)["state"] == "succeeded"
        result = api.get(f"/v1/jobs/{job['id']}/result").json()

    a, b, c = result["vectors"]
    assert result["dimensions"] == len(a) == 384
    assert dot(a, c) > dot(a, b)


def test_as_many_texts_as_a_job_may_have_fit_the_worker(stack: Stack) -> None:
    texts = [f"passage number {n}" for n in range(2048)]
    with stack.api(stack.tenant()) as api:
        job = submit(api, kind="embed", input={"texts": texts})
        done = ended(api, job, within=120)
        path, before = f"/v1/jobs/{job['id']}/result", len(stack.log)
        for _ in range(3):  # who leaves in the middle harms nobody
            with api.stream("GET", path) as left:
                next(left.iter_raw(10))
        result = api.get(path)
        floats = api.get(path, headers={"accept": FLOATS})
        head = api.head(path, headers={"accept": FLOATS})
        log = stack.log[before:]

    assert (done["state"], done["attempts"]) == ("succeeded", 1)
    assert result.headers["content-type"] == "application/json"
    vectors = result.json()["vectors"]
    assert len(vectors) == 2048
    assert b"".join(struct.pack("<384f", *row) for row in vectors) == floats.content
    assert floats.headers["content-type"] == head.headers["content-type"] == FLOATS
    assert head.headers["content-length"] == str(2048 * 384 * 4)
    assert (head.headers["x-model"], head.headers["x-dimensions"]) == (
        result.json()["model"],
        str(result.json()["dimensions"]),
    )
    assert not [word for word in ("Traceback", "Uncaught", "stream_broke") if word in log]
    heaps = stack.get("/heap")
    assert heaps["uketsuke-consumer"]["memory"] < 96 * 1024 * 1024
    assert heaps["uketsuke-api"]["memory"] < 96 * 1024 * 1024


def dot(one: list[float], other: list[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


def test_an_upload_is_worked_by_its_reference(stack: Stack) -> None:
    with stack.api() as api:
        uploaded = api.put(
            "/v1/inputs", content=TEXT.encode(), headers={"content-type": "text/plain"}
        )
        assert uploaded.status_code == 201, uploaded.text
        job = submit(api, input={"ref": uploaded.json()["ref"]})

        assert ended(api, job)["state"] == "succeeded"


def test_a_failing_provider_is_tried_again_and_each_attempt_is_told(stack: Stack) -> None:
    stack.order(count=1, route="chat", status=500)
    with stack.api() as api:
        job = submit(api)
        done = ended(api, job)
        events = api.get(f"/v1/jobs/{job['id']}/events").json()["items"]

    assert (done["state"], done["attempts"]) == ("succeeded", 2)
    assert done["error"] is None
    assert [event["type"] for event in events] == [
        "accepted",
        "leased",
        "retrying",
        "leased",
        "succeeded",
    ]
    assert events[2]["class"] == "unavailable"


def test_a_refused_input_fails_at_once_and_marks_the_row(stack: Stack) -> None:
    stack.order(count=1, route="chat", body="refusal")
    with stack.api() as api:
        job = submit(api)
        done = ended(api, job)
        result = api.get(f"/v1/jobs/{job['id']}/result")

    assert (done["state"], done["attempts"]) == ("failed", 1)
    assert done["error"]["class"] == "refused"
    assert not done["error"]["retryable"]
    assert (result.status_code, result.json()["code"]) == (409, "job_failed")


def test_a_provider_call_carries_one_key_a_step_and_the_callers_trace(stack: Stack) -> None:
    trace = "00-" + "ab" * 16 + "-" + "cd" * 8 + "-01"
    with stack.api() as api, stack.models() as models:
        answer = api.post(
            "/v1/jobs",
            json={"kind": "summarize", "input": {"text": TEXT}},
            headers={"traceparent": trace},
        )
        job = answer.json()
        ended(api, job)
        calls = [
            call
            for call in models.get("/requests").json()["items"]
            if (call["idempotency_key"] or "").startswith(job["id"])
        ]

    assert [call["idempotency_key"] for call in calls] == [f"{job['id']}.piece-1.0"]
    assert calls[0]["traceparent"].split("-")[1] == "ab" * 16
