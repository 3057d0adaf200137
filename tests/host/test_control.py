"""The control server: closed without its token, exact about what was wrong."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.host.hosting import Host
from uketsuke_local.control import ControlRefused


def test_without_the_token_it_is_closed(host: Host) -> None:
    answer = httpx.get(f"{host.runtime.control_url}/heap", headers={"x-control-token": "wrong"})

    assert answer.status_code == 401


def test_a_batch_of_sql_is_one_transaction(host: Host, mark: str) -> None:
    insert = "INSERT INTO notes (kind, text) VALUES ('batch', ?1)"
    with pytest.raises(ControlRefused, match="no such table: nowhere"):
        host.control.d1_batch(
            [{"sql": insert, "params": [mark]}, {"sql": "INSERT INTO nowhere VALUES (1)"}]
        )

    assert host.notes("batch", mark) == []


def test_sql_is_answered_while_workers_write_more_log_than_a_pipe_holds(host: Host) -> None:
    asked = [{"sql": "SELECT ?1 AS number", "params": [number]} for number in range(300)]
    with ThreadPoolExecutor() as pool:
        shouting = [pool.submit(host.ask, "shout", lines=600) for _ in range(6)]
        answers = [host.control.d1_batch(asked) for _ in range(6)]

    assert all(each.result() == {} for each in shouting)
    assert all(answer[299]["results"] == [{"number": 299}] for answer in answers)


def test_sql_answers_with_rows_and_what_they_cost(host: Host, mark: str) -> None:
    insert = "INSERT INTO notes (kind, text) VALUES ('cost', ?1) RETURNING text"

    (answer,) = host.control.d1_batch([{"sql": insert, "params": [mark]}])

    assert answer["results"] == [{"text": mark}]
    assert answer["meta"]["rows_written"] > 0


def test_objects_of_r2_are_listed_by_prefix(host: Host, mark: str) -> None:
    host.ask("put_blob", key=f"{mark}/a", text="four")
    host.ask("put_blob", key=f"other-{mark}/b", text="else")

    assert host.control.r2(f"{mark}/") == [{"key": f"{mark}/a", "size": 4}]


@pytest.mark.parametrize("worker", ["", "nobody"])
def test_an_unknown_worker_is_refused(host: Host, worker: str) -> None:
    with pytest.raises(ControlRefused, match="no Worker is named"):
        host.control.kill(worker)


def test_an_unknown_queue_is_refused(host: Host) -> None:
    with pytest.raises(ControlRefused, match="no Worker consumes nowhere"):
        host.control.deliveries("nowhere")


def test_an_unknown_instance_is_refused(host: Host) -> None:
    with pytest.raises(ControlRefused, match="not_found"):
        host.control.workflow_status("FLOW", "nobody")


def test_migrations_are_recorded_as_wrangler_records_them(host: Host) -> None:
    rows = host.control.d1("SELECT id, name FROM d1_migrations ORDER BY id")

    assert [(row["id"], row["name"]) for row in rows] == [
        (1, "0001_notes.sql"),
        (2, "0002_numbers.sql"),
    ]


def test_statements_of_a_trigger_are_kept_together(host: Host, mark: str) -> None:
    host.control.d1("INSERT INTO notes (kind, text) VALUES ('trigger', ?1)", mark)

    rows = host.control.d1("SELECT size FROM notes WHERE kind = 'trigger' AND text = ?1", mark)

    assert rows == [{"size": 32}]
