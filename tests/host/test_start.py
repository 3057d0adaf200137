"""What holds while a Worker starts: no randomness, no I/O, no clock; what it can import."""

from __future__ import annotations

import pytest

from tests.host.hosting import Host

GLOBAL_SCOPE = "Disallowed operation called within global scope"


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("random", "RuntimeError: Cannot use random.random() outside of request context"),
        ("random_choice", "RuntimeError: Cannot use random.choice() outside of request context"),
        ("new_generator", "OSError: [Errno 29]"),
        ("uuid4", "OSError: [Errno 29]"),
        ("secrets", "OSError: [Errno 29]"),
        ("urandom", "OSError: [Errno 29]"),
        ("web_crypto", f"JsException: Error: {GLOBAL_SCOPE}"),
        ("sleep", GLOBAL_SCOPE),
        ("asyncio_sleep", GLOBAL_SCOPE),
        ("fetch", GLOBAL_SCOPE),
    ],
)
def test_at_import_it_raises(host: Host, what: str, error: str) -> None:
    assert error in host.ask("early_attempts")["seen"][what]


@pytest.mark.parametrize(
    "what", ["seeded_generator", "uuid5", "sha256", "asyncio_sleep_zero", "lock", "env"]
)
def test_at_import_it_is_allowed(host: Host, what: str) -> None:
    assert host.ask("early_attempts")["seen"][what].startswith("allowed: ")


def test_the_clock_stands_at_1970_at_import(host: Host) -> None:
    clock = host.ask("early_attempts")["clock"]

    assert clock == {"now": "1970-01-01T00:00:00+00:00", "monotonic": 0}


def test_in_an_event_there_is_randomness_and_time(host: Host) -> None:
    first, second = host.ask("draws"), host.ask("draws")

    assert first["random"] != second["random"]
    assert first["uuid"] != second["uuid"]
    assert first["year"] > 2000


def test_the_standard_library_and_the_packages_come_before_the_workers_own_files(
    host: Host,
) -> None:
    places = host.ask("places")

    assert places["path"] == [
        "/lib/python314.zip",
        "/lib/python3.14/lib-dynload",
        "/session/metadata/python_modules",
        "/lib/python3.14/site-packages",
        "/session/metadata",
    ]
    assert places["queue"].startswith("/lib/python314.zip/queue.py")
    assert places["msgspec"] == "/session/metadata/python_modules/msgspec/__init__.py"


def test_pth_files_of_the_packages_are_processed(host: Host) -> None:
    assert host.ask("places")["pth_files_are_processed"]


def test_the_folder_of_main_is_the_import_root(host: Host) -> None:
    places = host.ask("places")

    assert places["main"] == "/session/metadata/front.py"
    assert places["pack"] == "pack.inner"
    assert places["working_folder"] == "/"
    assert host.ask("import_with_prefix") == {"name": "src"}


def test_only_python_and_the_default_data_files_are_there(host: Host) -> None:
    assert host.ask("files") == {
        "greeting.txt": True,
        "page.html": True,
        "schema.sql": True,
        "blob.bin": True,
        "front.py": True,
        "absent.json": False,
        "absent.toml": False,
        "absent.md": False,
        "python_modules/tests": False,
    }


def test_the_workers_files_cannot_be_written(host: Host) -> None:
    attempts = host.ask("write_files")

    assert attempts.pop("tmp") == "allowed"
    assert all(attempt.startswith("PermissionError") for attempt in attempts.values()), attempts


def test_variables_can_be_overridden_one_by_one(host: Host) -> None:
    assert host.ask("variables") == {"greeting": "from the test", "kept": "from the file"}
    assert host.ask("early_attempts")["seen"]["env"] == "allowed: 'from the test'"
