"""A child process that speaks JSON lines and lives no longer than its parent.

Its standard input is a pipe that only we hold: when we die, however that happens, it reads the end
of the pipe and stops by itself.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

Message = Mapping[str, Any]

_LAST_LINES_KEPT = 40
_STOPS_WITHIN_SECONDS = 15.0


class ChildFailed(Exception):
    """A child did not do what it was started for; the text says what it last wrote."""


class Child:
    """One running child. ``on_message`` sees each JSON object it prints, from a reader thread."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        folder: Path,
        on_message: Callable[[Message], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self._on_message = on_message
        self._messages: queue.Queue[Message | None] = queue.Queue()
        self._starting = True
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES_KEPT)
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._readers = [
            threading.Thread(target=self._read_messages, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def tell(self, message: Message) -> None:
        """Write one JSON line to its standard input."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise ChildFailed(self._account("ended before it was told what to do")) from None

    def wait_for(self, wanted: Callable[[Message], bool], *, within: float) -> Message:
        """The first message that is wanted. Raises ``ChildFailed`` if it ends or takes too long.

        It is for the start: later messages reach ``on_message`` only.
        """
        give_up_at = time.monotonic() + within
        while True:
            try:
                message = self._messages.get(timeout=max(0.0, give_up_at - time.monotonic()))
            except queue.Empty:
                raise ChildFailed(self._account(f"said nothing in {within:.0f} s")) from None
            if message is None:
                raise ChildFailed(self._account("ended before it was ready"))
            if wanted(message):
                self._starting = False
                return message

    def stop(self) -> None:
        """End it: first by closing its input, then by signal. Returns when it is gone."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=_STOPS_WITHIN_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for reader in self._readers:
            reader.join(timeout=_STOPS_WITHIN_SECONDS)

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def _account(self, what: str) -> str:
        return "\n  ".join([f"{self.name} {what}", *self._last_lines])

    def _read_messages(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            for line in stream:
                message = _object(line)
                if message is None:
                    self._last_lines.append(line.rstrip())
                    continue
                if self._starting:
                    self._messages.put(message)
                self._on_message(message)
        self._messages.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                self._last_lines.append(line.rstrip())


def _object(line: str) -> Message | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
